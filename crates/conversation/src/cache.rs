//! Whether a request goes on from the one before. What a provider has kept of a prompt is used again only
//! as far as the next one begins with the same bytes.

use serde::{Deserialize, Serialize};

/// A change to what was already sent that somebody meant. Code that makes one declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheBreak {
    /// Another model answers from now on, with a prompt of its own.
    ModelSwitch,
    /// Other tools are on offer.
    ToolSet,
    /// Words that the settings add to every prompt were changed between two runs.
    Settings,
    /// A summary took the place of older messages.
    Compaction,
    /// The memory was read again because somebody wanted that.
    MemoryReload,
    /// The endpoint refused something that is left out from now on.
    Learned,
    /// A last answer is asked for in words, without tools.
    WithoutTools,
}

impl CacheBreak {
    pub const ALL: [Self; 7] = [
        Self::ModelSwitch,
        Self::ToolSet,
        Self::Settings,
        Self::Compaction,
        Self::MemoryReload,
        Self::Learned,
        Self::WithoutTools,
    ];

    /// For people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::ModelSwitch => "the model was changed",
            Self::ToolSet => "other tools are on offer",
            Self::Settings => "settings of the prompt were changed",
            Self::Compaction => "older messages were summarised",
            Self::MemoryReload => "the memory was read again",
            Self::Learned => "the endpoint refused something that is left out now",
            Self::WithoutTools => "a last answer was asked for without tools",
        }
    }
}

/// A part of a prompt, as a provider's cache sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptPart {
    Tools,
    System,
    Messages,
}

impl PromptPart {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::System => "system prompt",
            Self::Messages => "messages",
        }
    }
}

/// How a request relates to the one before it at the same model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefixStatus {
    /// There was none.
    First,
    /// It begins with all of the one before.
    Extends,
    /// It does not, for a reason.
    Broken(CacheBreak),
    /// It does not, and nobody knows why: from this part on.
    Unexplained(PromptPart),
}

/// What is remembered of a request in order to compare the next one with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PrefixDigest {
    pub tools: u64,
    pub system: u64,
    /// How many messages it had, and one number for all of them.
    pub count: u64,
    pub messages: u64,
    /// Bytes of its prompt.
    pub bytes: u64,
}

/// The entry of one request in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheEntry {
    #[serde(rename = "step")]
    pub status: PrefixStatus,
    /// Bytes of the one before that this one has sent again unchanged, in their place.
    pub kept: u64,
    /// Bytes of the one before that had to be sent as new.
    pub lost: u64,
    /// Tools are on offer.
    pub has_tools: bool,
    pub mark: PrefixDigest,
}
