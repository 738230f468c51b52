//! Servers of the user's own.

use super::{Auth, Provider, provider};
use crate::chat_reasoning::ReasoningRule;

pub(super) static ROWS: &[Provider] = &[
    provider("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1")
        .aliases(&["lm-studio", "lm_studio"])
        .also_at(&["http://localhost:1234/v1"])
        .key(&["LM_API_KEY"])
        .url_env("LM_BASE_URL")
        .reasoning(ReasoningRule::LmStudio)
        .auth(Auth::OptionalKey),
    // No key of its own: only one that is written beside the endpoint is sent there.
    provider("custom", "Any server with the OpenAI format", "")
        .aliases(&["ollama", "local", "vllm", "llamacpp", "llama.cpp"])
        .url_env("CUSTOM_BASE_URL")
        // Some servers stop after a few tokens unless a request says how many it wants.
        .output_cap(65_536)
        .reasoning(ReasoningRule::Plain)
        .auth(Auth::OptionalKey),
];
