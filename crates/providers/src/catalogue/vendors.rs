//! Makers of models that serve them for a key.

use super::vendor_quirks::{KIMI_CODING_PREFIX, KIMI_CODING_URL};
use super::{
    Forbidden, KeyProof, LoginQuirks, MessagesQuirks, ModeRule, Models, Provider, ProviderQuirks, provider,
};
use crate::catalogue::chat_reasoning::ReasoningRule;
use crate::login::VendorTool;
use crate::mode::ModeName::{AnthropicMessages, CodexResponses};
use hermes_wire::{MessagesServer, ResponsesBackend};

pub(super) const XAI: ProviderQuirks = ProviderQuirks {
    responses: ResponsesBackend::Xai,
    login: LoginQuirks { forbidden: Forbidden::UnlessStale, ..LoginQuirks::COMMON },
    ..ProviderQuirks::COMMON
};
const KIMI: ProviderQuirks = ProviderQuirks {
    messages: MessagesQuirks { server: MessagesServer::Kimi, ..MessagesQuirks::COMMON },
    ..ProviderQuirks::COMMON
};
pub(super) const MINIMAX: ProviderQuirks =
    ProviderQuirks { messages: MessagesQuirks::MINIMAX, ..ProviderQuirks::COMMON };
const ALIBABA: ProviderQuirks = ProviderQuirks { misnames_models: true, ..ProviderQuirks::DOTTED };

pub(super) static ROWS: &[Provider] = &[
    // Chat completions are served as well; `mode` chooses between the two.
    provider("openai-api", "OpenAI", "https://api.openai.com/v1")
        .aliases(&["openai"])
        .key(&["OPENAI_API_KEY"])
        .quirks(ProviderQuirks {
            chosen_by: &["OPENAI_API_KEY", "OPENAI_BASE_URL"],
            ..ProviderQuirks::COMMON
        })
        .url_env("OPENAI_BASE_URL"),
    Provider {
        models: Models::Messages,
        quirks: ProviderQuirks {
            login: LoginQuirks {
                vendor_tool: Some(VendorTool::ClaudeCode),
                kept_source: Some("hermes_pkce"),
                token_prefix: Some("sk-ant-oat"),
                found_order: &[
                    "env:ANTHROPIC_TOKEN",
                    "env:CLAUDE_CODE_OAUTH_TOKEN",
                    "hermes_pkce",
                    "claude_code",
                    "env:ANTHROPIC_API_KEY",
                ],
                forbidden: Forbidden::Account,
                ..LoginQuirks::COMMON
            },
            ..ProviderQuirks::COMMON
        },
        ..provider("anthropic", "Anthropic", "https://api.anthropic.com")
            .aux("claude-haiku-4-5-20251001")
            .aliases(&["claude", "claude-code", "claude-oauth"])
            .key(&["ANTHROPIC_API_KEY", "ANTHROPIC_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"])
            .url_env("ANTHROPIC_BASE_URL")
            .mode(ModeRule::Always(AnthropicMessages))
    },
    provider("xai", "xAI", "https://api.x.ai/v1")
        .aliases(&["x-ai", "x.ai", "grok"])
        .key(&["XAI_API_KEY"])
        .url_env("XAI_BASE_URL")
        .quirks(XAI)
        .mode(ModeRule::Always(CodexResponses)),
    // The address with chat completions; Google's own format is not built in.
    provider("gemini", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai")
        .aux("gemini-3.5-flash")
        .aliases(&["google", "google-gemini", "google-ai-studio"])
        .key(&["GOOGLE_API_KEY", "GEMINI_API_KEY"])
        .url_env("GEMINI_BASE_URL")
        .reasoning(ReasoningRule::Gemini),
    provider("deepseek", "DeepSeek", "https://api.deepseek.com/v1")
        .aux("deepseek-chat")
        .aliases(&["deepseek-chat"])
        .key(&["DEEPSEEK_API_KEY"])
        .url_env("DEEPSEEK_BASE_URL")
        .reasoning(ReasoningRule::DeepSeek)
        .quirks(ProviderQuirks {
            messages: MessagesQuirks { server: MessagesServer::DeepSeek, ..MessagesQuirks::COMMON },
            ..ProviderQuirks::COMMON
        })
        .echoes_reasoning(),
    provider("zai", "Z.AI", "https://api.z.ai/api/paas/v4")
        .aux("glm-4.5-flash")
        .aliases(&["glm", "z-ai", "z.ai", "zhipu"])
        .key(&["GLM_API_KEY", "ZAI_API_KEY", "Z_AI_API_KEY"])
        .url_env("GLM_BASE_URL")
        .quirks(ProviderQuirks::DOTTED)
        .reasoning(ReasoningRule::Zai),
    provider("kimi-coding", "Kimi / Moonshot", "https://api.moonshot.ai/v1")
        .aux("kimi-k2-turbo-preview")
        .aliases(&["kimi", "moonshot", "kimi-for-coding"])
        .also_at(&[KIMI_CODING_URL])
        .key(&["KIMI_API_KEY", "KIMI_CODING_API_KEY"])
        .url_env("KIMI_BASE_URL")
        .output_cap(32_000)
        .quirks(ProviderQuirks {
            login: LoginQuirks {
                other_address: Some((KIMI_CODING_PREFIX, KIMI_CODING_URL)),
                ..LoginQuirks::COMMON
            },
            ..KIMI
        })
        .reasoning(ReasoningRule::Kimi)
        .echoes_reasoning(),
    provider("kimi-coding-cn", "Kimi / Moonshot (China)", "https://api.moonshot.cn/v1")
        .aux("kimi-k2-turbo-preview")
        .aliases(&["kimi-cn", "moonshot-cn"])
        .key(&["KIMI_CN_API_KEY"])
        .output_cap(32_000)
        .quirks(KIMI)
        .reasoning(ReasoningRule::Kimi)
        .echoes_reasoning(),
    provider("minimax", "MiniMax", "https://api.minimax.io/anthropic")
        .aux("MiniMax-M3")
        .aliases(&["mini-max"])
        .key(&["MINIMAX_API_KEY"])
        .url_env("MINIMAX_BASE_URL")
        .quirks(MINIMAX)
        .reasoning(ReasoningRule::MiniMax),
    provider("minimax-cn", "MiniMax (China)", "https://api.minimaxi.com/anthropic")
        .aux("MiniMax-M3")
        .aliases(&["minimax-china", "minimax_cn"])
        .key(&["MINIMAX_CN_API_KEY"])
        .url_env("MINIMAX_CN_BASE_URL")
        .quirks(MINIMAX),
    provider("alibaba", "Alibaba DashScope", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1")
        .aliases(&["dashscope", "alibaba-cloud", "qwen-dashscope"])
        .key(&["DASHSCOPE_API_KEY"])
        .url_env("DASHSCOPE_BASE_URL")
        .quirks(ProviderQuirks { cache_marks: &["qwen"], ..ALIBABA }),
    provider("alibaba-coding-plan", "Alibaba Coding Plan", "https://coding-intl.dashscope.aliyuncs.com/v1")
        .aliases(&["alibaba-coding"])
        .key(&["ALIBABA_CODING_PLAN_API_KEY", "DASHSCOPE_API_KEY"])
        .url_env("ALIBABA_CODING_PLAN_BASE_URL")
        .quirks(ALIBABA),
    provider("xiaomi", "Xiaomi MiMo", "https://api.xiaomimimo.com/v1")
        .aliases(&["mimo", "xiaomi-mimo"])
        .key(&["XIAOMI_API_KEY"])
        .url_env("XIAOMI_BASE_URL")
        .quirks(ProviderQuirks::DOTTED)
        .key_proof(KeyProof::None)
        .echoes_reasoning(),
    provider("stepfun", "StepFun", "https://api.stepfun.ai/step_plan/v1")
        .aux("step-3.5-flash")
        .aliases(&["step", "stepfun-coding-plan"])
        .key(&["STEPFUN_API_KEY"])
        .url_env("STEPFUN_BASE_URL"),
    provider("arcee", "Arcee AI", "https://api.arcee.ai/api/v1")
        .aliases(&["arcee-ai", "arceeai"])
        .key(&["ARCEEAI_API_KEY"])
        .url_env("ARCEE_BASE_URL"),
    provider("upstage", "Upstage", "https://api.upstage.ai/v1")
        .aliases(&["solar"])
        .key(&["UPSTAGE_API_KEY"])
        .url_env("UPSTAGE_BASE_URL")
        .reasoning(ReasoningRule::Upstage),
    // A resource of the user; names of models are names of deployments.
    provider("azure-foundry", "Azure AI Foundry", "")
        .aliases(&["azure", "azure-ai", "azure-ai-foundry"])
        .key(&["AZURE_FOUNDRY_API_KEY"])
        .url_env("AZURE_FOUNDRY_BASE_URL")
        .mode(ModeRule::NeverUpgraded),
];
