//! Storing a conversation that took place elsewhere, as one finished turn.

use crate::{Closing, Lease, Message, RecordError, Transcript, UserMessage};

/// Records `first` and the messages after it as one closed turn. `rest` ends with a reply.
pub async fn record_finished_turn(
    transcript: &dyn Transcript,
    lease: &Lease,
    first: UserMessage,
    rest: Vec<Message>,
) -> Result<(), RecordError> {
    let turn = transcript.open_turn(lease, first.into()).await?;
    transcript.extend(lease, &turn, &rest, None).await?;
    let closing = Closing { message: None, spent: None, exit_reason: "given".to_owned() };
    transcript.close(lease, turn, closing).await
}
