//! Servers that are recognised by their host, whatever provider the settings name.

use crate::mode::ModeName::{self, AnthropicMessages, CodexResponses};
use hermes_wire::{MessagesServer, ResponsesBackend};
use url::Url;

/// The facts about one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HostRow {
    /// The host, or the domain that it is in.
    domain: &'static str,
    /// The beginning of the path; empty for all paths.
    path: &'static str,
    /// The format, for the host itself.
    mode: Option<ModeName>,
    facts: HostFacts,
}

/// The facts about the server of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HostFacts {
    /// The server of a Messages format; `None` leaves it to the provider's row.
    pub(crate) messages: Option<MessagesServer>,
    /// The server of a Responses format; `None` leaves it to the provider's row.
    pub(crate) responses: Option<ResponsesBackend>,
    /// Its models are called in the Responses format if possible.
    pub(crate) prefers_responses: bool,
    /// Output caps are called `max_completion_tokens`.
    pub(crate) takes_completion_cap: bool,
    /// Assistant messages must carry the reasoning they were written with.
    pub(crate) echoes_reasoning: bool,
    /// Its Messages format takes the key as a bearer token.
    pub(crate) takes_bearer: bool,
    /// Anthropic's own server, which accepts tokens of logins.
    pub(crate) is_anthropic: bool,
}

const NOTHING: HostFacts = HostFacts {
    messages: None,
    responses: None,
    prefers_responses: false,
    takes_completion_cap: false,
    echoes_reasoning: false,
    takes_bearer: false,
    is_anthropic: false,
};

const fn row(domain: &'static str, facts: HostFacts) -> HostRow {
    HostRow { domain, path: "", mode: None, facts }
}

const fn kimi(domain: &'static str, echoes_reasoning: bool) -> HostRow {
    row(domain, HostFacts { messages: Some(MessagesServer::Kimi), echoes_reasoning, ..NOTHING })
}

const fn responses(domain: &'static str, backend: ResponsesBackend) -> HostRow {
    row(domain, HostFacts { responses: Some(backend), ..NOTHING })
}

static ROWS: &[HostRow] = &[
    HostRow {
        path: "/backend-api/codex",
        mode: Some(CodexResponses),
        ..responses("chatgpt.com", ResponsesBackend::CodexBackend)
    },
    HostRow { mode: Some(CodexResponses), ..row("api.x.ai", NOTHING) },
    responses("x.ai", ResponsesBackend::Xai),
    row(
        "githubcopilot.com",
        HostFacts { responses: Some(ResponsesBackend::GitHub), takes_completion_cap: true, ..NOTHING },
    ),
    responses("models.github.ai", ResponsesBackend::GitHub),
    row(
        "api.openai.com",
        HostFacts { responses: Some(ResponsesBackend::OpenAi), takes_completion_cap: true, ..NOTHING },
    ),
    row("openai.azure.com", HostFacts { takes_completion_cap: true, ..NOTHING }),
    row("azure.com", HostFacts { takes_bearer: true, ..NOTHING }),
    row("palantirfoundry.com", HostFacts { takes_bearer: true, ..NOTHING }),
    HostRow { mode: Some(AnthropicMessages), ..row("api.anthropic.com", NOTHING) },
    row("anthropic.com", HostFacts { messages: Some(MessagesServer::Anthropic), ..NOTHING }),
    HostRow { path: "/coding", mode: Some(AnthropicMessages), ..row("api.kimi.com", NOTHING) },
    row("api.kimi.com", HostFacts { echoes_reasoning: true, ..NOTHING }),
    kimi("kimi.com", false),
    kimi("moonshot.ai", true),
    kimi("moonshot.cn", true),
    row("api.deepseek.com", HostFacts { echoes_reasoning: true, ..NOTHING }),
    row("deepseek.com", HostFacts { messages: Some(MessagesServer::DeepSeek), ..NOTHING }),
    row("xiaomimimo.com", HostFacts { echoes_reasoning: true, ..NOTHING }),
];

/// The host of the provider that is called in the Responses format if its models allow it.
const OPENAI: &str = "api.openai.com";
/// The host that accepts tokens of logins in the Messages format.
const ANTHROPIC: &str = "api.anthropic.com";

/// Returns the facts about the server of an address.
pub(crate) fn facts(url: &Url) -> HostFacts {
    let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
    let fitting = ROWS.iter().filter(|row| is_within(&host, row.domain) && url.path().starts_with(row.path));
    let mut all = fitting.fold(NOTHING, |all, row| HostFacts {
        messages: all.messages.or(row.facts.messages),
        responses: all.responses.or(row.facts.responses),
        takes_completion_cap: all.takes_completion_cap || row.facts.takes_completion_cap,
        echoes_reasoning: all.echoes_reasoning || row.facts.echoes_reasoning,
        takes_bearer: all.takes_bearer || row.facts.takes_bearer,
        ..all
    });
    (all.prefers_responses, all.is_anthropic) = (host == OPENAI, host == ANTHROPIC);
    all
}

/// Returns the format that an address alone demands.
pub(crate) fn mode(url: &Url) -> Option<ModeName> {
    let (host, path) = (url.host_str()?, url.path().trim_end_matches('/'));
    let here = ROWS.iter().filter(|row| row.domain == host && path.starts_with(row.path));
    let by_path = path.ends_with("/anthropic") || path.ends_with("/anthropic/v1");
    here.filter_map(|row| row.mode).next().or_else(|| by_path.then_some(AnthropicMessages))
}

fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ResponsesBackend::{CodexBackend, GitHub, OpenAi, Xai};

    fn at(url: &str) -> HostFacts {
        facts(&Url::parse(url).unwrap())
    }

    #[test]
    fn responses_servers_are_known_by_host_and_path() {
        for (url, want) in [
            ("https://api.openai.com/v1", Some(OpenAi)),
            ("https://eu.api.openai.com/v1", Some(OpenAi)),
            ("https://notapi.openai.com.evil.example/v1", None),
            ("https://chatgpt.com/backend-api/codex", Some(CodexBackend)),
            ("https://chatgpt.com/v1", None),
            ("http://127.0.0.1/backend-api/codex", None),
            ("https://API.X.AI/v1", Some(Xai)),
            ("https://max.ai/v1", None),
            ("https://api.githubcopilot.com", Some(GitHub)),
            ("https://models.github.ai/inference", Some(GitHub)),
            ("https://proxy.example/v1", None),
        ] {
            assert_eq!(at(url).responses, want, "{url}");
        }
    }

    #[test]
    fn messages_servers_are_known_by_domain() {
        for (url, want) in [
            ("https://api.anthropic.com", Some(MessagesServer::Anthropic)),
            ("https://api.kimi.com/coding", Some(MessagesServer::Kimi)),
            ("https://api.moonshot.cn/v1", Some(MessagesServer::Kimi)),
            ("https://api.deepseek.com/anthropic", Some(MessagesServer::DeepSeek)),
            ("https://notdeepseek.com/v1", None),
            ("https://x.services.ai.azure.com/anthropic", None),
        ] {
            assert_eq!(at(url).messages, want, "{url}");
        }
        assert!(at("https://api.anthropic.com").is_anthropic);
        assert!(!at("https://proxy.anthropic.com").is_anthropic);
        assert!(at("https://x.services.ai.azure.com/anthropic").takes_bearer);
    }

    #[test]
    fn output_caps_are_named_as_the_host_expects() {
        for (url, want) in [
            ("https://api.openai.com/v1", true),
            ("https://x.openai.azure.com/openai/v1", true),
            ("https://api.githubcopilot.com", true),
            ("https://notapi.openai.com.example/v1", false),
            ("https://far.example/v1", false),
        ] {
            assert_eq!(at(url).takes_completion_cap, want, "{url}");
        }
    }
}
