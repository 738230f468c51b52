use super::*;
use std::collections::BTreeSet;

/// The table of the specification: id, host, first key variable, format.
const TABLE: &[(&str, &str, &str, &str)] = &[
    ("openrouter", "openrouter.ai", "OPENROUTER_API_KEY", "chat_completions"),
    ("nous", "inference-api.nousresearch.com", "", "chat_completions"),
    ("openai-codex", "chatgpt.com", "", "codex_responses"),
    ("openai-api", "api.openai.com", "OPENAI_API_KEY", "codex_responses"),
    ("anthropic", "api.anthropic.com", "ANTHROPIC_API_KEY", "anthropic_messages"),
    ("xai", "api.x.ai", "XAI_API_KEY", "codex_responses"),
    ("xai-oauth", "api.x.ai", "", "codex_responses"),
    ("gemini", "generativelanguage.googleapis.com", "GOOGLE_API_KEY", "chat_completions"),
    ("vertex", "aiplatform.googleapis.com", "", "chat_completions"),
    ("bedrock", "bedrock-runtime.us-east-1.amazonaws.com", "AWS_BEARER_TOKEN_BEDROCK", "chat_completions"),
    ("azure-foundry", "", "AZURE_FOUNDRY_API_KEY", "by address"),
    ("copilot", "api.githubcopilot.com", "COPILOT_GITHUB_TOKEN", "by model"),
    ("copilot-acp", "copilot", "", "chat_completions"),
    ("zai", "api.z.ai", "GLM_API_KEY", "chat_completions"),
    ("kimi-coding", "api.moonshot.ai", "KIMI_API_KEY", "chat_completions"),
    ("kimi-coding-cn", "api.moonshot.cn", "KIMI_CN_API_KEY", "chat_completions"),
    ("minimax", "api.minimax.io", "MINIMAX_API_KEY", "anthropic_messages"),
    ("minimax-cn", "api.minimaxi.com", "MINIMAX_CN_API_KEY", "anthropic_messages"),
    ("minimax-oauth", "api.minimax.io", "", "anthropic_messages"),
    ("deepseek", "api.deepseek.com", "DEEPSEEK_API_KEY", "chat_completions"),
    ("alibaba", "dashscope-intl.aliyuncs.com", "DASHSCOPE_API_KEY", "chat_completions"),
    (
        "alibaba-coding-plan",
        "coding-intl.dashscope.aliyuncs.com",
        "ALIBABA_CODING_PLAN_API_KEY",
        "chat_completions",
    ),
    ("qwen-oauth", "portal.qwen.ai", "", "chat_completions"),
    ("huggingface", "router.huggingface.co", "HF_TOKEN", "chat_completions"),
    ("nvidia", "integrate.api.nvidia.com", "NVIDIA_API_KEY", "chat_completions"),
    ("opencode-zen", "opencode.ai", "OPENCODE_ZEN_API_KEY", "by model"),
    ("opencode-go", "opencode.ai", "OPENCODE_GO_API_KEY", "by model"),
    ("kilocode", "api.kilo.ai", "KILOCODE_API_KEY", "chat_completions"),
    ("xiaomi", "api.xiaomimimo.com", "XIAOMI_API_KEY", "chat_completions"),
    ("stepfun", "api.stepfun.ai", "STEPFUN_API_KEY", "chat_completions"),
    ("arcee", "api.arcee.ai", "ARCEEAI_API_KEY", "chat_completions"),
    ("gmi", "api.gmi-serving.com", "GMI_API_KEY", "chat_completions"),
    ("fireworks", "api.fireworks.ai", "FIREWORKS_API_KEY", "chat_completions"),
    ("deepinfra", "api.deepinfra.com", "DEEPINFRA_API_KEY", "chat_completions"),
    ("novita", "api.novita.ai", "NOVITA_API_KEY", "chat_completions"),
    ("upstage", "api.upstage.ai", "UPSTAGE_API_KEY", "chat_completions"),
    ("tencent-tokenhub", "tokenhub.tencentmaas.com", "TOKENHUB_API_KEY", "chat_completions"),
    ("ollama-cloud", "ollama.com", "OLLAMA_API_KEY", "chat_completions"),
    ("lmstudio", "127.0.0.1", "LM_API_KEY", "chat_completions"),
    ("custom", "", "", "by address"),
    ("moa", "local", "", "chat_completions"),
    ("ai-gateway", "ai-gateway.vercel.sh", "AI_GATEWAY_API_KEY", "chat_completions"),
];

#[test]
fn every_row_of_the_table_is_there_and_no_other() {
    for (id, host, key, mode) in TABLE {
        let provider = providers().find(|provider| provider.id == *id).unwrap_or_else(|| panic!("no {id}"));
        let url = Url::parse(provider.base_url).ok();
        let got_host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        let got_key = provider.key_env.first().copied().unwrap_or_default();
        assert_eq!((got_host, got_key, provider.mode_label()), (*host, *key, *mode), "{id}");
    }
    assert_eq!(providers().count(), TABLE.len());
}

#[test]
fn ids_and_aliases_are_unique_and_plain() {
    let mut seen = BTreeSet::new();
    for provider in providers() {
        for name in [provider.id].iter().chain(provider.aliases) {
            assert!(seen.insert(*name), "{name} twice");
            assert!(
                name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c)),
                "{name}"
            );
            assert_eq!(find(&name.to_uppercase()).map(|found| found.id), Some(provider.id), "{name}");
        }
    }
    assert!(find("acme").is_none() && find("auto").is_none());
}

#[test]
fn rows_are_whole() {
    for provider in providers() {
        let id = provider.id;
        assert_eq!(
            provider.needs_key(),
            !provider.key_env.is_empty() && provider.auth == Auth::ApiKey,
            "{id}"
        );
        assert!(!provider.needs_key() || provider.lacks.is_none(), "{id} needs only a key");
        let is_served = match provider.auth {
            Auth::ApiKey | Auth::OptionalKey | Auth::DeviceLogin | Auth::TokenExchange => true,
            Auth::CredentialsFile => crate::login::VendorTool::of_provider(id).is_some(),
            // A client of the user is enough if the login is the standard one.
            Auth::BrowserLogin => id == "xai-oauth",
            Auth::Cloud | Auth::ExternalProcess | Auth::None => false,
        };
        assert_eq!(provider.lacks.is_none(), is_served, "{id}");
        for address in provider.addresses().filter(|_| provider.lacks.is_none()) {
            let url = Url::parse(address).unwrap();
            assert!(url.scheme() == "https" || crate::is_loopback(&url), "{id}: {address}");
            assert!(!address.ends_with('/'), "{id}: {address}");
        }
        assert!(!provider.name.is_empty());
    }
}

#[test]
fn rows_that_cannot_be_served_say_why_and_what_to_do() {
    for (id, words) in [
        ("bedrock", "AWS credentials"),
        ("vertex", "use `gemini`"),
        ("copilot-acp", "Copilot program"),
        ("minimax-oauth", "MINIMAX_API_KEY"),
        ("qwen-oauth", "DASHSCOPE_API_KEY"),
    ] {
        let why = known(id).not_yet().unwrap_or_default();
        assert!(why.contains(words), "{id}: {why}");
    }
    for id in [
        "anthropic",
        "openai-codex",
        "minimax",
        "openrouter",
        "openai-api",
        "xai",
        "ai-gateway",
        "gemini",
        "custom",
        "lmstudio",
        "opencode-zen",
    ] {
        assert_eq!(known(id).not_yet(), None, "{id}");
    }
}

/// The rows that have a quirk.
fn having(is_so: fn(&ProviderQuirks) -> bool) -> String {
    let mut ids: Vec<&str> =
        providers().filter(|provider| is_so(&provider.quirks)).map(|provider| provider.id).collect();
    ids.sort_unstable();
    ids.join(" ")
}

#[test]
fn quirks_are_on_the_listed_rows() {
    use hermes_wire::{MessagesServer, ModelDots, ResponsesBackend};
    for (quirk, found, want) in [
        (
            "cache marks",
            having(|quirks| !quirks.cache_marks.is_empty()),
            "alibaba nous opencode-go opencode-zen openrouter",
        ),
        (
            "dotted names",
            having(|quirks| quirks.messages.dots == ModelDots::Keep),
            "alibaba alibaba-coding-plan bedrock minimax minimax-cn minimax-oauth opencode-go opencode-zen vertex \
             xiaomi zai",
        ),
        ("bearer", having(|quirks| quirks.messages.takes_bearer), "minimax minimax-cn minimax-oauth"),
        (
            "kimi",
            having(|quirks| quirks.messages.server == MessagesServer::Kimi),
            "kimi-coding kimi-coding-cn",
        ),
        ("deepseek", having(|quirks| quirks.messages.server == MessagesServer::DeepSeek), "deepseek"),
        ("xai", having(|quirks| quirks.responses == ResponsesBackend::Xai), "xai xai-oauth"),
        ("codex", having(|quirks| quirks.responses == ResponsesBackend::CodexBackend), "openai-codex"),
        ("github", having(|quirks| quirks.responses == ResponsesBackend::GitHub), "copilot"),
        ("cost", having(|quirks| quirks.states_cost), "ai-gateway nous openrouter"),
        ("subscription", having(|quirks| quirks.is_subscription), "openai-codex"),
        ("shared limit", having(|quirks| quirks.shares_limit), "nous"),
        ("misnamed", having(|quirks| quirks.misnames_models), "alibaba alibaba-coding-plan"),
        ("tags", having(|quirks| quirks.tags_models), "custom lmstudio ollama-cloud"),
        ("tasks", having(|quirks| quirks.is_first_for_tasks), "nous openrouter"),
        ("chosen", having(|quirks| !quirks.chosen_by.is_empty()), "custom openai-api openrouter"),
        (
            "own logins",
            having(|quirks| quirks.login.kept_source.is_some()),
            "anthropic minimax-oauth nous openai-codex xai-oauth",
        ),
        ("vendor login", having(|quirks| quirks.login.vendor_tool.is_some()), "anthropic openai-codex"),
        (
            "forbidden",
            having(|quirks| quirks.login.forbidden != Forbidden::ByText),
            "anthropic xai xai-oauth",
        ),
    ] {
        assert_eq!(found, want, "{quirk}");
    }
}

/// A new provider is one row, with everything unusual on it.
#[test]
fn new_row_needs_no_other_change() {
    let row = provider("greenhouse", "Greenhouse", "https://models.greenhouse.example/v1")
        .key(&["GREENHOUSE_API_KEY"])
        .headers(&[("x-client", "hermes")])
        .quirks(ProviderQuirks { cache_marks: &["fern"], states_cost: true, ..ProviderQuirks::COMMON });
    let url = Url::parse(row.base_url).unwrap();
    assert_eq!(mode::api_mode(None, &row, &url, "fern-1").mode.as_str(), "chat_completions");
    assert!(row.needs_key() && row.quirks.states_cost && !row.is_custom());
    assert_eq!((row.chat.headers, row.quirks.cache_marks), (&[("x-client", "hermes")][..], &["fern"][..]));
}
