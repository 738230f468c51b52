//! One request to a login's endpoint: a form is posted, a small JSON object is returned.
//!
//! A refusal is an ordinary answer here, because its reason decides what happens next. Every token that was sent is
//! removed from texts for the user.

use crate::address::origin;
use crate::fetch::Fetcher;
use crate::http_model::retry_after;
use hermes_guard::{Secrets, redact};
use hermes_wire::Failure;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::time::Duration;
use url::Url;
use url::form_urlencoded::Serializer;

/// The largest answer; tokens take a few kilobytes.
const MAX_ANSWER: usize = 256 * 1024;

/// The largest part of a server's text that is passed on.
const MAX_WORDS: usize = 200;

/// The form to post. Secret fields are remembered, so that a repetition of them is never shown.
#[derive(Default)]
pub(crate) struct Form {
    fields: Vec<(&'static str, String)>,
    headers: HeaderMap,
    secrets: Vec<(&'static str, SecretString)>,
}

/// The answer: its status, and the object if there was one.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Value,
    pub(crate) origin: String,
    is_secret: Secrets,
}

impl Form {
    pub(crate) fn field(mut self, name: &'static str, value: &str) -> Self {
        self.fields.push((name, value.to_owned()));
        self
    }

    pub(crate) fn secret(mut self, name: &'static str, value: &SecretString) -> Self {
        self.secrets.push((name, value.clone()));
        self.field(name, value.expose_secret())
    }

    /// Sets a header to a secret. A value that a header cannot carry is left out; the server then reports it missing.
    pub(crate) fn secret_header(mut self, name: &'static str, value: &SecretString) -> Self {
        self.secrets.push((name, value.clone()));
        if let Ok(mut header) = HeaderValue::from_str(value.expose_secret()) {
            header.set_sensitive(true);
            self.headers.insert(HeaderName::from_static(name), header);
        }
        self
    }

    pub(crate) async fn post(self, fetcher: &Fetcher, url: &Url) -> Result<Reply, Failure> {
        let place = origin(url);
        let body = Serializer::new(String::new()).extend_pairs(&self.fields).finish();
        let request = fetcher
            .clients
            .of(url)?
            .post(url.clone())
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .headers(self.headers)
            .body(body);
        let answer = fetcher.whole_answer(request, place.clone(), MAX_ANSWER).await?;
        let status = answer.status.as_u16();
        Ok(Reply {
            status,
            retry_after: retry_after(status, &answer.headers),
            body: serde_json::from_slice(&answer.bytes).unwrap_or_default(),
            origin: place,
            is_secret: Secrets::new(self.secrets),
        })
    }
}

impl Reply {
    /// Returns the reason of a refusal. Some servers refuse with status 200.
    pub(crate) fn error(&self) -> Option<&str> {
        let error = &self.body["error"];
        let code = error.as_str().or_else(|| error["code"].as_str()).or_else(|| error["type"].as_str());
        code.map(str::trim).filter(|code| !code.is_empty())
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status) && self.body["error"].is_null()
    }

    /// Returns the server's message for the user: one line, without any secret that was sent.
    pub(crate) fn words(&self, fetcher: &Fetcher) -> String {
        let error = &self.body["error"];
        let text = self.body["error_description"].as_str().or_else(|| error["message"].as_str());
        let all = match (self.error(), text) {
            (Some(code), Some(text)) => format!("{code}: {text}"),
            (Some(only), None) | (None, Some(only)) => only.to_owned(),
            (None, None) => format!("HTTP {} without a reason", self.status),
        };
        self.redacted(fetcher, &all)
    }

    /// Returns the reason alone, for the user.
    pub(crate) fn reason(&self, fetcher: &Fetcher) -> String {
        let status = || format!("HTTP {}", self.status);
        self.error().map_or_else(status, |code| self.redacted(fetcher, code))
    }

    fn redacted(&self, fetcher: &Fetcher, text: &str) -> String {
        let text = redact(&self.is_secret, text);
        plain(&redact(&fetcher.secrets, &text))
    }
}

/// A server's text as one short line.
pub(crate) fn plain(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_WORDS).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_are_one_line_without_secrets() {
        let secret = SecretString::from("rt-0123456789");
        let fetcher = Fetcher {
            secrets: Secrets::new([("OTHER", SecretString::from("other-0123456789"))]),
            ..Fetcher::default()
        };
        for (body, want) in [
            (json!({"error": "invalid_grant"}), "invalid_grant"),
            (
                json!({"error": "invalid_grant", "error_description": "no\nrt-0123456789 \u{1b}[2J"}),
                "invalid_grant: no [redacted:refresh_token] [2J",
            ),
            (
                json!({"error": {"code": "refresh_token_reused", "message": "used other-0123456789"}}),
                "refresh_token_reused: used [redacted:OTHER]",
            ),
            (json!({"error": "rt-0123456789"}), "[redacted:refresh_token]"),
            (json!(null), "HTTP 400 without a reason"),
        ] {
            let reply = Reply {
                status: 400,
                retry_after: None,
                body,
                origin: String::new(),
                is_secret: Secrets::new([("refresh_token", secret.clone())]),
            };
            assert_eq!(reply.words(&fetcher), want);
        }
        assert_eq!(plain(&"x".repeat(5000)).len(), MAX_WORDS);
    }
}
