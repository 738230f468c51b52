//! The providers this build knows, as data.

/// A place where models are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    pub id: &'static str,
    pub aliases: &'static [&'static str],
    /// Empty when the user supplies it.
    pub base_url: &'static str,
    /// Variable that overrides the base URL.
    pub base_url_env: &'static str,
    /// Variables that may hold its key, in order.
    pub key_env: &'static [&'static str],
}

pub const PROVIDERS: &[Provider] = &[
    Provider {
        id: "openrouter",
        aliases: &["or"],
        base_url: "https://openrouter.ai/api/v1",
        base_url_env: "OPENROUTER_BASE_URL",
        key_env: &["OPENROUTER_API_KEY"],
    },
    Provider {
        id: "openai-api",
        aliases: &["openai"],
        base_url: "https://api.openai.com/v1",
        base_url_env: "OPENAI_BASE_URL",
        key_env: &["OPENAI_API_KEY"],
    },
    Provider {
        id: "custom",
        aliases: &["ollama", "local", "vllm", "llamacpp", "llama.cpp", "lmstudio"],
        base_url: "",
        base_url_env: "CUSTOM_BASE_URL",
        // An endpoint the user chose explicitly may have the OpenAI key, as its clients expect.
        key_env: &["OPENAI_API_KEY"],
    },
];

/// The provider with this id or alias, in any case.
pub fn find(name: &str) -> Option<&'static Provider> {
    let name = name.trim().to_ascii_lowercase();
    PROVIDERS.iter().find(|provider| provider.id == name || provider.aliases.contains(&name.as_str()))
}
