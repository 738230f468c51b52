//! Settings of logins: `auth.<provider>` of `config.yaml`.

use super::custom_providers::Reader;
use super::error::Problem;
use super::layers::Layers;
use hermes_providers::find_provider;
use hermes_providers::login::LoginOverrides;
use serde_json::{Map, Value};

const SECTION: &str = "auth";

/// The fields of a provider's section that this version reads.
const FIELDS: [&str; 7] =
    ["client_id", "device_url", "authorize_url", "token_url", "scope", "exchange_url", "redirect_port"];

/// A provider's section, with the key that names it in messages.
type Section<'a> = (String, &'a Map<String, Value>);

impl Layers {
    /// The login settings of a provider, under its id or an alias.
    pub(crate) fn login_overrides(&self, provider: &str) -> Result<LoginOverrides, Problem> {
        let Some((key, fields)) = self.login_section(provider)? else {
            return Ok(LoginOverrides::default());
        };
        let reader = Reader { layers: self, key: &key, fields };
        let text = |name: &str| reader.text(&[name]);
        let redirect_port = match fields.get("redirect_port") {
            None | Some(Value::Null) => None,
            Some(value) => {
                let port = value.as_u64().and_then(|port| u16::try_from(port).ok());
                let wrong = || self.wrong(&format!("{key}.redirect_port"), value, "a port, or 0 for any");
                Some(port.ok_or_else(wrong)?)
            }
        };
        Ok(LoginOverrides {
            client_id: text("client_id")?,
            device_url: text("device_url")?,
            authorize_url: text("authorize_url")?,
            token_url: text("token_url")?,
            scope: text("scope")?,
            exchange_url: text("exchange_url")?,
            redirect_port,
        })
    }

    /// Returns true if a key of the file is read here.
    pub(super) fn is_login_key(key: &str) -> bool {
        let parts: Vec<&str> = key.split('.').collect();
        matches!(parts[..], [SECTION, provider, field] if find_provider(provider).is_some() && FIELDS.contains(&field))
    }

    fn login_section(&self, provider: &str) -> Result<Option<Section<'_>>, Problem> {
        let all = match self.file.get(SECTION) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(all)) => all,
            Some(other) => return Err(self.wrong(SECTION, other, "a section")),
        };
        let id = |name: &str| find_provider(name).map(|found| found.id);
        let is_meant = |name: &str| name == provider || (id(name).is_some() && id(name) == id(provider));
        let Some((name, value)) = all.iter().find(|(name, _)| is_meant(name)) else { return Ok(None) };
        let key = format!("{SECTION}.{name}");
        match value {
            Value::Null => Ok(None),
            Value::Object(fields) => Ok(Some((key, fields))),
            other => Err(self.wrong(&key, other, "a section")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::config_of as config;
    use hermes_providers::login::login_flow;

    #[test]
    fn a_section_is_read_under_any_name_of_its_provider() {
        let text = "\
auth:
  nous-portal: {client_id: me, device_url: 'http://127.0.0.1:9/d', token_url: 'http://127.0.0.1:9/t', scope: a b, redirect_port: 8976}
  copilot:
";
        let want = LoginOverrides {
            client_id: Some("me".into()),
            device_url: Some("http://127.0.0.1:9/d".into()),
            authorize_url: None,
            token_url: Some("http://127.0.0.1:9/t".into()),
            scope: Some("a b".into()),
            exchange_url: None,
            redirect_port: Some(8976),
        };
        let config = config(text);
        assert_eq!(config.login_overrides("nous").unwrap(), want);
        let flow = login_flow("nous", &config.login_overrides("nous").unwrap()).unwrap();
        assert_eq!(flow.token().origin(), "http://127.0.0.1:9");
        for other in ["copilot", "anthropic"] {
            assert_eq!(config.login_overrides(other).unwrap(), LoginOverrides::default(), "{other}");
        }
        assert!(config.unused_keys().is_empty(), "an empty section says nothing");
    }

    #[test]
    fn invalid_login_settings_are_reported() {
        for (text, want) in [
            ("auth: 5\n", "auth"),
            ("auth: {nous: 5}\n", "auth.nous"),
            ("auth: {nous: {client_id: [1]}}\n", "auth.nous.client_id"),
            ("auth: {nous: {redirect_port: 70000}}\n", "auth.nous.redirect_port"),
        ] {
            let config = config(text);
            assert_eq!(config.check().len(), 1, "{text}");
            let error = config.login_overrides("nous").unwrap_err().to_string();
            assert!(
                error.contains(&format!("{want} ")) || error.contains(&format!("{want}`")),
                "{text}: {error}"
            );
        }
        let unused = config("auth: {nous: {clientid: me}, unknown: {scope: x}}\n").unused_keys();
        let unused: Vec<_> = unused.into_iter().map(|unused| unused.key).collect();
        assert_eq!(unused, ["auth.nous.clientid", "auth.unknown.scope"]);
    }
}
