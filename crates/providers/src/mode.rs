//! The format of calls to a model. Pure rules over provider, address and name of the model.

use crate::catalogue::{ModeRule, Provider, hosts};
use hermes_conversation::ModelName;
use hermes_wire::ApiMode;
use url::Url;

/// The name of a format, as it is written in settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeName {
    ChatCompletions,
    CodexResponses,
    AnthropicMessages,
}

impl ModeName {
    pub const ALL: [Self; 3] = [Self::ChatCompletions, Self::CodexResponses, Self::AnthropicMessages];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat_completions",
            Self::CodexResponses => "codex_responses",
            Self::AnthropicMessages => "anthropic_messages",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        Self::ALL.into_iter().find(|mode| mode.as_str() == text)
    }
}

/// A format and the rule that chose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenMode {
    pub mode: ModeName,
    pub why: ModeReason,
}

/// The rule that chose a format, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeReason {
    Explicit,
    Provider,
    Address,
    /// The newer format of the same address.
    Upgrade,
    Model,
    Usual,
}

impl ModeReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "the settings say so",
            Self::Provider => "the provider's format",
            Self::Address => "the address says so",
            Self::Upgrade => "the model's preferred format at this address",
            Self::Model => "the provider serves this model so",
            Self::Usual => "the usual format",
        }
    }
}

/// Chooses the format.
pub fn api_mode(explicit: Option<ModeName>, provider: &Provider, url: &Url, model: &str) -> ChosenMode {
    use ModeName::{ChatCompletions, CodexResponses};
    let chosen = |mode, why| ChosenMode { mode, why };
    let by_url = hosts::mode(url);
    // A saved `codex_responses` is often left over from another address; custom servers do not speak it unless their
    // address demands it.
    let leftover = provider.is_custom() && explicit == Some(CodexResponses) && by_url != explicit;
    if let Some(mode) = explicit.filter(|_| !leftover) {
        return chosen(mode, ModeReason::Explicit);
    }
    let name = slug(model);
    match provider.mode {
        ModeRule::Always(mode) => return chosen(mode, ModeReason::Provider),
        ModeRule::ByModel(table) => {
            let found = table.iter().find(|(start, _)| name.starts_with(start));
            return chosen(found.map_or(ChatCompletions, |(_, mode)| *mode), ModeReason::Model);
        }
        ModeRule::ByUrl | ModeRule::NeverUpgraded => {}
    }
    if let Some(mode) = by_url {
        return chosen(mode, ModeReason::Address);
    }
    let may_upgrade = provider.mode == ModeRule::ByUrl;
    let is_gpt5 = ModelName::of(model).is_gpt_5() && !provider.is_custom();
    if may_upgrade && (hosts::facts(url).prefers_responses || is_gpt5) {
        return chosen(CodexResponses, ModeReason::Upgrade);
    }
    chosen(ChatCompletions, ModeReason::Usual)
}

/// The model's own name, without `vendor/`.
fn slug(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase()
}

impl From<ModeName> for ApiMode {
    fn from(mode: ModeName) -> Self {
        match mode {
            ModeName::ChatCompletions => Self::ChatCompletions,
            ModeName::CodexResponses => Self::CodexResponses,
            ModeName::AnthropicMessages => Self::AnthropicMessages,
        }
    }
}

#[cfg(test)]
#[path = "mode_tests.rs"]
mod tests;
