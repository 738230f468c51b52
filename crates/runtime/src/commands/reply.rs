//! The reply to a slash command, for any front end to render.

use crate::ContextMeter;
use hermes_conversation::{CompactionReport, MailMode, SessionId};

/// The reply to a slash command.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandReply {
    /// Lines for the user.
    Text(String),
    /// Rows under an optional headline.
    Table { title: Option<String>, rows: Vec<Vec<String>> },
    /// A headline and lines to choose from.
    Choices { title: String, choices: Vec<Choice> },
    /// A view with a layout of its own.
    Panel(Panel),
    /// Something that only the front end can do.
    Effect(Effect),
}

/// One line of [`CommandReply::Choices`].
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The line to enter for it.
    pub line: String,
    pub label: String,
    /// The id of the thing that is chosen.
    pub id: String,
    /// Seconds since 1970.
    pub at: f64,
}

/// A view with a layout of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Panel {
    /// The context window and its parts.
    Context(ContextMeter),
    /// A compaction that was just done.
    Compacted(Box<CompactionReport>),
}

/// Something that only the front end can do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Submit this text as a prompt.
    Submit(String),
    /// Submit this text while a turn runs.
    Queue {
        mode: MailMode,
        text: String,
    },
    /// Close this session and start another one.
    NewSession {
        title: Option<String>,
    },
    /// Close this session and continue that one.
    Resume(SessionId),
    ShowBusyMode,
    SetBusyMode(MailMode),
    ToggleStatusBar,
    Quit,
}
