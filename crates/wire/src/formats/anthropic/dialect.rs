//! Variations between endpoints of the Messages format.

use hermes_conversation::ModelName;
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

/// The maker whose server is asked, as far as it handles thinking differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MessagesServer {
    Anthropic,
    Kimi,
    DeepSeek,
    #[default]
    Other,
}

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
    /// The dialect of a model at a server.
    pub fn of(server: MessagesServer, dots: ModelDots, model: &str) -> Self {
        let model = ModelName::of(model);
        let is_kimi = server == MessagesServer::Kimi || model.is_kimi();
        let is_deepseek = server == MessagesServer::DeepSeek || model.is_deepseek();
        let version = model.claude_version();
        Self {
            thinking: match version {
                Some(_) if model.is_haiku() => ThinkingStyle::None,
                Some(version) if version >= (4, 6) => ThinkingStyle::Adaptive,
                Some(version) if version >= (3, 7) => ThinkingStyle::Budget,
                Some(_) => ThinkingStyle::None,
                None if is_kimi => ThinkingStyle::Adaptive,
                None => ThinkingStyle::Budget,
            },
            replay: if server == MessagesServer::Anthropic {
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
            dots,
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

#[cfg(test)]
mod tests {
    use super::*;
    use ThinkingReplay::{All, Signed, Strip, Unsigned};
    use ThinkingStyle::{Adaptive, Budget, None};

    #[test]
    fn endpoints_are_distinguished() {
        for (server, model, thinking, replay, xhigh) in [
            (MessagesServer::Anthropic, "claude-opus-4-8", Adaptive, Signed, "xhigh"),
            (MessagesServer::Anthropic, "claude-opus-4.6", Adaptive, Signed, "max"),
            (MessagesServer::Anthropic, "claude-sonnet-4-6-20260101", Adaptive, Signed, "max"),
            (MessagesServer::Anthropic, "anthropic/claude-fable-5.1", Adaptive, Signed, "xhigh"),
            (MessagesServer::Anthropic, "claude-latest", Adaptive, Signed, "xhigh"),
            (MessagesServer::Anthropic, "claude-opus-4-20250514", Budget, Signed, "xhigh"),
            (MessagesServer::Anthropic, "claude-sonnet-4-5-20250929", Budget, Signed, "xhigh"),
            (MessagesServer::Anthropic, "claude-3-7-sonnet-20250219", Budget, Signed, "xhigh"),
            (MessagesServer::Anthropic, "claude-3-5-sonnet-20241022", None, Signed, "xhigh"),
            (MessagesServer::Anthropic, "claude-haiku-4-5", None, Signed, "xhigh"),
            (MessagesServer::Other, "claude-opus-4-5", Budget, Signed, "xhigh"),
            (MessagesServer::Kimi, "kimi-k2", Adaptive, All, "high"),
            (MessagesServer::Other, "kimi-k3", Adaptive, All, "high"),
            (MessagesServer::DeepSeek, "deepseek-v4", Budget, Unsigned, "high"),
            (MessagesServer::Other, "MiniMax-M2", Budget, Strip, "high"),
            (MessagesServer::Other, "glm-5", Budget, Strip, "high"),
        ] {
            let got = AnthropicDialect::of(server, ModelDots::ToDashes, model);
            assert_eq!(
                (got.thinking, got.replay, got.xhigh),
                (thinking, replay, xhigh),
                "{server:?} {model}"
            );
        }
    }

    #[test]
    fn model_names_are_spelled_for_the_endpoint() {
        for (dots, model, want) in [
            (ModelDots::ToDashes, "anthropic/claude-opus-4.6", "claude-opus-4-6"),
            (ModelDots::ToDashes, "claude-sonnet-5", "claude-sonnet-5"),
            (ModelDots::Keep, "claude-opus-4.6", "claude-opus-4.6"),
            (ModelDots::Keep, "MiniMax-M2.5", "MiniMax-M2.5"),
            (ModelDots::ToDashes, "glm-4.7", "glm-4.7"),
            (ModelDots::ToDashes, "us.anthropic.claude-opus-4-6-v1:0", "us.anthropic.claude-opus-4-6-v1:0"),
        ] {
            let dialect = AnthropicDialect::of(MessagesServer::Other, dots, model);
            assert_eq!(dialect.model_name(model), want, "{dots:?} {model}");
        }
    }
}
