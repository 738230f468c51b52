//! The collector of traces: `telemetry.otlp` of `config.yaml`.

use super::custom_providers::Reader;
use super::error::ConfigError;
use super::layers::Config;
use secrecy::SecretString;
use serde_json::Value;

/// The section whose values are all secrets: authentication headers of a collector.
const HEADERS: &str = "telemetry.otlp.headers";

/// The settings of traces.
#[derive(Debug)]
pub struct OtlpSettings {
    /// The address as it was written.
    pub endpoint: String,
    /// The service name sent to the collector.
    pub service_name: String,
    /// Sent with every request to the endpoint, and nowhere else.
    pub headers: Vec<(String, SecretString)>,
}

impl Config {
    /// The collector of traces; `None` if none is set.
    pub fn otlp(&self) -> Result<Option<OtlpSettings>, ConfigError> {
        let otlp = &self.settings.telemetry.otlp;
        let Some(endpoint) = otlp.endpoint.get()?.as_deref().filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        Ok(Some(OtlpSettings {
            endpoint: endpoint.to_owned(),
            service_name: otlp.service_name.get()?.clone().into_owned(),
            headers: self.otlp_headers()?,
        }))
    }

    fn otlp_headers(&self) -> Result<Vec<(String, SecretString)>, ConfigError> {
        let fields = match self.layers().file.get(HEADERS) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Object(fields)) => fields,
            Some(other) => {
                return Err(self.layers().wrong(HEADERS, other, "a section with a header per line").into());
            }
        };
        let reader = Reader { layers: self.layers(), key: HEADERS, fields };
        let mut headers = Vec::new();
        for (name, value) in fields {
            let text = match value {
                Value::Number(number) => Some(number.to_string()),
                _ => reader.text(&[name])?,
            };
            headers.extend(text.map(|text| (name.clone(), SecretString::from(text))));
        }
        Ok(headers)
    }

    /// Returns true if a key of the file is a header for the collector.
    pub(super) fn is_otlp_header(key: &str) -> bool {
        key.strip_prefix(HEADERS).is_some_and(|rest| rest.starts_with('.'))
    }
}

/// Returns true if a key names the headers, or one of them.
pub(super) fn holds_headers(key: &str) -> bool {
    let is_of_entry = key.starts_with("custom_providers") || key.starts_with("providers.");
    key == HEADERS || Config::is_otlp_header(key) || (is_of_entry && key.contains(".extra_headers."))
}

#[cfg(test)]
mod tests {
    use crate::testing::config_of as config;
    use hermes_guard::redact;
    use secrecy::ExposeSecret;

    const FULL: &str = "\
telemetry:
  otlp:
    endpoint: http://127.0.0.1:4318
    headers: {Authorization: Bearer opaque-word-4711, x-team: 12345678}
";

    #[test]
    fn a_section_is_read_and_an_empty_endpoint_means_none() {
        let settings = config(FULL).otlp().unwrap().unwrap();
        assert_eq!(
            (settings.endpoint.as_str(), settings.service_name.as_str()),
            ("http://127.0.0.1:4318", "hermes")
        );
        let headers: Vec<_> =
            settings.headers.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
        assert_eq!(headers, [("Authorization", "Bearer opaque-word-4711"), ("x-team", "12345678")]);
        for text in ["", "telemetry: {otlp: {endpoint: ''}}\n", "telemetry: {otlp: {headers: {a: b}}}\n"] {
            assert!(config(text).otlp().unwrap().is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_in_a_header_is_never_shown() {
        let config = config(FULL);
        let secrets = config.secrets();
        for text in ["Bearer opaque-word-4711", "opaque-word-4711", "12345678"] {
            assert!(!redact(&secrets, &format!("saw {text}")).contains(text), "{text}");
        }
        for key in ["telemetry.otlp.headers", "telemetry.otlp.headers.x-team"] {
            let shown = config.explain(key).unwrap().value;
            assert_eq!(shown.as_deref(), Some("(set, not shown)"), "{key}");
        }
        assert!(config.unused_keys().is_empty(), "{:?}", config.unused_keys());
    }

    #[test]
    fn headers_that_are_none_are_named_without_their_value() {
        for text in ["headers: hush-hush", "headers: [hush-hush]", "headers: {a: [hush-hush]}"] {
            let text = format!("telemetry: {{otlp: {{endpoint: 'http://h', {text}}}}}\n");
            let error = config(&text).otlp().unwrap_err().to_string();
            assert!(error.contains("telemetry.otlp.headers") && !error.contains("hush"), "{error}");
        }
    }
}
