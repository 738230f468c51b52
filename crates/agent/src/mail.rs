//! Delivery of queued messages to a turn, and the notification of the front end.

use crate::{Ports, Session};
use hermes_conversation::{Content, DeliveryPoint, Mail, RecordError, ToolMessage, TurnEvent};
use hermes_prompt::{steered, without_pretence};

/// The queued messages that steer the running turn.
pub(crate) async fn steering(session: &Session, ports: &Ports) -> Result<Vec<Mail>, RecordError> {
    ports.mailbox.waiting(&session.lease, DeliveryPoint::ToolResult).await
}

/// The steering messages that were not delivered, as one text.
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

/// Returns true if a message can be added to this result.
pub(crate) fn can_join(message: &ToolMessage) -> bool {
    message.api_content.is_some() || matches!(message.content, Content::Text(_))
}

/// Adds the user's messages to a result: to the text that is sent, not to the one that is displayed and
/// stored as the result.
pub(crate) fn join(message: &mut ToolMessage, mail: &[Mail]) {
    message.api_content = Some(steered(sent(message), &lines(mail)));
}

/// Removes the markers of user messages from a result that contains them already.
pub(crate) fn disarm(message: &mut ToolMessage) {
    // The texts beside images are of tools alone.
    if can_join(message)
        && let Some(harmless) = without_pretence(sent(message))
    {
        message.api_content = Some(harmless);
    }
}

fn sent(message: &ToolMessage) -> &str {
    message.api_content.as_deref().unwrap_or(message.content.as_text())
}

fn lines(mail: &[Mail]) -> String {
    mail.iter().map(|mail| mail.text.as_str()).collect::<Vec<_>>().join("\n")
}
