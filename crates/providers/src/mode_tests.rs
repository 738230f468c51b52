use super::*;
use crate::catalogue::known;

fn mode(explicit: Option<ModeName>, id: &'static str, url: &str, model: &str) -> (ModeName, ModeReason) {
    let chosen = api_mode(explicit, known(id), &Url::parse(url).unwrap(), model);
    (chosen.mode, chosen.why)
}

#[test]
fn the_format_follows_setting_provider_address_and_model() {
    use ModeName::{AnthropicMessages as A, ChatCompletions as C, CodexResponses as R};
    use ModeReason::{Address, Explicit, Model, Provider, Upgrade, Usual};
    for (explicit, id, url, model, want) in [
        (None, "openrouter", "https://openrouter.ai/api/v1", "a/b", (C, Usual)),
        (Some(A), "openrouter", "https://openrouter.ai/api/v1", "a/b", (A, Explicit)),
        (None, "openrouter", "https://openrouter.ai/api/v1", "openai/gpt-5.4", (R, Upgrade)),
        (Some(C), "openrouter", "https://openrouter.ai/api/v1", "openai/gpt-5.4", (C, Explicit)),
        (None, "openai-codex", "https://chatgpt.com/backend-api/codex", "m", (R, Provider)),
        (None, "xai", "https://elsewhere.example/v1", "m", (R, Provider)),
        (None, "anthropic", "https://elsewhere.example", "m", (A, Provider)),
        (None, "custom", "https://chatgpt.com/backend-api/codex", "m", (R, Address)),
        (None, "custom", "https://chatgpt.com/v1", "m", (C, Usual)),
        (None, "custom", "https://api.x.ai/v1", "m", (R, Address)),
        (None, "custom", "https://API.ANTHROPIC.com/v1", "m", (A, Address)),
        (None, "custom", "https://api.anthropic.com.evil.example/v1", "m", (C, Usual)),
        (None, "custom", "https://h.example/anthropic", "m", (A, Address)),
        (None, "custom", "https://h.example/anthropic/v1/", "m", (A, Address)),
        (None, "custom", "https://h.example/anthropic-like", "m", (C, Usual)),
        (None, "kimi-coding", "https://api.kimi.com/coding/v1", "m", (A, Address)),
        (None, "kimi-coding", "https://api.moonshot.ai/v1", "m", (C, Usual)),
        (None, "custom", "https://api.openai.com/v1", "m", (R, Upgrade)),
        (None, "custom", "http://127.0.0.1:8000/v1", "gpt-5-local", (C, Usual)),
        (None, "nous", "https://inference-api.nousresearch.com/v1", "gpt-5", (C, Usual)),
        (None, "azure-foundry", "https://r.openai.azure.com/openai/v1", "gpt-5", (C, Usual)),
        (None, "azure-foundry", "https://r.services.ai.azure.com/anthropic", "c", (A, Address)),
        (None, "opencode-zen", "https://opencode.ai/zen/v1", "claude-x", (A, Model)),
        (None, "opencode-zen", "https://opencode.ai/zen/v1", "gpt-5", (R, Model)),
        (None, "opencode-zen", "https://opencode.ai/zen/v1", "qwen", (C, Model)),
        (None, "opencode-go", "https://opencode.ai/zen/go/v1", "minimax-m3", (A, Model)),
        // Left over from another address.
        (Some(R), "custom", "http://127.0.0.1:8000/v1", "m", (C, Usual)),
        (Some(R), "custom", "https://api.x.ai/v1", "m", (R, Explicit)),
        (Some(A), "custom", "http://127.0.0.1:8000/v1", "m", (A, Explicit)),
    ] {
        assert_eq!(mode(explicit, id, url, model), want, "{id} {url} {model}");
    }
}

#[test]
fn names_are_read_back() {
    for mode in ModeName::ALL {
        assert_eq!(ModeName::parse(&format!(" {} ", mode.as_str().to_uppercase())), Some(mode));
    }
    assert_eq!(ModeName::parse("bedrock_converse"), None);
}
