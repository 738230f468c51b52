//! Facts about models that follow from their names alone.
//!
//! The one place that compares names of model families. The treatment of a model by a provider is on the
//! provider's row, in the catalogue of `providers`.

mod output;
mod silence;

pub use output::{listed_output, max_output};
pub use silence::silent_thinking;

/// A model's name in the form in which it is compared: lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName(String);

/// Families that the system prompt tells to act, some with a paragraph of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptFamily {
    Google,
    OpenAi,
    /// A family without a paragraph of its own.
    Other,
}

/// The control over its reasoning that a model of OpenAI or xAI offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedReasoning {
    Adjustable,
    Fixed,
    Never,
}

impl ModelName {
    pub fn of(model: &str) -> Self {
        Self(model.to_ascii_lowercase())
    }

    fn has(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.0.contains(part))
    }

    /// The name without the vendor before it.
    fn own(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    fn begins(&self, starts: &[&str]) -> bool {
        starts.iter().any(|start| self.own().starts_with(start))
    }

    /// Returns true where it contains the name of one of these families.
    pub fn is_of(&self, families: &[&str]) -> bool {
        self.has(families)
    }

    pub fn is_claude(&self) -> bool {
        self.has(&["claude"])
    }

    pub fn is_haiku(&self) -> bool {
        self.has(&["haiku"])
    }

    pub fn is_kimi(&self) -> bool {
        self.has(&["kimi"])
    }

    pub fn is_deepseek(&self) -> bool {
        self.has(&["deepseek"])
    }

    pub fn is_gpt_5(&self) -> bool {
        self.begins(&["gpt-5"])
    }

    /// A Grok behind a router, by the vendor in its name.
    pub fn is_routed_grok(&self) -> bool {
        ["x-ai/grok-", "xai/grok-"].iter().any(|start| self.0.starts_with(start))
    }

    /// The version of a Claude; the newest there can be when it names none. Dates and revisions are no part of it.
    pub fn claude_version(&self) -> Option<(u32, u32)> {
        let (_, rest) = self.0.split_once("claude")?;
        let mut words = rest.split(|character: char| !character.is_ascii_alphanumeric());
        let number = |word: &str| word.parse::<u32>().ok().filter(|_| word.len() <= 2);
        let Some(major) = words.find_map(number) else { return Some((u32::MAX, 0)) };
        Some((major, words.next().and_then(number).unwrap_or(0)))
    }

    /// Instructions have the role `developer`.
    pub fn takes_developer_role(&self) -> bool {
        self.has(&["gpt-5", "codex"])
    }

    /// Output caps are called `max_completion_tokens`, wherever it is served.
    pub fn takes_completion_cap(&self) -> bool {
        self.begins(&["gpt-4o", "gpt-4.1", "gpt-5", "o1", "o3", "o4"])
    }

    /// Calls carry extras that have to be sent back.
    pub fn keeps_extra_content(&self) -> bool {
        self.has(&["gemini", "gemma"])
    }

    /// Assistant messages must carry their reasoning, wherever it is served. Kimi's models are missing on
    /// purpose: routers that serve them refuse the field.
    pub fn echoes_reasoning(&self) -> bool {
        self.has(&["deepseek", "mimo"])
    }

    /// The reasoning of a Grok at xAI's own server.
    pub fn grok_reasoning(&self) -> NamedReasoning {
        let any = |words: &[&str]| words.iter().any(|word| self.own().contains(word));
        match () {
            () if any(&["non-reasoning"]) => NamedReasoning::Never,
            () if any(&["grok-3-mini", "grok-4.3", "multi-agent"]) => NamedReasoning::Adjustable,
            () if self.begins(&["grok-2", "grok-3"]) => NamedReasoning::Never,
            () => NamedReasoning::Fixed,
        }
    }

    /// The reasoning of any other model in the Responses format. OpenAI answers 400 when the older ones are asked
    /// for encrypted reasoning or given an effort.
    pub fn responses_reasoning(&self) -> NamedReasoning {
        let is_chat = self.begins(&["gpt-"]) && self.own().contains("-chat");
        match self.begins(&["gpt-3", "gpt-4", "chatgpt-"]) || is_chat {
            true => NamedReasoning::Never,
            false => NamedReasoning::Adjustable,
        }
    }

    /// The family by which the system prompt speaks to the model, where it is one that needs it.
    pub fn prompt_family(&self) -> Option<PromptFamily> {
        match () {
            () if self.has(&["gemini", "gemma"]) => Some(PromptFamily::Google),
            () if self.has(&["gpt", "codex", "grok"]) => Some(PromptFamily::OpenAi),
            () if self.has(&["glm", "qwen", "deepseek"]) => Some(PromptFamily::Other),
            () => None,
        }
    }

    /// The part of its window that a model is known to use well, where that is not the usual one.
    pub fn compaction_threshold(&self) -> Option<f64> {
        match () {
            () if self.has(&["codex-spark"]) => Some(0.70),
            () if self.has(&["codex"]) && self.has(&["gpt-5.4", "gpt-5.5", "gpt-5.6"]) => Some(0.85),
            () if self.has(&["trinity-large-thinking"]) => Some(0.75),
            () => None,
        }
    }
}
