//! Undoing the last turn of a session.

use super::{Session, State};
use crate::RuntimeError;
use hermes_conversation::{CacheBreak, Message, MessageId};
use hermes_store::{Include, SessionDb, StoredMessage};

/// A turn that was undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The prompt of the turn.
    pub prompt: String,
    /// The number of messages that left the conversation.
    pub messages: u64,
}

impl Session {
    /// Takes the last prompt and everything after it out of the conversation. The messages stay in the store, inactive,
    /// as the Python release leaves them. `None` if there is no prompt to undo.
    pub async fn undo_last_turn(&mut self) -> Result<Option<Undone>, RuntimeError> {
        if self.is_unsure {
            self.reload().await?;
        }
        if !self.is_stored() {
            return Ok(None);
        }
        let undone = undo_last_turn(self.runtime.store()?, &self.id).await?;
        if undone.is_some() {
            self.reload().await?;
            self.restore_tool_state();
            if let State::Live(session) = &mut self.state {
                session.ledger.declare(CacheBreak::Rewind);
            }
        }
        Ok(undone)
    }
}

/// Undoes the last turn of a stored session. Refused while another live process holds it.
pub async fn undo_last_turn(
    store: &SessionDb,
    session: &hermes_conversation::SessionId,
) -> Result<Option<Undone>, RuntimeError> {
    let messages = store.messages(session, Include::Active).await?;
    let Some(prompt) = last_prompt(&messages) else { return Ok(None) };
    let rewound = store.rewind(session, prompt).await?;
    Ok(Some(Undone { prompt: rewound.text, messages: rewound.messages }))
}

/// The newest prompt. A summary at the beginning of the conversation is none: it stands for many turns.
fn last_prompt(messages: &[StoredMessage]) -> Option<MessageId> {
    let is_prompt = |(place, row): &(usize, &StoredMessage)| {
        matches!(row.message, Message::User(_)) && !(*place == 0 && row.is_generated)
    };
    let (_, row) = messages.iter().enumerate().rev().find(is_prompt)?;
    Some(row.id)
}
