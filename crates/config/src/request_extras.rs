//! Settings that are added to requests: `extra_body`, `extra_headers` and TLS options of named endpoints, and
//! the routing preferences of OpenRouter and Nous.

use super::custom_providers::Reader;
use super::error::{ConfigError, Problem};
use super::expand::expand;
use super::layers::Config;
use hermes_providers::{ExtraHeaders, RequestExtras, RouterSettings, TlsOptions};
use hermes_wire::ExtraFields;
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The score of the router for coding models unless the user sets one.
const CODING_SCORE: f64 = 0.65;

impl Config {
    /// The preferences for routers.
    pub fn router_settings(&self) -> Result<RouterSettings, ConfigError> {
        let (routing, openrouter) = (&self.settings.provider_routing, &self.settings.openrouter);
        let mut provider = Map::new();
        for (name, servers) in
            [("only", &routing.only), ("ignore", &routing.ignore), ("order", &routing.order)]
        {
            let servers = servers.get()?;
            if !servers.is_empty() {
                provider.insert(name.to_owned(), json!(servers));
            }
        }
        let (sort, collection) = (routing.sort.value()?, routing.data_collection.value()?);
        for (name, word) in [("sort", sort.as_str()), ("data_collection", collection.as_str())] {
            if !word.is_empty() {
                provider.insert(name.to_owned(), word.into());
            }
        }
        if routing.require_parameters.value()? {
            provider.insert("require_parameters".to_owned(), true.into());
        }
        let ttl = openrouter.response_cache_ttl.value()?;
        let is_cached = openrouter.response_cache.value()? && (1..=86_400).contains(&ttl);
        Ok(RouterSettings {
            provider,
            response_cache: is_cached.then_some(ttl),
            min_coding_score: Some(openrouter.min_coding_score.value()?.unwrap_or(CODING_SCORE)),
        })
    }
}

impl Reader<'_> {
    /// The additions of one entry.
    pub(super) fn extras(&self) -> Result<RequestExtras, Problem> {
        let tls =
            TlsOptions { ca_cert: self.text(&["ssl_ca_cert"])?.map(PathBuf::from), verify: self.verify()? };
        Ok(RequestExtras { body: self.extra_body()?, headers: self.extra_headers()?, tls })
    }

    fn section(&self, name: &str) -> Result<Map<String, Value>, Problem> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields.clone()),
            Some(other) => Err(self.wrong(name, other, "a section")),
        }
    }

    fn extra_body(&self) -> Result<Map<String, Value>, Problem> {
        let body = self.section("extra_body")?;
        match body.iter().find(|(name, _)| ExtraFields::RESERVED.contains(&name.as_str())) {
            None => Ok(body),
            Some((name, value)) => {
                let wanted =
                    "left out: Hermes writes it itself (use max_output_tokens for the length of replies)";
                Err(self.wrong(&format!("extra_body.{name}"), value, wanted))
            }
        }
    }

    fn extra_headers(&self) -> Result<ExtraHeaders, Problem> {
        let lookup = |name: &str| self.layers.variable(name).map(str::to_owned);
        let mut headers = Vec::new();
        for (name, value) in self.section("extra_headers")? {
            let text = match value {
                Value::Null => continue,
                Value::String(text) => expand(&text, &lookup).into_owned(),
                other => other.to_string(),
            };
            headers.push((name, SecretString::from(text)));
        }
        let unusable = |error: &dyn std::fmt::Display| {
            self.wrong("extra_headers", &Value::Null, &format!("headers that can be sent ({error})"))
        };
        ExtraHeaders::new(&headers).map_err(|error| unusable(&error))
    }

    fn verify(&self) -> Result<bool, Problem> {
        match self.fields.get("ssl_verify") {
            None | Some(Value::Null) => Ok(true),
            Some(Value::Bool(on)) => Ok(*on),
            Some(Value::String(text)) if ["true", "yes", "on", "1"].contains(&text.trim()) => Ok(true),
            Some(Value::String(text)) if ["false", "no", "off", "0"].contains(&text.trim()) => Ok(false),
            Some(other) => Err(self.wrong("ssl_verify", other, "true or false")),
        }
    }
}

#[cfg(test)]
#[path = "request_extras_tests.rs"]
mod tests;
