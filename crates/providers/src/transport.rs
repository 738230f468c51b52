//! The address and the headers of requests in each format.

use crate::address::below;
use crate::catalogue::hosts::{self, HostFacts};
use crate::catalogue::{MessagesQuirks, chat_quirks, known};
use crate::{Endpoint, KeySource};
use hermes_conversation::ModelName;
use hermes_wire::{
    AnthropicDialect, ApiMode, CacheTtl, ChatDialect, Dialect, OutputCapKey, ResponsesDialect,
};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

const ANTHROPIC_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");
/// The headers that a token of a login needs.
const OAUTH_BETA: &str = "oauth-2025-04-20";
const THINKING_BETA: &str = "interleaved-thinking-2025-05-14";
const TOOL_STREAMING_BETA: &str = "fine-grained-tool-streaming-2025-05-14";

/// Returns the address that requests are posted to.
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

/// Returns the dialect of the endpoint.
pub(crate) fn dialect(endpoint: &Endpoint) -> Dialect {
    let (provider, host, model) = (known(endpoint.provider), host(endpoint), &endpoint.model);
    let messages = &provider.quirks.messages;
    let of_model = Dialect::of_model(model);
    Dialect {
        output_cap: match host.takes_completion_cap {
            true => OutputCapKey::MaxCompletionTokens,
            false => of_model.output_cap,
        },
        chat: ChatDialect {
            echoes_reasoning: chat_quirks::echoes_reasoning(&provider.chat, &host, model),
            names_session: provider.chat.names_session,
        },
        anthropic: AnthropicDialect::of(host.messages.unwrap_or(messages.server), messages.dots, model),
        responses: ResponsesDialect::of(host.responses.unwrap_or(provider.quirks.responses), model),
        ..of_model
    }
}

/// Returns true if requests carry cache marks, which depends on the model's maker.
pub(crate) fn cache(endpoint: &Endpoint, ttl: CacheTtl) -> Option<CacheTtl> {
    let model = ModelName::of(&endpoint.model);
    let quirks = &known(endpoint.provider).quirks;
    let marks = match endpoint.api_mode {
        ApiMode::AnthropicMessages => {
            host(endpoint).is_anthropic || model.is_claude() || quirks.messages.takes_cache_marks
        }
        ApiMode::ChatCompletions => model.is_of(quirks.cache_marks),
        // These have caches by key.
        ApiMode::CodexResponses => false,
    };
    marks.then_some(ttl)
}

/// Returns one line about the prompt cache of an endpoint.
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

/// Returns the headers of a request with this key.
pub(crate) fn headers(endpoint: &Endpoint, key: Option<&SecretString>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let key = key.map(|key| key.expose_secret().to_owned()).unwrap_or_default();
    let is_anthropic = endpoint.api_mode == ApiMode::AnthropicMessages;
    let is_vendors = matches!(endpoint.key_source, KeySource::VendorFile { .. });
    let is_login = is_anthropic && host(endpoint).is_anthropic && (is_vendors || is_login_token(&key));
    let quirks = &known(endpoint.provider).quirks;
    if is_anthropic {
        headers.insert("anthropic-version", ANTHROPIC_VERSION);
        let betas = betas(&quirks.messages, is_login);
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
    if let (Some(name), Some(account)) = (quirks.account_header, endpoint.account.as_deref())
        && let Ok(account) = HeaderValue::from_str(account)
    {
        headers.insert(name, account);
    }
    headers
}

/// The headers of a request to Anthropic about its models.
pub(crate) fn anthropic_headers(base: &Url, key: Option<&SecretString>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("anthropic-version", ANTHROPIC_VERSION);
    let key = key.map(|key| key.expose_secret().to_owned()).unwrap_or_default();
    let is_login = hosts::facts(base).is_anthropic && is_login_token(&key);
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

fn host(endpoint: &Endpoint) -> HostFacts {
    hosts::facts(&endpoint.base_url)
}

/// Returns true for a token of a login, as opposed to an API key.
pub(crate) fn is_login_token(key: &str) -> bool {
    (key.starts_with("sk-ant-") && !key.starts_with("sk-ant-api"))
        || key.starts_with("eyJ")
        || key.starts_with("cc-")
}

/// Returns true for other endpoints of this format that take the key as a bearer token.
fn takes_bearer(endpoint: &Endpoint) -> bool {
    known(endpoint.provider).quirks.messages.takes_bearer || host(endpoint).takes_bearer
}

fn betas(quirks: &MessagesQuirks, is_login: bool) -> Vec<&'static str> {
    let mut betas = vec![THINKING_BETA];
    if !quirks.refuses_tool_streaming {
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
