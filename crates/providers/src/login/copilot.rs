//! Exchanges a GitHub token for a short-lived one of Copilot.
//!
//! The GitHub token is sent to GitHub's exchange only, the short-lived one to Copilot only. Hermes identifies itself:
//! if GitHub refuses that, the error says so.

use super::answer::plain;
use super::jwt;
use super::source::TokenSource;
use crate::address::{is_loopback, origin};
use crate::catalogue::{Auth, providers};
use crate::fetch::{Answer, Fetcher};
use hermes_conversation::BoxFuture;
use hermes_guard::{Secrets, redact};
use hermes_wire::Failure;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;
use url::Url;

/// GitHub's own exchange.
pub const EXCHANGE_URL: &str = "https://api.github.com/copilot_internal/v2/token";

const EXCHANGE_HOST: &str = "api.github.com";
const COPILOT_HOST: &str = "githubcopilot.com";
const MAX_ANSWER: usize = 256 * 1024;
/// The lifetime of a token if the answer states none.
const USUAL_LIFE: Duration = Duration::from_secs(25 * 60);
const RENEW_BEFORE: Duration = Duration::from_secs(120);
const OURSELVES: &str = concat!("hermes/", env!("CARGO_PKG_VERSION"));

/// A token for Copilot, and the address that it may be sent to.
#[derive(Debug, Clone)]
pub struct ShortLived {
    pub token: SecretString,
    pub expires_at: SystemTime,
    pub base_url: Url,
}

/// Exchanges a GitHub token at `exchange` ([`EXCHANGE_URL`], or a test server on this machine).
pub async fn exchange(
    fetcher: &Fetcher,
    exchange: &Url,
    github_token: &SecretString,
) -> Result<ShortLived, Failure> {
    let is_ours = exchange.scheme() == "https" && exchange.host_str() == Some(EXCHANGE_HOST);
    if !is_ours && !is_loopback(exchange) {
        return Err(refused(format!("a GitHub token is not sent to {}", origin(exchange))));
    }
    if github_token.expose_secret().trim().starts_with("ghp_") {
        return Err(refused(
            "GitHub gives no Copilot token for a classic personal token (ghp_…); use a fine-grained one \
             with the permission for Copilot requests"
                .to_owned(),
        ));
    }
    let header = HeaderValue::from_str(&format!("token {}", github_token.expose_secret().trim()));
    let mut header =
        header.map_err(|_| refused("the GitHub token holds characters that no token has".into()))?;
    header.set_sensitive(true);
    let request = fetcher.clients.of(exchange)?.get(exchange.clone());
    let request = request.header(AUTHORIZATION, header).header("editor-version", OURSELVES);
    let answer = fetcher.whole_answer(request, origin(exchange), MAX_ANSWER).await?;
    if !answer.status.is_success() {
        return Err(refusal(&answer, github_token));
    }
    let body: Value = serde_json::from_slice(&answer.bytes).unwrap_or_default();
    read(&body, exchange, SystemTime::now()).map_err(refused)
}

/// The address of the provider whose token is exchanged.
fn own_address() -> &'static str {
    providers().find(|provider| provider.auth == Auth::TokenExchange).map_or("", |provider| provider.base_url)
}

/// Parses the answer of the exchange.
fn read(body: &Value, exchange: &Url, now: SystemTime) -> Result<ShortLived, String> {
    let token = body["token"].as_str().map(str::trim).filter(|token| !token.is_empty());
    let token = token.ok_or("GitHub's answer holds no Copilot token")?;
    let expires_at = body["expires_at"].as_f64().and_then(jwt::moment);
    let named = body["endpoints"]["api"].as_str().unwrap_or(own_address());
    let base_url = Url::parse(named.trim_end_matches('/')).ok().filter(|url| is_copilot(url, exchange));
    Ok(ShortLived {
        token: SecretString::from(token),
        expires_at: expires_at.unwrap_or(now + USUAL_LIFE),
        base_url: base_url
            .ok_or("GitHub's answer names an address that is not Copilot's; its token is not used")?,
    })
}

/// Returns true if a Copilot token may be sent to an address. A test server for GitHub may have one for Copilot
/// beside it.
fn is_copilot(url: &Url, exchange: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let is_own =
        host == COPILOT_HOST || host.strip_suffix(COPILOT_HOST).is_some_and(|sub| sub.ends_with('.'));
    (url.scheme() == "https" && is_own) || (is_loopback(url) && is_loopback(exchange))
}

fn refusal(answer: &Answer, github_token: &SecretString) -> Failure {
    let status = answer.status.as_u16();
    let secrets = Secrets::new([("GITHUB_TOKEN", github_token.clone())]);
    let body: Value = serde_json::from_slice(&answer.bytes).unwrap_or_default();
    let said = plain(&redact(&secrets, body["message"].as_str().unwrap_or("no explanation")));
    match status {
        401 => refused(format!("GitHub does not accept the GitHub token: {said}")),
        403 | 404 => refused(format!(
            "GitHub gives no Copilot token for this GitHub token ({said}). It gives them to subscribers, and \
             to programs that it knows; Hermes does not impersonate one of those. Use a provider with a key"
        )),
        _ => Failure::Http { status, retry_after: None, body: said },
    }
}

fn refused(why: String) -> Failure {
    Failure::NoKey { why, rests_for: None }
}

/// Copilot tokens for requests to one address, exchanged again shortly before they expire.
pub struct CopilotTokens {
    fetcher: Fetcher,
    exchange: Url,
    github_token: SecretString,
    held: Mutex<Option<ShortLived>>,
}

impl CopilotTokens {
    /// `base_url` is the address of the requests: other addresses than Copilot's get no token.
    pub fn new(
        fetcher: Fetcher,
        exchange: Url,
        github_token: SecretString,
        base_url: &Url,
    ) -> Result<Self, Failure> {
        if !is_copilot(base_url, &exchange) {
            return Err(refused(format!("a Copilot token is not sent to {}", origin(base_url))));
        }
        Ok(Self { fetcher, exchange, github_token, held: Mutex::default() })
    }

    async fn next(&self, bad: Option<&SecretString>) -> Result<SecretString, Failure> {
        let mut held = self.held.lock().await;
        let now = SystemTime::now();
        let is_good = |short: &ShortLived| {
            now + RENEW_BEFORE < short.expires_at
                && bad.is_none_or(|bad| bad.expose_secret() != short.token.expose_secret())
        };
        if let Some(short) = held.as_ref().filter(|short| is_good(short)) {
            return Ok(short.token.clone());
        }
        let short = exchange(&self.fetcher, &self.exchange, &self.github_token).await?;
        Ok(held.insert(short).token.clone())
    }
}

impl TokenSource for CopilotTokens {
    fn token(&self) -> BoxFuture<'_, Result<SecretString, Failure>> {
        Box::pin(self.next(None))
    }

    fn instead_of<'a>(&'a self, refused: &'a SecretString) -> BoxFuture<'a, Result<SecretString, Failure>> {
        Box::pin(self.next(Some(refused)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn copilot_tokens_are_sent_to_copilot_only() {
        let github = Url::parse(EXCHANGE_URL).unwrap();
        let near = Url::parse("http://127.0.0.1:9/token").unwrap();
        let now = SystemTime::UNIX_EPOCH;
        for (exchange, api, want) in [
            (&github, None, Some("https://api.githubcopilot.com/")),
            (
                &github,
                Some("https://api.individual.githubcopilot.com"),
                Some("https://api.individual.githubcopilot.com/"),
            ),
            (&github, Some("https://evilgithubcopilot.com"), None),
            (&github, Some("https://githubcopilot.com.evil.example"), None),
            (&github, Some("http://api.githubcopilot.com"), None),
            (&github, Some("http://127.0.0.1:7"), None),
            (&near, Some("http://127.0.0.1:7"), Some("http://127.0.0.1:7/")),
            (&github, Some("nonsense"), None),
        ] {
            let body = json!({"token": "tid=1", "expires_at": 1_900_000_000, "endpoints": {"api": api}});
            let got = read(&body, exchange, now).ok().map(|short| short.base_url.to_string());
            assert_eq!(got.as_deref(), want, "{api:?}");
        }
        assert_eq!(
            read(&json!({"token": ""}), &github, now).unwrap_err(),
            "GitHub's answer holds no Copilot token"
        );
        let unsaid = read(&json!({"token": "t"}), &github, now).unwrap();
        assert_eq!(unsaid.expires_at, now + USUAL_LIFE);
    }
}
