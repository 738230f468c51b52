//! What the servers that speak the Responses format take and what they refuse.

use super::short_id;
use crate::{Effort, RequestSettings};
use hermes_conversation::{Issuer, ModelName, NamedReasoning};
use serde::{Deserialize, Serialize};

/// How one Responses endpoint with one model differs from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponsesDialect {
    pub backend: ResponsesBackend,
    pub reasoning: ReasoningDial,
}

/// The kinds of servers that are spoken to differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponsesBackend {
    OpenAi,
    /// What a ChatGPT subscription pays for.
    CodexBackend,
    Xai,
    GitHub,
    Other,
}

/// What a model lets us say about its reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningDial {
    /// It takes an effort.
    Adjustable,
    /// It reasons, but refuses to be told how hard.
    Fixed,
    /// It does not reason, and refuses requests that ask for any of it.
    Never,
}

impl Default for ResponsesDialect {
    fn default() -> Self {
        Self { backend: ResponsesBackend::Other, reasoning: ReasoningDial::Adjustable }
    }
}

impl ResponsesDialect {
    /// The dialect of a model at a server of this kind.
    pub fn of(backend: ResponsesBackend, model: &str) -> Self {
        Self { backend, reasoning: ReasoningDial::of(backend, model) }
    }

    /// The headers that tie the requests of one session together.
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

    /// Whether a message may be sent back under the name it came with.
    pub(super) fn takes_item_ids(self) -> bool {
        matches!(self.backend, ResponsesBackend::OpenAi | ResponsesBackend::CodexBackend)
    }

    pub(super) fn needs_instructions(self) -> bool {
        self.backend == ResponsesBackend::CodexBackend
    }

    /// Whether the model is to hand out its reasoning in a form that can be sent back.
    pub(super) fn wants_encrypted(self, settings: &RequestSettings) -> bool {
        settings.issuer.is_some()
            && settings.effort != Some(Effort::None)
            && self.reasoning != ReasoningDial::Never
    }

    /// The members of `reasoning`; `None` leaves it out.
    pub(super) fn reasoning_wish(self, wanted: Option<Effort>) -> Option<ReasoningWish> {
        let is_openai = matches!(self.backend, ResponsesBackend::OpenAi | ResponsesBackend::CodexBackend);
        match (self.reasoning, wanted) {
            (ReasoningDial::Never | ReasoningDial::Fixed, _) | (_, Some(Effort::None)) => None,
            (ReasoningDial::Adjustable, None) => is_openai.then_some(ReasoningWish { effort: None }),
            (ReasoningDial::Adjustable, Some(wanted)) => {
                Some(ReasoningWish { effort: Some(self.spelled(wanted)) })
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

    /// Whether an item that says who issued it, and nothing else is known, came from `issuer`.
    /// Other programs record that as a kind of server, or as `other:` and a base URL.
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

/// What a request says about reasoning. A summary is always asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReasoningWish {
    pub(super) effort: Option<Effort>,
}

impl ReasoningDial {
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
            (OpenAi, "gpt-5.2", ReasoningDial::Adjustable),
            (OpenAi, "o4-mini", ReasoningDial::Adjustable),
            (OpenAi, "gpt-4o-mini", ReasoningDial::Never),
            (OpenAi, "gpt-5-chat-latest", ReasoningDial::Never),
            (Other, "openai/gpt-4.1", ReasoningDial::Never),
            (Other, "qwen3-coder", ReasoningDial::Adjustable),
            (Xai, "grok-4.3", ReasoningDial::Adjustable),
            (Xai, "grok-3-mini", ReasoningDial::Adjustable),
            (Xai, "grok-4", ReasoningDial::Fixed),
            (Xai, "grok-3", ReasoningDial::Never),
            (Xai, "grok-4-1-fast-non-reasoning", ReasoningDial::Never),
        ] {
            assert_eq!(ResponsesDialect::of(backend, model).reasoning, want, "{model}");
        }
    }

    #[test]
    fn an_effort_is_put_as_the_endpoint_takes_it() {
        let wish = |effort| Some(ReasoningWish { effort });
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
    fn a_recorded_kind_names_its_endpoint() {
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
