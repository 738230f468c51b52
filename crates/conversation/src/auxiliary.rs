//! Auxiliary tasks: model calls outside of the conversation, for which a second model may be configured.

use crate::{BoxFuture, Message, SessionId};

/// The tasks, their names in settings and in the usage records, and their default timeouts in seconds.
macro_rules! tasks {
    ($($(#[$doc:meta])* $task:ident $name:literal $seconds:literal,)*) => {
        /// A task of the auxiliary model.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum AuxTask {
            $($(#[$doc])* $task,)*
        }

        impl AuxTask {
            pub const ALL: &[Self] = &[$(Self::$task,)*];

            /// The name in settings and in the usage records.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$task => $name,)*
                }
            }

            /// The default timeout of one model call.
            pub fn default_seconds(self) -> u64 {
                match self {
                    $(Self::$task => $seconds,)*
                }
            }
        }
    };
}

tasks! {
    /// Describes images to a model without image input.
    Vision "vision" 120,
    /// Condenses a web page.
    WebExtract "web_extract" 360,
    /// Writes the summary of a compaction. A summary that is aborted too early costs more than a slow one.
    Compression "compression" 300,
    Approval "approval" 30,
    SkillsHub "skills_hub" 30,
    Mcp "mcp" 30,
    Title "title_generation" 30,
    MemoryQuery "memory_query_rewrite" 8,
    SpokenTags "tts_audio_tags" 30,
    Triage "triage_specifier" 120,
    Decompose "kanban_decomposer" 180,
    DescribeProfile "profile_describer" 60,
    JudgeGoal "goal_judge" 60,
    Monitor "monitor" 60,
    Curator "curator" 600,
    Review "background_review" 120,
    MoaReference "moa_reference" 900,
    MoaAggregator "moa_aggregator" 900,
}

impl AuxTask {
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|task| task.as_str() == name)
    }

    /// The minimum timeout; lower settings are raised to it.
    pub fn min_seconds(self) -> u64 {
        match self {
            Self::Compression => 300,
            _ => 1,
        }
    }
}

/// One auxiliary model call, without tools.
#[derive(Debug, Clone, PartialEq)]
pub struct AuxRequest {
    pub task: AuxTask,
    /// The session whose budget pays for it.
    pub session: Option<SessionId>,
    pub system: String,
    pub messages: Vec<Message>,
    pub max_output_tokens: u64,
}

/// The auxiliary model, with its fallbacks.
pub trait AuxModel: Send + Sync {
    /// Calls the configured models in turn until one replies. The error is a message for the user.
    /// Dropping the future cancels the call.
    fn ask(&self, request: AuxRequest) -> BoxFuture<'_, Result<String, String>>;
}
