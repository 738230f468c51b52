//! Variations between servers of the Responses format.

use super::short_id;
use crate::{Effort, RequestSettings};
use hermes_conversation::Issuer;
use serde::{Deserialize, Serialize};

/// The dialect of one endpoint and model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponsesDialect {
    pub backend: ResponsesBackend,
    pub reasoning: ReasoningControl,
}

/// The kinds of servers with different requirements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponsesBackend {
    OpenAi,
    /// The backend of ChatGPT subscriptions.
    CodexBackend,
    Xai,
    GitHub,
    Other,
}

/// The reasoning settings that a model accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningControl {
    /// It accepts an effort.
    Adjustable,
    /// It reasons, but rejects an effort.
    Fixed,
    /// It does not reason, and rejects requests for reasoning.
    Never,
}

impl Default for ResponsesDialect {
    fn default() -> Self {
        Self { backend: ResponsesBackend::Other, reasoning: ReasoningControl::Adjustable }
    }
}

impl ResponsesDialect {
    /// The dialect of an endpoint, by the parts of its base URL, the provider's id and the model.
    pub fn of(host: &str, path: &str, provider: &str, model: &str) -> Self {
        let backend = ResponsesBackend::of(&host.to_ascii_lowercase(), path, provider);
        Self { backend, reasoning: ReasoningControl::of(backend, model) }
    }

    /// The headers that identify the session of a request.
    pub fn session_headers(self, session: &str) -> Vec<(&'static str, String)> {
        let names: &[&'static str] = match self.backend {
            ResponsesBackend::CodexBackend => &["session_id", "x-client-request-id"],
            ResponsesBackend::Xai => &["x-grok-conv-id"],
            ResponsesBackend::OpenAi | ResponsesBackend::GitHub | ResponsesBackend::Other => &[],
        };
        names.iter().map(|name| (*name, short_id("pcs_", session).into_owned())).collect()
    }

    pub(super) fn takes_output_cap(self) -> bool {
        self.backend != ResponsesBackend::CodexBackend
    }

    pub(super) fn takes_cache_key(self) -> bool {
        self.backend != ResponsesBackend::GitHub
    }

    /// Returns true if a message may be sent back under its original id.
    pub(super) fn takes_item_ids(self) -> bool {
        matches!(self.backend, ResponsesBackend::OpenAi | ResponsesBackend::CodexBackend)
    }

    pub(super) fn needs_instructions(self) -> bool {
        self.backend == ResponsesBackend::CodexBackend
    }

    /// Returns true if the reasoning must be returned in a form that can be sent back.
    pub(super) fn wants_encrypted(self, settings: &RequestSettings) -> bool {
        settings.issuer.is_some()
            && settings.effort != Some(Effort::None)
            && self.reasoning != ReasoningControl::Never
    }

    /// The members of `reasoning`; `None` omits it.
    pub(super) fn reasoning_wish(self, wanted: Option<Effort>) -> Option<ReasoningOptions> {
        let is_openai = matches!(self.backend, ResponsesBackend::OpenAi | ResponsesBackend::CodexBackend);
        match (self.reasoning, wanted) {
            (ReasoningControl::Never | ReasoningControl::Fixed, _) | (_, Some(Effort::None)) => None,
            (ReasoningControl::Adjustable, None) => is_openai.then_some(ReasoningOptions { effort: None }),
            (ReasoningControl::Adjustable, Some(wanted)) => {
                Some(ReasoningOptions { effort: Some(self.spelled(wanted)) })
            }
        }
    }

    fn spelled(self, wanted: Effort) -> Effort {
        let effort = match wanted {
            Effort::Minimal => Effort::Low,
            Effort::Ultra => Effort::Max,
            other => other,
        };
        match self.backend {
            ResponsesBackend::Xai => effort.min(Effort::High),
            _ => effort,
        }
    }

    /// Returns true if an item with this recorded issuer kind came from `issuer`. Other programs record a kind
    /// of server, or `other:` and a base URL.
    pub(super) fn is_kind(self, kind: &str, issuer: &Issuer) -> bool {
        match self.backend {
            ResponsesBackend::CodexBackend => kind == "codex_backend",
            ResponsesBackend::Xai => kind == "xai_responses",
            ResponsesBackend::GitHub => kind == "github_responses",
            ResponsesBackend::OpenAi | ResponsesBackend::Other => kind
                .strip_prefix("other:")
                .and_then(|url| url.strip_prefix(issuer.origin.as_str()))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
        }
    }
}

/// The reasoning options of a request. A summary is always requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReasoningOptions {
    pub(super) effort: Option<Effort>,
}

impl ResponsesBackend {
    fn of(host: &str, path: &str, provider: &str) -> Self {
        let within = |domain: &str| {
            host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        match provider {
            _ if within("chatgpt.com") && path.starts_with("/backend-api/codex") => Self::CodexBackend,
            _ if within("x.ai") => Self::Xai,
            _ if within("githubcopilot.com") || within("models.github.ai") => Self::GitHub,
            _ if within("api.openai.com") => Self::OpenAi,
            "openai-codex" => Self::CodexBackend,
            "xai" | "xai-oauth" => Self::Xai,
            "copilot" | "github-copilot" => Self::GitHub,
            _ => Self::Other,
        }
    }
}

impl ReasoningControl {
    fn of(backend: ResponsesBackend, model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        let name = model.rsplit('/').next().unwrap_or_default();
        let any = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
        if backend == ResponsesBackend::Xai {
            return match () {
                () if any(&["non-reasoning"]) => Self::Never,
                () if any(&["grok-3-mini", "grok-4.3", "multi-agent"]) => Self::Adjustable,
                () if begins(&["grok-2", "grok-3"]) => Self::Never,
                () => Self::Fixed,
            };
        }
        // OpenAI answers 400 to requests for encrypted reasoning or an effort with these models.
        match begins(&["gpt-3", "gpt-4", "chatgpt-"]) || (begins(&["gpt-"]) && any(&["-chat"])) {
            true => Self::Never,
            false => Self::Adjustable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ResponsesBackend::*;

    #[test]
    fn backends_are_distinguished() {
        for (host, path, provider, want) in [
            ("api.openai.com", "/v1", "openai", OpenAi),
            ("eu.api.openai.com", "/v1", "custom", OpenAi),
            ("notapi.openai.com.evil.example", "/v1", "custom", Other),
            ("chatgpt.com", "/backend-api/codex", "openai-codex", CodexBackend),
            ("chatgpt.com", "/v1", "custom", Other),
            ("127.0.0.1", "/backend-api/codex", "openai-codex", CodexBackend),
            ("API.X.AI", "/v1", "custom", Xai),
            ("max.ai", "/v1", "custom", Other),
            ("localhost", "/v1", "xai-oauth", Xai),
            ("api.githubcopilot.com", "", "copilot", GitHub),
            ("models.github.ai", "/inference", "custom", GitHub),
            ("proxy.example", "/v1", "custom", Other),
        ] {
            let found = ResponsesDialect::of(host, path, provider, "gpt-5").backend;
            assert_eq!(found, want, "{host} {path} {provider}");
        }
    }

    #[test]
    fn models_get_supported_reasoning_options() {
        for (host, model, want) in [
            ("api.openai.com", "gpt-5.2", ReasoningControl::Adjustable),
            ("api.openai.com", "o4-mini", ReasoningControl::Adjustable),
            ("api.openai.com", "gpt-4o-mini", ReasoningControl::Never),
            ("api.openai.com", "gpt-5-chat-latest", ReasoningControl::Never),
            ("proxy.example", "openai/gpt-4.1", ReasoningControl::Never),
            ("proxy.example", "qwen3-coder", ReasoningControl::Adjustable),
            ("api.x.ai", "grok-4.3", ReasoningControl::Adjustable),
            ("api.x.ai", "grok-3-mini", ReasoningControl::Adjustable),
            ("api.x.ai", "grok-4", ReasoningControl::Fixed),
            ("api.x.ai", "grok-3", ReasoningControl::Never),
            ("api.x.ai", "grok-4-1-fast-non-reasoning", ReasoningControl::Never),
        ] {
            assert_eq!(ResponsesDialect::of(host, "/v1", "custom", model).reasoning, want, "{model}");
        }
    }

    #[test]
    fn effort_is_spelled_for_the_endpoint() {
        let wish = |effort| Some(ReasoningOptions { effort });
        for (host, model, wanted, want) in [
            ("api.openai.com", "gpt-5", None, wish(None)),
            ("api.openai.com", "gpt-5", Some(Effort::None), None),
            ("api.openai.com", "gpt-5", Some(Effort::Minimal), wish(Some(Effort::Low))),
            ("api.openai.com", "gpt-5", Some(Effort::Xhigh), wish(Some(Effort::Xhigh))),
            ("api.openai.com", "gpt-5.6", Some(Effort::Ultra), wish(Some(Effort::Max))),
            ("api.openai.com", "gpt-4o", Some(Effort::High), None),
            ("api.x.ai", "grok-4.3", Some(Effort::Ultra), wish(Some(Effort::High))),
            ("api.x.ai", "grok-4.3", Some(Effort::Medium), wish(Some(Effort::Medium))),
            ("api.x.ai", "grok-4", Some(Effort::High), None),
            ("proxy.example", "m", None, None),
            ("proxy.example", "m", Some(Effort::High), wish(Some(Effort::High))),
        ] {
            let dialect = ResponsesDialect::of(host, "/v1", "custom", model);
            assert_eq!(dialect.reasoning_wish(wanted), want, "{host} {model} {wanted:?}");
        }
    }

    #[test]
    fn recorded_kind_matches_its_endpoint() {
        let issuer = |origin: &str| Issuer { provider: "p".into(), origin: origin.into(), model: "m".into() };
        for (host, kind, want) in [
            ("chatgpt.com", "codex_backend", true),
            ("chatgpt.com", "xai_responses", false),
            ("api.x.ai", "xai_responses", true),
            ("api.githubcopilot.com", "github_responses", true),
            ("api.openai.com", "other:https://api.openai.com/v1", true),
            ("api.openai.com", "other:https://api.openai.com.evil.example/v1", false),
            ("api.openai.com", "codex_backend", false),
            ("api.openai.com", "", false),
        ] {
            let dialect = ResponsesDialect::of(host, "/backend-api/codex", "custom", "m");
            let found = dialect.is_kind(kind, &issuer(&format!("https://{host}")));
            assert_eq!(found, want, "{host} {kind}");
        }
    }

    #[test]
    fn session_headers_are_bounded() {
        let codex = ResponsesDialect::of("chatgpt.com", "/backend-api/codex", "openai-codex", "gpt-5");
        let names: Vec<_> = codex.session_headers("s").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["session_id", "x-client-request-id"]);
        assert!(codex.session_headers(&"s".repeat(80)).iter().all(|(_, value)| value.len() <= 64));
        assert_eq!(ResponsesDialect::default().session_headers("s"), []);
    }
}
