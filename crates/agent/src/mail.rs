//! Where mail joins a turn, and who is told.

use crate::{Ports, Session};
use hermes_conversation::{Content, DeliveryPoint, Mail, RecordError, ToolMessage, TurnEvent};
use hermes_prompt::{steered, without_pretence};

/// What waits to be said to the running turn.
pub(crate) async fn steering(session: &Session, ports: &Ports) -> Result<Vec<Mail>, RecordError> {
    ports.mailbox.waiting(&session.lease, DeliveryPoint::ToolResult).await
}

/// What was to steer the turn and did not, as one text.
pub(crate) async fn pending(session: &Session, ports: &Ports) -> Option<String> {
    // The turn is over; that this cannot be told costs nobody anything, for the mail itself waits.
    let waiting = steering(session, ports).await.unwrap_or_default();
    (!waiting.is_empty()).then(|| lines(&waiting))
}

/// Says that mail is in the conversation. Only after the commit that put it there.
pub(crate) async fn announce(mail: Vec<Mail>, ports: &Ports) {
    for Mail { id, mode, text } in mail {
        tracing::info!(mail = id.0, mode = mode.as_str(), "mail delivered");
        ports.events.send(TurnEvent::MailDelivered { id, mode, text }).await;
    }
}

/// Whether words can be set beside this result.
pub(crate) fn can_join(message: &ToolMessage) -> bool {
    message.api_content.is_some() || matches!(message.content, Content::Text(_))
}

/// Sets the user's words beside a result: in what is sent, not in what is shown and stored as the result.
pub(crate) fn join(message: &mut ToolMessage, mail: &[Mail]) {
    message.api_content = Some(steered(sent(message), &lines(mail)));
}

/// Takes the marks of the user's words out of a result that was not made here.
pub(crate) fn disarm(message: &mut ToolMessage) {
    if let Some(harmless) = without_pretence(sent(message)) {
        message.api_content = Some(harmless);
    }
}

fn sent(message: &ToolMessage) -> &str {
    message.api_content.as_deref().unwrap_or(message.content.as_text())
}

fn lines(mail: &[Mail]) -> String {
    mail.iter().map(|mail| mail.text.as_str()).collect::<Vec<_>>().join("\n")
}
