//! The user's additions to every request of an endpoint, combined with the requirements of the provider's row.

use crate::Endpoint;
use crate::catalogue;
use crate::catalogue::chat_reasoning::reasoning_fields;
use crate::outbox::{OutboxError, header_map};
use hermes_conversation::ModelName;
use hermes_wire::{ApiMode, Effort, ExtraFields};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Additions of one named endpoint.
#[derive(Debug, Clone, Default)]
pub struct RequestExtras {
    /// `extra_body`: members of every chat-completions body.
    pub body: Map<String, Value>,
    /// `extra_headers`.
    pub headers: ExtraHeaders,
    pub tls: TlsOptions,
}

/// Checked headers with hidden values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtraHeaders(HeaderMap);

impl ExtraHeaders {
    /// Checks headers; the error names one that cannot be sent, never its value.
    pub fn new(headers: &[(String, SecretString)]) -> Result<Self, OutboxError> {
        header_map(headers).map(Self)
    }

    /// Adds them to the headers of a request, overriding others.
    pub(crate) fn apply(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.0 {
            headers.insert(name.clone(), value.clone());
        }
    }
}

/// The certificates that an endpoint is trusted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsOptions {
    /// A PEM file of further roots.
    pub ca_cert: Option<PathBuf>,
    /// False if certificates are not checked.
    pub verify: bool,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self { ca_cert: None, verify: true }
    }
}

/// The settings of routers such as OpenRouter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RouterSettings {
    /// `provider_routing`, as the body's `provider`.
    pub provider: Map<String, Value>,
    /// The age in seconds of replies that OpenRouter may return from its cache; `None` for never.
    pub response_cache: Option<u64>,
    /// The floor of the router for coding models, from 0 to 1.
    pub min_coding_score: Option<f64>,
}

/// The model whose router takes a coding score.
const PARETO: &str = "openrouter/pareto-code";
const TOOL_STREAMING_BETA: &str = "fine-grained-tool-streaming-2025-05-14";

/// The requested reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// For a conversation: providers with a default of their own use that.
    Conversation(Option<Effort>),
    /// For an auxiliary task: without an effort no field is sent.
    Task(Option<Effort>),
}

impl Thinking {
    pub fn effort(self) -> Option<Effort> {
        match self {
            Self::Conversation(effort) | Self::Task(effort) => effort,
        }
    }
}

/// Returns the members of a chat-completions body beside the common ones. The user's settings take precedence.
pub(crate) fn extra_fields(endpoint: &Endpoint, thinking: Thinking) -> ExtraFields {
    if endpoint.api_mode != ApiMode::ChatCompletions {
        return ExtraFields::default();
    }
    let quirks = &catalogue::known(endpoint.provider).chat;
    let mut fields = Map::new();
    if !quirks.tags.is_empty() {
        fields.insert("tags".to_owned(), json!(quirks.tags));
    }
    if quirks.takes_routing && !endpoint.router.provider.is_empty() {
        fields.insert("provider".to_owned(), endpoint.router.provider.clone().into());
    }
    if let Some(score) = endpoint.router.min_coding_score.filter(|_| endpoint.model == PARETO) {
        fields.insert("plugins".to_owned(), json!([{"id": "pareto-router", "min_coding_score": score}]));
    }
    if thinking != Thinking::Task(None) {
        fields.extend(reasoning_fields(
            quirks.reasoning,
            &endpoint.model,
            thinking.effort(),
            &endpoint.efforts,
        ));
    }
    fields.extend(endpoint.extras().map(|extras| extras.body.clone()).unwrap_or_default());
    ExtraFields::new(fields)
}

/// Returns a warning about settings of an endpoint that its format does not take.
pub fn unsent_extras(endpoint: &Endpoint) -> Option<String> {
    let has_body = endpoint.extras().is_some_and(|extras| !extras.body.is_empty());
    (has_body && endpoint.api_mode != ApiMode::ChatCompletions).then(|| {
        let (label, mode) = (endpoint.label(), endpoint.api_mode.as_str());
        format!(
            "extra_body of {label} is not sent: {} is called in {mode}, and only chat_completions supports it",
            endpoint.model
        )
    })
}

/// Returns the default output cap of a request: that of the provider, else that of the model's family if servers
/// would otherwise choose a small one.
pub(crate) fn usual_cap(endpoint: &Endpoint) -> Option<u64> {
    if endpoint.api_mode != ApiMode::ChatCompletions {
        return None;
    }
    let quirks = &catalogue::known(endpoint.provider).chat;
    let name = endpoint.model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let of_model = quirks.model_caps.iter().find(|(model, _)| *model == name).map(|(_, cap)| *cap);
    of_model.or(quirks.output_cap).or_else(|| hermes_conversation::listed_output(&endpoint.model))
}

/// Sets the headers of the provider's row and of the user's settings.
pub(crate) fn extra_headers(endpoint: &Endpoint, session: Option<&str>, headers: &mut HeaderMap) {
    let provider = catalogue::known(endpoint.provider);
    for (name, value) in provider.chat.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    let model = ModelName::of(&endpoint.model);
    if provider.quirks.router_headers {
        if let Some(seconds) = endpoint.router.response_cache {
            headers.insert("x-openrouter-cache", HeaderValue::from_static("true"));
            headers.insert("x-openrouter-cache-ttl", seconds.into());
        }
        if model.is_claude() {
            // Otherwise long tool calls arrive in one piece after a silence that looks like a timeout.
            headers.insert("x-anthropic-beta", HeaderValue::from_static(TOOL_STREAMING_BETA));
        }
        // Keeps a session on the server that has its prompt cache.
        if let Some(Ok(session)) = session.filter(|_| model.is_routed_grok()).map(HeaderValue::from_str) {
            headers.insert("x-grok-conv-id", session);
        }
    }
    if let Some(extras) = endpoint.extras() {
        extras.headers.apply(headers);
    }
}

#[cfg(test)]
#[path = "request_extras_tests.rs"]
mod tests;
