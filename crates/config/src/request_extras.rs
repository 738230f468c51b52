//! Settings that are added to requests: `extra_body`, `extra_headers` and TLS options of named endpoints, and
//! the routing preferences of OpenRouter and Nous.

use super::custom_providers::Reader;
use super::error::ConfigError;
use super::expand::expand;
use super::layers::Config;
use hermes_providers::{ExtraHeaders, RequestExtras, RouterSettings, TlsOptions};
use hermes_wire::ExtraFields;
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The score of the router for coding models unless the user sets one.
const CODING_SCORE: f64 = 0.65;
/// The default of `openrouter.response_cache_ttl`, in seconds.
const CACHE_TTL: u64 = 300;

impl Config {
    /// The preferences for routers.
    pub fn router_settings(&self) -> Result<RouterSettings, ConfigError> {
        // This runs for every endpoint that is chosen, and hardly any home has these settings.
        if !self.mentions_routers() {
            let min_coding_score = Some(CODING_SCORE);
            return Ok(RouterSettings {
                provider: Map::new(),
                response_cache: Some(CACHE_TTL),
                min_coding_score,
            });
        }
        let mut provider = Map::new();
        for name in ["only", "ignore", "order"] {
            let servers = self.list(&format!("provider_routing.{name}"))?;
            if !servers.is_empty() {
                provider.insert(name.to_owned(), json!(servers));
            }
        }
        for name in ["sort", "data_collection"] {
            if let Some(word) =
                self.text(&format!("provider_routing.{name}"))?.filter(|word| !word.is_empty())
            {
                provider.insert(name.to_owned(), word.into());
            }
        }
        if self.boolean("provider_routing.require_parameters")? {
            provider.insert("require_parameters".to_owned(), true.into());
        }
        let ttl = self.integer("openrouter.response_cache_ttl")?.and_then(|ttl| u64::try_from(ttl).ok());
        let cached = self.boolean("openrouter.response_cache")?;
        Ok(RouterSettings {
            provider,
            response_cache: ttl.filter(|ttl| cached && (1..=86_400).contains(ttl)),
            min_coding_score: Some(self.share("openrouter.min_coding_score")?.unwrap_or(CODING_SCORE)),
        })
    }
}

impl Config {
    fn mentions_routers(&self) -> bool {
        let variables = ["HERMES_OPENROUTER_CACHE", "HERMES_OPENROUTER_CACHE_TTL"];
        let sections = ["provider_routing", "openrouter"];
        sections.iter().any(|section| self.layers().file.get(section).is_some())
            || variables.iter().any(|name| self.variable(name).is_some())
    }
}

impl Reader<'_> {
    /// The additions of one entry.
    pub(super) fn extras(&self) -> Result<RequestExtras, ConfigError> {
        let tls =
            TlsOptions { ca_cert: self.text(&["ssl_ca_cert"])?.map(PathBuf::from), verify: self.verify()? };
        Ok(RequestExtras { body: self.extra_body()?, headers: self.extra_headers()?, tls })
    }

    fn section(&self, name: &str) -> Result<Map<String, Value>, ConfigError> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields.clone()),
            Some(other) => Err(self.wrong(name, other, "a section")),
        }
    }

    fn extra_body(&self) -> Result<Map<String, Value>, ConfigError> {
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

    fn extra_headers(&self) -> Result<ExtraHeaders, ConfigError> {
        let lookup = |name: &str| self.config.variable(name).map(str::to_owned);
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

    fn verify(&self) -> Result<bool, ConfigError> {
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
