//! Variations between servers of the Responses format.

use super::short_id;
use crate::{Effort, RequestSettings};
use hermes_conversation::{Issuer, ModelName, NamedReasoning};
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
    /// The dialect of a model at a server of this kind.
    pub fn of(backend: ResponsesBackend, model: &str) -> Self {
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

impl ReasoningControl {
    fn of(backend: ResponsesBackend, model: &str) -> Self {
        let model = ModelName::of(model);
        let named = match backend {
            ResponsesBackend::Xai => model.grok_reasoning(),
            _ => model.responses_reasoning(),
        };
        match named {
            NamedReasoning::Adjustable => Self::Adjustable,
            NamedReasoning::Fixed => Self::Fixed,
            NamedReasoning::Never => Self::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ResponsesBackend::*;

    #[test]
    fn models_think_as_they_can() {
        for (backend, model, want) in [
            (OpenAi, "gpt-5.2", ReasoningControl::Adjustable),
            (OpenAi, "o4-mini", ReasoningControl::Adjustable),
            (OpenAi, "gpt-4o-mini", ReasoningControl::Never),
            (OpenAi, "gpt-5-chat-latest", ReasoningControl::Never),
            (Other, "openai/gpt-4.1", ReasoningControl::Never),
            (Other, "qwen3-coder", ReasoningControl::Adjustable),
            (Xai, "grok-4.3", ReasoningControl::Adjustable),
            (Xai, "grok-3-mini", ReasoningControl::Adjustable),
            (Xai, "grok-4", ReasoningControl::Fixed),
            (Xai, "grok-3", ReasoningControl::Never),
            (Xai, "grok-4-1-fast-non-reasoning", ReasoningControl::Never),
        ] {
            assert_eq!(ResponsesDialect::of(backend, model).reasoning, want, "{model}");
        }
    }

    #[test]
    fn an_effort_is_put_as_the_endpoint_takes_it() {
        let wish = |effort| Some(ReasoningOptions { effort });
        for (backend, model, wanted, want) in [
            (OpenAi, "gpt-5", None, wish(None)),
            (OpenAi, "gpt-5", Some(Effort::None), None),
            (OpenAi, "gpt-5", Some(Effort::Minimal), wish(Some(Effort::Low))),
            (OpenAi, "gpt-5", Some(Effort::Xhigh), wish(Some(Effort::Xhigh))),
            (OpenAi, "gpt-5.6", Some(Effort::Ultra), wish(Some(Effort::Max))),
            (OpenAi, "gpt-4o", Some(Effort::High), None),
            (Xai, "grok-4.3", Some(Effort::Ultra), wish(Some(Effort::High))),
            (Xai, "grok-4.3", Some(Effort::Medium), wish(Some(Effort::Medium))),
            (Xai, "grok-4", Some(Effort::High), None),
            (Other, "m", None, None),
            (Other, "m", Some(Effort::High), wish(Some(Effort::High))),
        ] {
            let dialect = ResponsesDialect::of(backend, model);
            assert_eq!(dialect.reasoning_wish(wanted), want, "{backend:?} {model} {wanted:?}");
        }
    }

    #[test]
    fn recorded_kind_matches_its_endpoint() {
        let issuer = |origin: &str| Issuer { provider: "p".into(), origin: origin.into(), model: "m".into() };
        for (backend, host, kind, want) in [
            (CodexBackend, "chatgpt.com", "codex_backend", true),
            (CodexBackend, "chatgpt.com", "xai_responses", false),
            (Xai, "api.x.ai", "xai_responses", true),
            (GitHub, "api.githubcopilot.com", "github_responses", true),
            (OpenAi, "api.openai.com", "other:https://api.openai.com/v1", true),
            (OpenAi, "api.openai.com", "other:https://api.openai.com.evil.example/v1", false),
            (OpenAi, "api.openai.com", "codex_backend", false),
            (OpenAi, "api.openai.com", "", false),
        ] {
            let dialect = ResponsesDialect::of(backend, "m");
            let found = dialect.is_kind(kind, &issuer(&format!("https://{host}")));
            assert_eq!(found, want, "{host} {kind}");
        }
    }

    #[test]
    fn session_headers_are_bounded() {
        let codex = ResponsesDialect::of(CodexBackend, "gpt-5");
        let names: Vec<_> = codex.session_headers("s").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["session_id", "x-client-request-id"]);
        assert!(codex.session_headers(&"s".repeat(80)).iter().all(|(_, value)| value.len() <= 64));
        assert_eq!(ResponsesDialect::default().session_headers("s"), []);
    }
}
