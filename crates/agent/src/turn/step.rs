//! Events that a turn takes, and steps that it returns.

use crate::NotCompacted;
use crate::recovery::Remedy;
use hermes_conversation::RecordError;
use hermes_wire::{Fault, Reply};

/// An event that a turn reacts to.
#[derive(Debug)]
pub enum Event {
    /// The user's message is recorded.
    Started,
    Replied(Box<Reply>),
    Failed(Fault),
    /// After this fault another key was looked for, and there is none.
    NoOtherKey(Fault),
    /// The model was not asked: its server gives it so few tokens that it cannot work with tools.
    WindowTooSmall {
        tokens: u64,
        is_ollama: bool,
    },
    /// The calls of this reply were cut, and the output cap cannot be raised.
    CapIsFull(Box<Reply>),
    /// After this refusal the history could not be made shorter; `why` says what stood against it, and
    /// nothing where compaction is off.
    NotCompacted {
        fault: Fault,
        why: Option<String>,
    },
    /// Every call of the last reply has a recorded result.
    ToolsDone,
    /// Every call has a result, and none of them named a tool that exists. The names, for the user.
    UnknownTools(String),
    /// Every call has a result, and the settings end a turn whose calls repeat like these.
    GoesInCircles(String),
    Remedied,
    /// The user cancelled the turn.
    Cancelled(When),
    StoreFailed(RecordError),
}

/// The activity of the turn when it was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    CallingModel,
    RunningTools,
}

/// The next action of a turn.
#[derive(Debug, PartialEq)]
pub enum Step {
    CallModel(Asking),
    RunTools(Box<Reply>),
    Apply(Remedy),
    Finish(Outcome),
}

/// The facts about the calls of one reply that later decisions depend on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BatchNotes {
    /// Code files that were changed and not checked since, for a sentence.
    pub unchecked: Option<String>,
    /// Every call was housekeeping; see `ToolFacts::is_housekeeping`.
    pub only_housekeeping: bool,
    /// Every call ran a script.
    pub only_scripts: bool,
}

/// The kind of reply that is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    WithTools,
    InWords,
}

/// The end of a turn.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// With a reply for the user. `reply` is the message to record.
    Answered {
        text: String,
        reply: Box<Reply>,
        exit_reason: String,
    },
    /// With a reply that is known to be incomplete.
    Partial {
        text: String,
        reply: Option<Box<Reply>>,
        exit_reason: String,
        why: String,
    },
    Failed {
        fault: Fault,
        exit_reason: String,
        /// Set where the request was too long and stayed so.
        not_compacted: Option<NotCompacted>,
    },
    Interrupted(When),
    StoreFailed(RecordError),
}
