//! Where a request of each format goes, and what stands above it.

use crate::address::below;
use crate::catalogue::{chat_quirks, known};
use crate::{Endpoint, KeySource};
use hermes_wire::{AnthropicDialect, ApiMode, CacheTtl, ChatDialect, Dialect, ResponsesDialect};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

const ANTHROPIC_HOST: &str = "api.anthropic.com";
const ANTHROPIC_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");
/// What a token from a login needs to be taken.
const OAUTH_BETA: &str = "oauth-2025-04-20";
const THINKING_BETA: &str = "interleaved-thinking-2025-05-14";
const TOOL_STREAMING_BETA: &str = "fine-grained-tool-streaming-2025-05-14";

/// The address that requests are posted to.
pub(crate) fn url(endpoint: &Endpoint) -> Url {
    let base = &endpoint.base_url;
    match endpoint.api_mode {
        ApiMode::ChatCompletions => below(base, "chat/completions"),
        ApiMode::CodexResponses => below(base, "responses"),
        // Base addresses are written with and without the version.
        ApiMode::AnthropicMessages => match base.path().trim_end_matches('/').ends_with("/v1") {
            true => below(base, "messages"),
            false => below(base, "v1/messages"),
        },
    }
}

/// How the endpoint spells what endpoints spell differently.
pub(crate) fn dialect(endpoint: &Endpoint) -> Dialect {
    let host = host(endpoint);
    let quirks = &known(endpoint.provider).chat;
    Dialect {
        chat: ChatDialect {
            echoes_reasoning: chat_quirks::echoes_reasoning(quirks, host, &endpoint.model),
            names_session: quirks.names_session,
        },
        anthropic: AnthropicDialect::of(host, endpoint.provider, &endpoint.model),
        responses: ResponsesDialect::of(host, endpoint.base_url.path(), endpoint.provider, &endpoint.model),
        ..Dialect::of(host, &endpoint.model)
    }
}

/// Whether requests carry cache marks here: a cache by marks is a matter of the model's maker.
pub(crate) fn cache(endpoint: &Endpoint, ttl: CacheTtl) -> Option<CacheTtl> {
    let model = endpoint.model.to_ascii_lowercase();
    let named = |words: &[&str]| words.iter().any(|word| model.contains(word));
    let provider = endpoint.provider;
    let marks = match endpoint.api_mode {
        ApiMode::AnthropicMessages => {
            host(endpoint) == ANTHROPIC_HOST || named(&["claude"]) || provider.starts_with("minimax")
        }
        ApiMode::ChatCompletions => match provider {
            "openrouter" => named(&["claude", "kimi", "moonshot"]),
            "nous" => named(&["claude", "kimi", "moonshot", "qwen"]),
            "opencode" | "opencode-zen" | "opencode-go" | "alibaba" => named(&["qwen"]),
            _ => false,
        },
        // These look their caches up by a key.
        ApiMode::CodexResponses => false,
    };
    marks.then_some(ttl)
}

/// One line about the cache of prompts at an endpoint: whether there is one, why, and for how long.
pub fn caching_note(endpoint: &Endpoint, marks: Option<CacheTtl>) -> String {
    let (model, place) = (&endpoint.model, endpoint.label());
    match (marks, endpoint.api_mode) {
        (Some(ttl), _) => {
            let lives = match ttl {
                CacheTtl::FiveMinutes => "5 minutes",
                CacheTtl::OneHour => "1 hour",
            };
            format!("prompt caching: on, by marks ({model} at {place} takes them), kept for {lives}")
        }
        (None, ApiMode::CodexResponses) => {
            format!("prompt caching: left to {place}, which is given the session as a key")
        }
        (None, ApiMode::ChatCompletions | ApiMode::AnthropicMessages) => {
            format!("prompt caching: left to {place}; no marks are sent to {model} there")
        }
    }
}

/// The headers of a request with this key.
pub(crate) fn headers(endpoint: &Endpoint, key: Option<&SecretString>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let key = key.map(|key| key.expose_secret().to_owned()).unwrap_or_default();
    let is_anthropic = endpoint.api_mode == ApiMode::AnthropicMessages;
    let is_vendors = matches!(endpoint.key_source, KeySource::VendorFile { .. });
    let is_login = is_anthropic && host(endpoint) == ANTHROPIC_HOST && (is_vendors || is_login_token(&key));
    if is_anthropic {
        headers.insert("anthropic-version", ANTHROPIC_VERSION);
        let betas = betas(endpoint.provider, is_login);
        if let Ok(betas) = HeaderValue::from_str(&betas.join(",")) {
            headers.insert("anthropic-beta", betas);
        }
    }
    if !key.is_empty() {
        let (name, value) = match is_anthropic && !is_login && !takes_bearer(endpoint) {
            true => (HeaderName::from_static("x-api-key"), key),
            false => (AUTHORIZATION, format!("Bearer {key}")),
        };
        if let Ok(mut value) = HeaderValue::from_str(&value) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
    if let Some(account) = endpoint.account.as_deref().filter(|_| endpoint.provider == "openai-codex")
        && let Ok(account) = HeaderValue::from_str(account)
    {
        headers.insert("chatgpt-account-id", account);
    }
    if endpoint.provider == "copilot" {
        // It wants to know which program asks; this one.
        headers.insert(
            "editor-version",
            HeaderValue::from_static(concat!("hermes/", env!("CARGO_PKG_VERSION"))),
        );
    }
    headers
}

/// The headers of a question to Anthropic about its models.
pub(crate) fn anthropic_headers(base: &Url, key: Option<&SecretString>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("anthropic-version", ANTHROPIC_VERSION);
    let key = key.map(|key| key.expose_secret().to_owned()).unwrap_or_default();
    let is_login = base.host_str() == Some(ANTHROPIC_HOST) && is_login_token(&key);
    if is_login {
        headers.insert("anthropic-beta", HeaderValue::from_static(OAUTH_BETA));
    }
    let (name, value) = match is_login {
        true => (AUTHORIZATION, format!("Bearer {key}")),
        false => (HeaderName::from_static("x-api-key"), key),
    };
    if let Ok(mut value) = HeaderValue::from_str(&value) {
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    headers
}

fn host(endpoint: &Endpoint) -> &str {
    endpoint.base_url.host_str().unwrap_or_default()
}

/// A token from a login, as opposed to an API key.
pub(crate) fn is_login_token(key: &str) -> bool {
    (key.starts_with("sk-ant-") && !key.starts_with("sk-ant-api"))
        || key.starts_with("eyJ")
        || key.starts_with("cc-")
}

/// Endpoints of others that speak this format and take the key as everybody else does.
fn takes_bearer(endpoint: &Endpoint) -> bool {
    let host = host(endpoint);
    endpoint.provider.starts_with("minimax")
        || host.ends_with(".azure.com")
        || host.ends_with(".palantirfoundry.com")
}

fn betas(provider: &str, is_login: bool) -> Vec<&'static str> {
    let mut betas = vec![THINKING_BETA];
    if !provider.starts_with("minimax") {
        betas.push(TOOL_STREAMING_BETA);
    }
    if is_login {
        betas.push(OAUTH_BETA);
    }
    betas
}

#[cfg(test)]
#[path = "transport_tests.rs"]
mod tests;
