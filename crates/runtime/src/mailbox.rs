//! Where front ends leave what a person says while a turn runs.

use crate::RuntimeError;
use hermes_conversation::{MailMode, SessionId, TurnEvent};
use hermes_store::SessionDb;

/// Takes mail for one session, beside the turn that runs in it.
#[derive(Debug, Clone)]
pub struct SessionMailbox {
    pub(crate) store: SessionDb,
    pub(crate) session: SessionId,
}

impl SessionMailbox {
    /// Keeps what was said. The event says so, and there is none before it is on disk.
    pub async fn post(&self, mode: MailMode, text: &str) -> Result<TurnEvent, RuntimeError> {
        let id = self.store.post(&self.session, mode, text).await?;
        Ok(TurnEvent::MailAccepted { id, mode, text: text.to_owned() })
    }
}
