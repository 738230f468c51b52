//! Providers that need more than a key: a login, a cloud account, another program.

use super::vendors::{MINIMAX, XAI};
use super::{Auth, ChatQuirks, LoginQuirks, ModeRule, Provider, ProviderQuirks, provider};
use crate::catalogue::chat_reasoning::ReasoningRule;
use crate::login::VendorTool;
use crate::mode::ModeName::{AnthropicMessages, CodexResponses};
use hermes_wire::ResponsesBackend;

pub(super) static ROWS: &[Provider] = &[
    Provider {
        chat: ChatQuirks {
            reasoning: ReasoningRule::Nous,
            tags: &[
                "product=hermes-agent",
                concat!("client=hermes-client-v", env!("CARGO_PKG_VERSION")),
            ],
            takes_routing: true,
            ..ChatQuirks::COMMON
        },
        quirks: ProviderQuirks {
            cache_marks: &["claude", "kimi", "moonshot", "qwen"],
            states_cost: true,
            shares_limit: true,
            is_first_for_tasks: true,
            login: LoginQuirks {
                kept_source: Some("device_code"),
                buys_key: true,
                ..LoginQuirks::COMMON
            },
            ..ProviderQuirks::COMMON
        },
        ..provider("nous", "Nous Portal", "https://inference-api.nousresearch.com/v1")
            .aliases(&["nous-portal", "nousresearch"])
            .auth(Auth::DeviceLogin)
            .url_env("NOUS_INFERENCE_BASE_URL")
            .mode(ModeRule::NeverUpgraded)
            .routes()
    },
    provider("openai-codex", "OpenAI Codex (ChatGPT login)", "https://chatgpt.com/backend-api/codex")
        .aliases(&["codex", "openai_codex"])
        .quirks(ProviderQuirks {
            responses: ResponsesBackend::CodexBackend,
            account_header: Some("chatgpt-account-id"),
            is_subscription: true,
            window_cap: Some(272_000),
            answers_slowly: true,
            login: LoginQuirks {
                vendor_tool: Some(VendorTool::Codex),
                kept_source: Some("device_code"),
                ..LoginQuirks::COMMON
            },
            ..ProviderQuirks::COMMON
        })
        .auth(Auth::CredentialsFile)
        .mode(ModeRule::Always(CodexResponses)),
    provider("xai-oauth", "xAI (Grok login)", "https://api.x.ai/v1")
        .aliases(&["grok-oauth", "x-ai-oauth", "xai-grok-oauth"])
        .url_env("XAI_BASE_URL")
        .quirks(ProviderQuirks {
            login: LoginQuirks { kept_source: Some("device_code"), ..XAI.login },
            ..XAI
        })
        .auth(Auth::BrowserLogin)
        .mode(ModeRule::Always(CodexResponses)),
    provider("minimax-oauth", "MiniMax (login)", "https://api.minimax.io/anthropic")
        .aliases(&["minimax-portal", "minimax-global"])
        .quirks(ProviderQuirks {
            login: LoginQuirks { kept_source: Some("oauth"), ..LoginQuirks::COMMON },
            ..MINIMAX
        })
        .auth(Auth::BrowserLogin)
        .mode(ModeRule::Always(AnthropicMessages))
        .lacks(
            "MiniMax has issued no client id to Hermes, which does not use another program's; use `minimax` with MINIMAX_API_KEY",
        ),
    provider("qwen-oauth", "Qwen (login)", "https://portal.qwen.ai/v1")
        .aliases(&["qwen", "qwen-portal", "qwen-cli"])
        .url_env("HERMES_QWEN_BASE_URL")
        .output_cap(65_536)
        .auth(Auth::CredentialsFile)
        .lacks("its login serves Qwen's own program only, and Hermes does not impersonate it; use `alibaba` with DASHSCOPE_API_KEY"),
    provider("copilot", "GitHub Copilot", "https://api.githubcopilot.com")
        .aliases(&["github", "github-copilot", "github-models"])
        // The header names the program, which is this one.
        .headers(&[("editor-version", concat!("hermes/", env!("CARGO_PKG_VERSION")))])
        .quirks(ProviderQuirks { responses: ResponsesBackend::GitHub, ..ProviderQuirks::COMMON })
        .key(&["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"])
        .url_env("COPILOT_API_BASE_URL")
        .reasoning(ReasoningRule::GitHub)
        .auth(Auth::TokenExchange)
        // The exchange gets the token of GitHub; Copilot gets only the token of the exchange.
        .pinned()
        .mode(ModeRule::ByModel(&[("claude", AnthropicMessages), ("gpt-5", CodexResponses)])),
    provider("copilot-acp", "GitHub Copilot (ACP)", "acp://copilot")
        .aliases(&["github-copilot-acp"])
        .url_env("COPILOT_ACP_BASE_URL")
        .auth(Auth::ExternalProcess)
        .mode(ModeRule::NeverUpgraded)
        .lacks("talking to the Copilot program is not built in yet; use a provider with a key"),
    provider("vertex", "Google Vertex AI", "https://aiplatform.googleapis.com")
        .aliases(&["google-vertex", "vertex-ai", "gcp-vertex"])
        .quirks(ProviderQuirks::DOTTED)
        .auth(Auth::Cloud)
        .lacks("Google Cloud credentials are not built in yet; use `gemini` with GEMINI_API_KEY"),
    provider("bedrock", "Amazon Bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com")
        .aliases(&["aws", "aws-bedrock", "amazon", "amazon-bedrock"])
        .quirks(ProviderQuirks::DOTTED)
        .key(&["AWS_BEARER_TOKEN_BEDROCK"])
        .url_env("BEDROCK_BASE_URL")
        .auth(Auth::Cloud)
        .lacks("AWS credentials and Bedrock's format are not built in yet; use a provider with a key"),
    provider("moa", "Mixture of agents", "moa://local")
        .auth(Auth::None)
        .lacks("asking several models at once is not built in yet; choose one provider"),
];
