//! Services that forward requests to models of many vendors.

use super::{ChatQuirks, KeyProof, ModeRule, Models, Provider, ProviderQuirks, provider};
use crate::catalogue::chat_reasoning::ReasoningRule;
use crate::mode::ModeName::{AnthropicMessages, CodexResponses};

pub(super) static ROWS: &[Provider] = &[
    Provider {
        aux_model: Some("google/gemini-3-flash-preview"),
        chat: ChatQuirks {
            reasoning: ReasoningRule::OpenRouter,
            names_session: true,
            // It lists its customers' programs under these.
            headers: &[
                ("http-referer", "https://hermes-agent.nousresearch.com"),
                ("x-title", "Hermes"),
                ("x-openrouter-categories", "productivity,cli-agent"),
            ],
            takes_routing: true,
            ..ChatQuirks::COMMON
        },
        quirks: ProviderQuirks {
            cache_marks: &["claude", "kimi", "moonshot"],
            router_headers: true,
            states_cost: true,
            chosen_by: &["OPENROUTER_API_KEY"],
            is_chosen_when_stored: true,
            is_first_for_tasks: true,
            ..ProviderQuirks::COMMON
        },
        ..provider("openrouter", "OpenRouter", "https://openrouter.ai/api/v1")
            .aliases(&["or"])
            .key(&["OPENROUTER_API_KEY"])
            .url_env("OPENROUTER_BASE_URL")
            .key_proof(KeyProof::Path("key"))
            .pinned()
            .routes()
    },
    Provider {
        models: Models::TaggedTypes,
        quirks: ProviderQuirks { states_cost: true, ..ProviderQuirks::COMMON },
        ..provider("ai-gateway", "AI Gateway (Vercel)", "https://ai-gateway.vercel.sh/v1")
            .key(&["AI_GATEWAY_API_KEY"])
            .key_proof(KeyProof::None)
            .pinned()
            .routes()
    },
    provider("huggingface", "Hugging Face", "https://router.huggingface.co/v1")
        .aliases(&["hf", "hugging-face"])
        .key(&["HF_TOKEN"])
        .url_env("HF_BASE_URL")
        .key_proof(KeyProof::None)
        .routes(),
    provider("kilocode", "Kilo Code", "https://api.kilo.ai/api/gateway")
        .aux("google/gemini-3-flash-preview")
        .aliases(&["kilo", "kilo-code", "kilo-gateway"])
        .key(&["KILOCODE_API_KEY"])
        .url_env("KILOCODE_BASE_URL")
        .key_proof(KeyProof::None)
        .routes(),
    // Each model is served in its vendor's own format only.
    provider("opencode-zen", "OpenCode Zen", "https://opencode.ai/zen/v1")
        .quirks(ProviderQuirks { cache_marks: &["qwen"], ..ProviderQuirks::DOTTED })
        .aux("gemini-3-flash")
        .aliases(&["opencode", "zen"])
        .key(&["OPENCODE_ZEN_API_KEY"])
        .url_env("OPENCODE_ZEN_BASE_URL")
        .key_proof(KeyProof::None)
        .mode(ModeRule::ByModel(&[("claude-", AnthropicMessages), ("gpt-", CodexResponses)])),
    Provider {
        chat: ChatQuirks {
            reasoning: ReasoningRule::OpenCodeGo,
            model_caps: &[("mimo-v2.5-pro", 131_072)],
            ..ChatQuirks::COMMON
        },
        quirks: ProviderQuirks { cache_marks: &["qwen"], ..ProviderQuirks::DOTTED },
        ..provider("opencode-go", "OpenCode Go", "https://opencode.ai/zen/go/v1")
            .aux("glm-5")
            .aliases(&["go", "opencode-go-sub"])
            .key(&["OPENCODE_GO_API_KEY"])
            .url_env("OPENCODE_GO_BASE_URL")
            .key_proof(KeyProof::None)
            .mode(ModeRule::ByModel(&[("minimax-", AnthropicMessages)]))
    },
    provider("nvidia", "NVIDIA NIM", "https://integrate.api.nvidia.com/v1")
        .aliases(&["nim", "nvidia-nim"])
        .key(&["NVIDIA_API_KEY"])
        .url_env("NVIDIA_BASE_URL")
        .key_proof(KeyProof::None)
        .output_cap(16_384)
        .routes(),
    provider("fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1")
        .aux("accounts/fireworks/models/glm-5p2")
        .aliases(&["fireworks-ai", "fw"])
        .key(&["FIREWORKS_API_KEY"])
        .routes(),
    provider("deepinfra", "DeepInfra", "https://api.deepinfra.com/v1/openai")
        .aux("deepseek-ai/DeepSeek-V4-Flash")
        .aliases(&["deep-infra", "deepinfra-ai"])
        .key(&["DEEPINFRA_API_KEY"])
        .url_env("DEEPINFRA_BASE_URL")
        .key_proof(KeyProof::None)
        .routes(),
    provider("novita", "Novita", "https://api.novita.ai/openai/v1")
        .aux("deepseek/deepseek-v3-0324")
        .aliases(&["novita-ai", "novitaai"])
        .key(&["NOVITA_API_KEY"])
        .url_env("NOVITA_BASE_URL")
        .key_proof(KeyProof::None)
        .routes(),
    provider("gmi", "GMI Cloud", "https://api.gmi-serving.com/v1")
        .aux("google/gemini-3.1-flash-lite-preview")
        .aliases(&["gmi-cloud", "gmicloud"])
        .key(&["GMI_API_KEY"])
        .url_env("GMI_BASE_URL")
        .routes(),
    provider("tencent-tokenhub", "Tencent TokenHub", "https://tokenhub.tencentmaas.com/v1")
        .aux("hy3-preview")
        .aliases(&["tencent", "tokenhub"])
        .key(&["TOKENHUB_API_KEY"])
        .url_env("TOKENHUB_BASE_URL")
        .reasoning(ReasoningRule::TokenHub),
    provider("ollama-cloud", "Ollama Cloud", "https://ollama.com/v1")
        .aux("nemotron-3-nano:30b")
        .aliases(&["ollama_cloud"])
        .key(&["OLLAMA_API_KEY"])
        .url_env("OLLAMA_BASE_URL")
        .key_proof(KeyProof::None)
        .reasoning(ReasoningRule::OllamaCloud)
        .quirks(ProviderQuirks { tags_models: true, ..ProviderQuirks::COMMON })
        .pinned(),
];
