//! The requirements of a provider's chat completions beyond the common format, as data on its row.

use super::hosts::HostFacts;
use crate::catalogue::chat_reasoning::ReasoningRule;
use hermes_conversation::ModelName;

/// The peculiarities of one provider's chat completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatQuirks {
    /// The form in which an effort is sent.
    pub reasoning: ReasoningRule,
    /// Assistant messages must carry the reasoning they were written with.
    pub echoes_reasoning: bool,
    /// The output cap of requests for which the user set none.
    pub output_cap: Option<u64>,
    /// Output caps of single models, by the model's own name.
    pub model_caps: &'static [(&'static str, u64)],
    /// The body names the session.
    pub names_session: bool,
    /// Headers of every request; they describe this program, never the user.
    pub headers: &'static [(&'static str, &'static str)],
    /// `tags` of every request.
    pub tags: &'static [&'static str],
    /// The provider takes the preferences in `provider_routing`.
    pub takes_routing: bool,
}

impl ChatQuirks {
    /// A provider without peculiarities.
    pub(super) const COMMON: Self = Self {
        reasoning: ReasoningRule::Silent,
        echoes_reasoning: false,
        output_cap: None,
        model_caps: &[],
        names_session: false,
        headers: &[],
        tags: &[],
        takes_routing: false,
    };
}

/// Returns true if an endpoint demands `reasoning_content` on every assistant message.
pub(crate) fn echoes_reasoning(quirks: &ChatQuirks, host: &HostFacts, model: &str) -> bool {
    quirks.echoes_reasoning || host.echoes_reasoning || ModelName::of(model).echoes_reasoning()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{hosts, known};

    #[test]
    fn echo_is_demanded_by_provider_host_and_model() {
        for (provider, host, model, want) in [
            ("deepseek", "api.deepseek.com", "deepseek-chat", true),
            ("deepseek", "127.0.0.1", "v4", true),
            ("custom", "api.deepseek.com", "x", true),
            ("custom", "notapi.deepseek.com.example", "x", false),
            ("openrouter", "openrouter.ai", "deepseek/deepseek-v4", true),
            ("openrouter", "openrouter.ai", "xiaomi/mimo-v2", true),
            ("openrouter", "openrouter.ai", "moonshotai/kimi-k2.5", false),
            ("kimi-coding", "127.0.0.1", "kimi-k2.5", true),
            ("kimi-coding-cn", "api.moonshot.cn", "kimi-k2.5", true),
            ("custom", "api.moonshot.ai", "kimi-k2.5", true),
            ("custom", "notmoonshot.ai", "kimi-k2.5", false),
            ("xiaomi", "api.xiaomimimo.com", "x", true),
            ("zai", "api.z.ai", "glm-5.2", false),
            ("custom", "127.0.0.1", "qwen3", false),
        ] {
            let url = url::Url::parse(&format!("https://{host}/v1")).unwrap();
            assert_eq!(
                echoes_reasoning(&known(provider).chat, &hosts::facts(&url), model),
                want,
                "{provider} {host} {model}"
            );
        }
    }
}
