//! The description of a setting for `config get` and `config show`.

use super::error::{ConfigError, Origin};
use super::keys::{KEYS, Key};
use super::layers::{Config, Source};
use super::provider_keys;
use super::secret_names::{is_secret_key, is_secret_variable};
use super::value::Parsed;

/// Shown instead of a secret.
pub(crate) const HIDDEN: &str = "(set, not shown)";

/// A setting with its value, where that comes from and what else it could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    pub key: String,
    /// The display value; hidden if it is a secret. `None` if it is not set and has no default.
    pub value: Option<String>,
    pub source: Source,
    /// The exact place: a variable's name, a file.
    pub origin: Origin,
    pub default: Option<String>,
    pub env: Vec<&'static str>,
    pub description: &'static str,
}

impl Config {
    /// Everything about one key, known or not.
    pub fn explain(&self, key: &str) -> Result<Explanation, ConfigError> {
        let known = Key::find(key);
        let name = known.map_or(key, |known| known.name);
        let secret =
            known.is_some_and(|known| known.secret) || is_secret_key(name) || is_secret_variable(name);
        let found = self.resolve(key)?;
        let (value, source, origin) = match found {
            Some(found) => (Some(found.value.shown()), found.source, found.origin),
            None => (None, Source::Default, Origin::Default),
        };
        Ok(Explanation {
            key: name.to_owned(),
            value: value.map(|value| if secret { HIDDEN.to_owned() } else { value }),
            source,
            origin,
            default: known.and_then(|known| Parsed::of_default(known.default)).map(|value| value.shown()),
            env: known.map_or(vec![], |known| known.env.iter().map(|variable| variable.name()).collect()),
            description: known.map_or("not used by this version", |known| known.description),
        })
    }

    /// The known settings that are set. Invalid values are reported by [`Config::check`].
    pub fn show(&self) -> Vec<Explanation> {
        self.all().into_iter().filter(|found| found.source != Source::Default).collect()
    }

    /// All known settings; of the providers' variables, those that are set.
    pub fn all(&self) -> Vec<Explanation> {
        let set = provider_keys::all().filter(|key| self.variable(key.name).is_some());
        KEYS.iter().chain(set).filter_map(|key| self.explain(key.name).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{ConfigFile, Layers};
    use super::*;

    fn config(file: &str) -> Config {
        let file = ConfigFile::parse(Path::new("/h/config.yaml"), file.into()).unwrap();
        Config::new(Layers { file, ..Layers::default() })
    }

    #[test]
    fn an_explanation_tells_where_a_value_comes_from() {
        let config = config("agent: {max_turns: 5}\n");
        let found = config.explain("agent.max_turns").unwrap();
        assert_eq!(
            found,
            Explanation {
                key: "agent.max_turns".into(),
                value: Some("5".into()),
                source: Source::File,
                origin: Origin::File { path: "/h/config.yaml".into(), line: None },
                default: Some("90".into()),
                env: vec!["HERMES_MAX_ITERATIONS"],
                description: "maximum model calls per turn",
            }
        );
    }

    #[test]
    fn secrets_are_never_shown() {
        let config = config("model: {api_key: hush-hush}\nx: {bot_token: hush-hush}\n");
        for key in ["model.api_key", "x.bot_token"] {
            assert_eq!(config.explain(key).unwrap().value.as_deref(), Some(HIDDEN), "{key}");
        }
        assert!(!format!("{:?}", config.all()).contains("hush"));
    }

    #[test]
    fn show_lists_only_what_was_set() {
        let config = config("model: m\nagent: {max_turns: 90}\nother: 1\n");
        let keys: Vec<_> = config.show().into_iter().map(|found| found.key).collect();
        assert_eq!(keys, ["model.default", "agent.max_turns"]);
        assert_eq!(config.all().len(), KEYS.len());
    }
}
