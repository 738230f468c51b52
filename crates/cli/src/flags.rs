//! Flags that several commands share, in groups, and their values for one command.
//!
//! The root and `chat` take all groups; another command takes the groups that it uses. [`Common::or`] merges flags
//! before the subcommand with those after it.

use clap::Args;
use std::path::PathBuf;

/// The flags of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct Common {
    /// `--json`, which every command takes.
    #[arg(skip)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) conversation: ConversationFlags,
    /// Store a new session under this tag; `tool` hides it from lists
    #[arg(long, value_name = "TAG", help_heading = "Session")]
    pub(crate) source: Option<String>,
    #[command(flatten)]
    pub(crate) model: ModelFlags,
    /// Add the texts of these skills to the system prompt of a new session
    #[arg(short, long, value_name = "A,B", value_delimiter = ',', help_heading = "Prompt and tools")]
    pub(crate) skills: Vec<String>,
    #[command(flatten)]
    pub(crate) tools: ToolFlags,
    #[command(flatten)]
    pub(crate) prompt: PromptFlags,
    #[command(flatten)]
    pub(crate) turns: TurnFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

/// The prompt of a conversation, and the session it belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ConversationFlags {
    /// Answer one prompt and print only the reply; `-` reads the prompt from standard input
    #[arg(short = 'z', long = "oneshot", value_name = "PROMPT")]
    pub(crate) oneshot: Option<String>,
    /// Attach an image to the prompt (PNG, JPEG, GIF, WebP); repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) image: Vec<PathBuf>,
    /// Resume a session: its id, the start of its id, its title, or `latest`
    #[arg(short, long, value_name = "ID|TITLE", help_heading = "Session")]
    pub(crate) resume: Option<String>,
    /// Resume the newest session, or the newest with this title
    #[arg(
        short,
        long = "continue",
        value_name = "TITLE",
        num_args = 0..=1,
        default_missing_value = "",
        help_heading = "Session"
    )]
    pub(crate) continue_: Option<String>,
    /// Stay in the current directory when resuming a session of another one
    #[arg(long, help_heading = "Session")]
    pub(crate) no_restore_cwd: bool,
}

/// Files that a conversation writes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct OutputFlags {
    /// Write a JSON report of tokens and outcome to this file, also if the run fails
    #[arg(long, value_name = "PATH", help_heading = "Output files")]
    pub(crate) usage_file: Option<PathBuf>,
    /// Record the conversation to a new file, for `hermes replay` (docs/recording.md)
    #[arg(long, value_name = "FILE", help_heading = "Output files")]
    pub(crate) record: Option<PathBuf>,
}

/// The choice of a model for this run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ModelFlags {
    /// Use this model
    #[arg(id = "model", short, long, value_name = "MODEL", help_heading = "Model")]
    pub(crate) name: Option<String>,
    /// Use this provider; `hermes model list` names them
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) provider: Option<String>,
}

/// The choice of tools for this run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ToolFlags {
    /// Offer only these toolsets: terminal,file,todo,skills,delegation (`all` for everything)
    #[arg(short, long, value_name = "A,B", value_delimiter = ',', help_heading = "Prompt and tools")]
    pub(crate) toolsets: Option<Vec<String>>,
}

/// Additions to the system prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct PromptFlags {
    /// Leave SOUL.md, project files (AGENTS.md ...), memory and skills out of the prompt
    #[arg(long, help_heading = "Prompt and tools")]
    pub(crate) ignore_rules: bool,
    /// Add the session id to the prompt
    #[arg(long, help_heading = "Prompt and tools")]
    pub(crate) pass_session_id: bool,
}

/// Limits and approvals of the turns of this run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct TurnFlags {
    /// Limit the model calls of a turn
    #[arg(long, value_name = "N", help_heading = "Limits and approvals")]
    pub(crate) max_turns: Option<u32>,
    /// Run commands without asking for approval; the sandbox stays
    #[arg(long, help_heading = "Limits and approvals")]
    pub(crate) yolo: bool,
    /// Confine commands: workspace, read-only, or full for no sandbox
    #[arg(long, value_name = "PROFILE", value_parser = ["workspace", "read-only", "full"], help_heading = "Limits and approvals")]
    pub(crate) sandbox: Option<String>,
    /// Run the hooks in config.yaml without asking for approval (docs/hooks.md)
    #[arg(long, help_heading = "Limits and approvals")]
    pub(crate) accept_hooks: bool,
}

impl Common {
    /// These flags, with the value of `outer` for each one that is missing.
    pub(crate) fn or(self, outer: Self) -> Self {
        Self {
            json: self.json || outer.json,
            conversation: self.conversation.or(outer.conversation),
            model: ModelFlags {
                name: self.model.name.or(outer.model.name),
                provider: self.model.provider.or(outer.model.provider),
            },
            tools: ToolFlags { toolsets: self.tools.toolsets.or(outer.tools.toolsets) },
            turns: TurnFlags {
                max_turns: self.turns.max_turns.or(outer.turns.max_turns),
                yolo: self.turns.yolo || outer.turns.yolo,
                accept_hooks: self.turns.accept_hooks || outer.turns.accept_hooks,
                sandbox: self.turns.sandbox.or(outer.turns.sandbox),
            },
            prompt: PromptFlags {
                ignore_rules: self.prompt.ignore_rules || outer.prompt.ignore_rules,
                pass_session_id: self.prompt.pass_session_id || outer.prompt.pass_session_id,
            },
            source: self.source.or(outer.source),
            skills: if self.skills.is_empty() { outer.skills } else { self.skills },
            output: OutputFlags {
                usage_file: self.output.usage_file.or(outer.output.usage_file),
                record: self.output.record.or(outer.output.record),
            },
        }
    }

    /// The same flags without the choice of a model, for commands that change that choice.
    pub(crate) fn without_model(&self) -> Self {
        Self { model: ModelFlags::default(), ..self.clone() }
    }
}

impl ConversationFlags {
    fn or(self, outer: Self) -> Self {
        Self {
            oneshot: self.oneshot.or(outer.oneshot),
            image: if self.image.is_empty() { outer.image } else { self.image },
            resume: self.resume.or(outer.resume),
            continue_: self.continue_.or(outer.continue_),
            no_restore_cwd: self.no_restore_cwd || outer.no_restore_cwd,
        }
    }
}
