//! Small jobs beside the conversation, for which a second model may be asked.

use crate::{BoxFuture, Message, SessionId};

/// The jobs, their names in settings and in the ledger, and how many seconds each may take.
macro_rules! tasks {
    ($($(#[$doc:meta])* $task:ident $name:literal $seconds:literal,)*) => {
        /// What a second model is asked for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum AuxTask {
            $($(#[$doc])* $task,)*
        }

        impl AuxTask {
            pub const ALL: &[Self] = &[$(Self::$task,)*];

            /// The name in settings and in the ledger.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$task => $name,)*
                }
            }

            /// How long one answer may take unless the settings say otherwise.
            pub fn default_seconds(self) -> u64 {
                match self {
                    $(Self::$task => $seconds,)*
                }
            }
        }
    };
}

tasks! {
    /// Describing images to a model that sees none.
    Vision "vision" 120,
    /// Condensing a web page.
    WebExtract "web_extract" 360,
    /// Summing up the older part of a conversation. A summary given up too early costs more than
    /// one waited for.
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

    /// Less time than this is never enough, whatever the settings say.
    pub fn min_seconds(self) -> u64 {
        match self {
            Self::Compression => 300,
            _ => 1,
        }
    }
}

/// One question without tools.
#[derive(Debug, Clone, PartialEq)]
pub struct AuxRequest {
    pub task: AuxTask,
    /// Whose budget pays.
    pub session: Option<SessionId>,
    pub system: String,
    pub messages: Vec<Message>,
    pub max_output_tokens: u64,
}

/// A second model for small jobs.
pub trait AuxModel: Send + Sync {
    /// Asks until somebody answers or nobody is left. The error is a sentence for a person.
    /// Dropping the future abandons the question.
    fn ask(&self, request: AuxRequest) -> BoxFuture<'_, Result<String, String>>;
}
