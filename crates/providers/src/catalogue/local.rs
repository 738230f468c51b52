//! Servers that users run themselves.

use super::{Auth, CUSTOM, Provider, ProviderQuirks, provider};
use crate::catalogue::chat_reasoning::ReasoningRule;

pub(super) static ROWS: &[Provider] = &[
    provider("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1")
        .aliases(&["lm-studio", "lm_studio"])
        .also_at(&["http://localhost:1234/v1"])
        .key(&["LM_API_KEY"])
        .url_env("LM_BASE_URL")
        .reasoning(ReasoningRule::LmStudio)
        .quirks(ProviderQuirks { tags_models: true, ..ProviderQuirks::COMMON })
        .auth(Auth::OptionalKey),
    // It has no key of its own: only one that is written beside the endpoint is sent.
    provider(CUSTOM, "Any server with the OpenAI format", "")
        .aliases(&["ollama", "local", "vllm", "llamacpp", "llama.cpp"])
        .url_env("CUSTOM_BASE_URL")
        // Some servers stop after a few tokens unless a request states a limit.
        .output_cap(65_536)
        .reasoning(ReasoningRule::Plain)
        .quirks(ProviderQuirks {
            tags_models: true,
            chosen_by: &["CUSTOM_BASE_URL"],
            ..ProviderQuirks::COMMON
        })
        .auth(Auth::OptionalKey),
];
