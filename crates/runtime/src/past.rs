//! A past that a session is given: stored as one turn that is over.

use hermes_conversation::{Closing, Lease, Message, RecordError, Transcript, UserMessage};
use hermes_store::SessionDb;

/// Stores what was said before. `rest` ends with an answer.
pub(crate) async fn store(
    store: &SessionDb,
    lease: &Lease,
    first: UserMessage,
    rest: Vec<Message>,
) -> Result<(), RecordError> {
    let turn = store.open_turn(lease, first.into()).await?;
    store.extend(lease, &turn, &rest, None).await?;
    let closing = Closing { message: None, spent: None, exit_reason: "given".to_owned() };
    store.close(lease, turn, closing).await
}
