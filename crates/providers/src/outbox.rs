//! Posts JSON to a server that is not a model: one address, and headers for it only.

use crate::address::{below, origin, parse_base_url};
use crate::{Fetcher, ResolveError};
use hermes_guard::redact;
use hermes_wire::Failure;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

/// The largest answer that is read.
const MAX_ANSWER: usize = 64 * 1024;

/// Posts JSON to one address. Redirects are not followed, so its headers are sent nowhere else.
#[derive(Clone)]
pub struct Outbox {
    fetcher: Fetcher,
    url: Url,
    headers: HeaderMap,
}

/// An invalid address or header. No variant has the value of a header.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    #[error("the address carries a user name or password; use a header instead")]
    UserInAddress,
    #[error(transparent)]
    Address(#[from] ResolveError),
    #[error("`{name}` is not the name of a header that may be set")]
    HeaderName { name: String },
    #[error("the value of the header `{name}` holds characters that no header may have")]
    HeaderValue { name: String },
}

impl Outbox {
    /// Posts go to `path` below `base`; a base that already ends with it is used as it is.
    pub fn new(
        fetcher: Fetcher,
        base: &str,
        path: &str,
        headers: &[(String, SecretString)],
    ) -> Result<Self, OutboxError> {
        if base.contains('@') {
            return Err(OutboxError::UserInAddress);
        }
        let base = parse_base_url(base)?;
        let url = match base.path().ends_with(&format!("/{path}")) {
            true => base,
            false => below(&base, path),
        };
        let mut headers = header_map(headers)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self { fetcher, url, headers })
    }

    /// Scheme, host and port, for messages.
    pub fn origin(&self) -> String {
        origin(&self.url)
    }

    /// Sends a body and returns the answer. Every status but 2xx is a failure.
    pub async fn post(&self, body: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let client = self.fetcher.clients.of(&self.url)?;
        let request = client.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let answer = self.fetcher.whole_answer(request, self.origin(), MAX_ANSWER).await?;
        if !answer.status.is_success() {
            let said = String::from_utf8_lossy(&answer.bytes);
            let body = redact(&self.fetcher.secrets, &said).into_owned();
            return Err(Failure::Http { status: answer.status.as_u16(), retry_after: None, body });
        }
        Ok(answer.bytes)
    }
}

/// Checks headers that the user wrote. None of them may describe the body or the connection.
pub(crate) fn header_map(headers: &[(String, SecretString)]) -> Result<HeaderMap, OutboxError> {
    /// Set by Hermes: they describe the body and the connection.
    const OURS: [&str; 5] = ["content-type", "content-length", "host", "connection", "transfer-encoding"];
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let bad_name = || OutboxError::HeaderName { name: name.clone() };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad_name())?;
        if OURS.contains(&header.as_str()) {
            return Err(bad_name());
        }
        let mut value = HeaderValue::from_str(value.expose_secret())
            .map_err(|_| OutboxError::HeaderValue { name: name.clone() })?;
        value.set_sensitive(true);
        map.insert(header, value);
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbox(base: &str, headers: &[(&str, &str)]) -> Result<Outbox, String> {
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (name.to_string(), SecretString::from(*value))).collect();
        Outbox::new(Fetcher::default(), base, "v1/traces", &headers).map_err(|error| error.to_string())
    }

    #[test]
    fn the_path_is_added_once() {
        for (base, want) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
            ("https://h.example/otlp?team=1", "https://h.example/otlp/v1/traces?team=1"),
            ("https://h.example/otlp/v1/traces", "https://h.example/otlp/v1/traces"),
        ] {
            assert_eq!(outbox(base, &[]).unwrap().url.as_str(), want, "{base}");
        }
    }

    #[test]
    fn invalid_header_is_named_without_its_value() {
        for (base, headers, want) in [
            ("ftp://h", &[][..], "is not an http or https address"),
            ("nowhere", &[], "is not an http or https address"),
            ("http://me:hush@h", &[], "user name or password"),
            ("http://h", &[("x y", "hush")], "`x y` is not the name"),
            ("http://h", &[("Host", "hush")], "`Host` is not the name"),
            ("http://h", &[("x-key", "hush\nhush")], "the header `x-key`"),
        ] {
            let error = outbox(base, headers).err().unwrap_or_default();
            assert!(error.contains(want) && !error.contains("hush"), "{base} {headers:?}: {error}");
        }
        let headers = outbox("http://h", &[("X-Key", "hush")]).unwrap().headers;
        assert!(headers["x-key"].is_sensitive() && headers["content-type"] == "application/json");
    }
}
