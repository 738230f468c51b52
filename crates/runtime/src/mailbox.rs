//! The mailbox of one session: messages that are sent to it while a turn runs.

use crate::RuntimeError;
use hermes_conversation::{MailId, MailMode, SessionId};
use hermes_store::SessionDb;

/// Takes messages for one session, beside the turn that runs in it.
#[derive(Debug, Clone)]
pub struct SessionMailbox {
    pub(crate) store: SessionDb,
    pub(crate) session: SessionId,
}

impl SessionMailbox {
    /// Stores a message. It is on disk when this returns.
    pub async fn post(&self, mode: MailMode, text: &str) -> Result<MailId, RuntimeError> {
        Ok(self.store.post(&self.session, mode, text).await?)
    }
}
