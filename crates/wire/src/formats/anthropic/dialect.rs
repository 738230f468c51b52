//! Variations between endpoints of the Messages format.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The requirements of one endpoint and model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnthropicDialect {
    pub thinking: ThinkingStyle,
    pub replay: ThinkingReplay,
    pub dots: ModelDots,
    /// The value for an effort above `high`, which not every model knows.
    #[serde(with = "effort_word")]
    pub xhigh: EffortWord,
}

/// One of a few values. (As `&'static str`, serde would try to borrow it.)
pub(crate) type EffortWord = &'static str;

/// The possible values of `xhigh`.
mod effort_word {
    use serde::{Deserialize, Deserializer, Serializer, de};

    const WORDS: [&str; 3] = ["xhigh", "max", "high"];

    pub(super) fn serialize<S: Serializer>(word: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(word)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known = WORDS.into_iter().find(|known| *known == word);
        known.ok_or_else(|| de::Error::custom(format!("`{word}` is not an effort")))
    }
}

/// The way in which a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingStyle {
    /// Thinking cannot be requested.
    None,
    /// By a token budget.
    Budget,
    /// By an effort; the model decides how much.
    Adaptive,
}

/// The thinking that is sent back to its issuer. It is never sent to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingReplay {
    /// Signed and encrypted thinking, as received.
    Signed,
    /// All thinking, also without a signature.
    All,
    /// The text of the thinking, without a signature.
    Unsigned,
    /// None.
    Strip,
}

/// The treatment of dots in the names of Claude models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelDots {
    ToDashes,
    Keep,
}

/// Providers that write a version with a dot.
const DOTTED: &[&str] = &["alibaba", "minimax", "opencode", "zai", "bedrock", "xiaomi", "vertex"];

impl Default for AnthropicDialect {
    fn default() -> Self {
        Self {
            thinking: ThinkingStyle::Adaptive,
            replay: ThinkingReplay::Signed,
            dots: ModelDots::ToDashes,
            xhigh: "xhigh",
        }
    }
}

impl AnthropicDialect {
    /// The dialect of an endpoint, by its host, the provider's id and the model's name.
    pub fn of(host: &str, provider: &str, model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        let at = |domain: &str| {
            host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let is_kimi = at("kimi.com")
            || at("moonshot.ai")
            || at("moonshot.cn")
            || provider.starts_with("kimi")
            || model.contains("kimi");
        let is_deepseek = at("deepseek.com") || provider == "deepseek" || model.contains("deepseek");
        let version = claude_version(&model);
        Self {
            thinking: match version {
                Some(_) if model.contains("haiku") => ThinkingStyle::None,
                Some(version) if version >= (4, 6) => ThinkingStyle::Adaptive,
                Some(version) if version >= (3, 7) => ThinkingStyle::Budget,
                Some(_) => ThinkingStyle::None,
                None if is_kimi => ThinkingStyle::Adaptive,
                None => ThinkingStyle::Budget,
            },
            replay: if at("anthropic.com") {
                ThinkingReplay::Signed
            } else if is_kimi {
                ThinkingReplay::All
            } else if is_deepseek {
                ThinkingReplay::Unsigned
            } else if version.is_some() {
                // Claude behind another host signs its thinking, too, and with a budget it rejects requests
                // without it.
                ThinkingReplay::Signed
            } else {
                ThinkingReplay::Strip
            },
            dots: match DOTTED.iter().any(|name| provider.starts_with(name)) {
                true => ModelDots::Keep,
                false => ModelDots::ToDashes,
            },
            xhigh: match version {
                Some((4, 6)) => "max",
                Some(_) => "xhigh",
                None => "high",
            },
        }
    }

    /// The name of the model as the endpoint spells it.
    pub(crate) fn model_name<'a>(&self, model: &'a str) -> Cow<'a, str> {
        let name = model.strip_prefix("anthropic/").unwrap_or(model);
        match self.dots {
            ModelDots::ToDashes if name.starts_with("claude-") && name.contains('.') => {
                Cow::Owned(name.replace('.', "-"))
            }
            ModelDots::ToDashes | ModelDots::Keep => Cow::Borrowed(name),
        }
    }
}

/// The version in the name of a Claude model; the highest possible one if there is none. Dates and revisions
/// are not part of it.
fn claude_version(model: &str) -> Option<(u32, u32)> {
    let (_, rest) = model.split_once("claude")?;
    let mut words = rest.split(|character: char| !character.is_ascii_alphanumeric());
    let number = |word: &str| word.parse::<u32>().ok().filter(|_| word.len() <= 2);
    let Some(major) = words.find_map(number) else { return Some((u32::MAX, 0)) };
    Some((major, words.next().and_then(number).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ThinkingReplay::{All, Signed, Strip, Unsigned};
    use ThinkingStyle::{Adaptive, Budget, None};

    #[test]
    fn endpoints_are_distinguished() {
        let official = "api.anthropic.com";
        for (host, provider, model, thinking, replay, xhigh) in [
            (official, "anthropic", "claude-opus-4-8", Adaptive, Signed, "xhigh"),
            (official, "anthropic", "claude-opus-4.6", Adaptive, Signed, "max"),
            (official, "anthropic", "claude-sonnet-4-6-20260101", Adaptive, Signed, "max"),
            (official, "anthropic", "anthropic/claude-fable-5.1", Adaptive, Signed, "xhigh"),
            (official, "anthropic", "claude-latest", Adaptive, Signed, "xhigh"),
            (official, "anthropic", "claude-opus-4-20250514", Budget, Signed, "xhigh"),
            (official, "anthropic", "claude-sonnet-4-5-20250929", Budget, Signed, "xhigh"),
            (official, "anthropic", "claude-3-7-sonnet-20250219", Budget, Signed, "xhigh"),
            (official, "anthropic", "claude-3-5-sonnet-20241022", None, Signed, "xhigh"),
            (official, "anthropic", "claude-haiku-4-5", None, Signed, "xhigh"),
            ("x.services.ai.azure.com", "azure", "claude-opus-4-5", Budget, Signed, "xhigh"),
            ("api.kimi.com", "kimi-coding", "kimi-k2", Adaptive, All, "high"),
            ("proxy.example", "custom", "kimi-k3", Adaptive, All, "high"),
            ("api.deepseek.com", "deepseek", "deepseek-v4", Budget, Unsigned, "high"),
            ("api.minimax.io", "minimax", "MiniMax-M2", Budget, Strip, "high"),
            // A host that only ends like a known one is a different host.
            ("notdeepseek.com", "custom", "glm-5", Budget, Strip, "high"),
        ] {
            let got = AnthropicDialect::of(host, provider, model);
            assert_eq!((got.thinking, got.replay, got.xhigh), (thinking, replay, xhigh), "{host} {model}");
        }
    }

    #[test]
    fn model_names_are_spelled_for_the_endpoint() {
        for (provider, model, want) in [
            ("anthropic", "anthropic/claude-opus-4.6", "claude-opus-4-6"),
            ("anthropic", "claude-sonnet-5", "claude-sonnet-5"),
            ("zai", "claude-opus-4.6", "claude-opus-4.6"),
            ("opencode-zen", "claude-opus-4.6", "claude-opus-4.6"),
            ("minimax-cn", "MiniMax-M2.5", "MiniMax-M2.5"),
            ("custom", "glm-4.7", "glm-4.7"),
            ("custom", "us.anthropic.claude-opus-4-6-v1:0", "us.anthropic.claude-opus-4-6-v1:0"),
        ] {
            let dialect = AnthropicDialect::of("api.example", provider, model);
            assert_eq!(dialect.model_name(model), want, "{provider} {model}");
        }
    }
}
