//! Prompt prefix tracking: the comparison of each request with the one before it.
//!
//! A provider's prompt cache is hit only as far as a request begins with the same bytes as an earlier one.

use serde::{Deserialize, Serialize};

/// The reason for an intended change of the prompt prefix. Code that changes the prefix declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheBreak {
    /// Another model is used from now on, with its own prompt cache.
    ModelSwitch,
    /// The set of tools changed.
    ToolSet,
    /// Settings that are part of the system prompt were changed between two runs.
    Settings,
    /// A compaction replaced older messages by a summary.
    Compaction,
    /// The user undid the last turn.
    Rewind,
    /// The user reloaded the memory.
    MemoryReload,
    /// The endpoint rejected a part of the request, which is omitted from now on ([`Quirk`](crate::Quirk)).
    Learned,
    /// The final model call of a turn without tools.
    WithoutTools,
}

impl CacheBreak {
    pub const ALL: [Self; 8] = [
        Self::ModelSwitch,
        Self::ToolSet,
        Self::Settings,
        Self::Compaction,
        Self::Rewind,
        Self::MemoryReload,
        Self::Learned,
        Self::WithoutTools,
    ];

    /// The reason as shown to the user.
    pub fn describe(self) -> &'static str {
        match self {
            Self::ModelSwitch => "the model was changed",
            Self::ToolSet => "the set of tools changed",
            Self::Settings => "settings of the system prompt were changed",
            Self::Compaction => "older messages were summarised",
            Self::Rewind => "the last turn was undone",
            Self::MemoryReload => "the memory was reloaded",
            Self::Learned => "the endpoint rejected a part of the request, which is now omitted",
            Self::WithoutTools => "the final model call of the turn had no tools",
        }
    }
}

/// A part of a prompt, in the order of a provider's cache.
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

/// The relation of a request's prompt to that of the request before it to the same model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefixStatus {
    /// There is no request before it.
    First,
    /// It begins with the whole prompt of the one before.
    Extends,
    /// The prefix changed for a declared reason.
    Broken(CacheBreak),
    /// The prefix changed unexpectedly, from this part on.
    Unexplained(PromptPart),
}

/// Hashes and sizes of a request's prompt, for comparison with the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PrefixDigest {
    pub tools: u64,
    pub system: u64,
    /// The number of messages.
    pub count: u64,
    /// One hash over all messages.
    pub messages: u64,
    /// Bytes of the prompt.
    pub bytes: u64,
}

/// The prompt-cache entry of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheEntry {
    #[serde(rename = "step")]
    pub status: PrefixStatus,
    /// Bytes of the previous prompt that this request repeats unchanged, as its prefix.
    pub kept: u64,
    /// Bytes of the previous prompt that are not part of the prefix any more.
    pub lost: u64,
    /// The request offers tools.
    pub has_tools: bool,
    pub mark: PrefixDigest,
}
