//! The state of a session for an observer that joins late.

use crate::hub::TurnId;
use crate::questions::PendingQuestion;
use hermes_conversation::{CallId, Message, SessionId, TurnEvent};
use std::sync::Arc;

/// A session at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub session: SessionId,
    pub title: Option<String>,
    pub model: String,
    pub provider: String,
    /// The messages that the model is sent, up to the last finished turn.
    pub messages: Arc<[Arc<Message>]>,
    /// The turn that runs now.
    pub running: Option<RunningTurn>,
    /// Approvals and questions that are not answered yet.
    pub questions: Vec<PendingQuestion>,
}

/// A turn that is not over.
#[derive(Debug, Clone, PartialEq)]
pub struct RunningTurn {
    pub turn: TurnId,
    pub prompt: String,
    /// The text of the reply so far, since the last tool call.
    pub text: String,
    pub reasoning: String,
    /// The tool calls that have started and not finished.
    pub open_calls: Vec<OpenCall>,
}

/// A tool call that is running.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCall {
    pub id: CallId,
    pub name: String,
    pub arguments: String,
}

impl RunningTurn {
    pub(crate) fn new(turn: TurnId, prompt: String) -> Self {
        Self { turn, prompt, text: String::new(), reasoning: String::new(), open_calls: Vec::new() }
    }

    /// Takes an event into account.
    pub(crate) fn apply(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::Text(more) => self.text.push_str(more),
            TurnEvent::Reasoning(more) => self.reasoning.push_str(more),
            TurnEvent::Retracted => self.clear_texts(),
            TurnEvent::ToolStarted { id, name, arguments } => {
                self.clear_texts();
                let (id, name, arguments) = (id.clone(), name.clone(), arguments.clone());
                self.open_calls.push(OpenCall { id, name, arguments });
            }
            TurnEvent::ToolFinished { id, .. } => self.open_calls.retain(|call| call.id != *id),
            _ => {}
        }
    }

    fn clear_texts(&mut self) {
        self.text.clear();
        self.reasoning.clear();
    }
}
