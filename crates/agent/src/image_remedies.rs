//! Remedies for images that an endpoint does not take: smaller copies first, then requests without them.

use crate::{Ports, Session, texts};
use hermes_conversation::{CacheBreak, Message, Quirk, TurnEvent};
use hermes_prompt::has_large_images;
use hermes_wire::{Fault, FaultClass};
use std::sync::Arc;

/// Sends smaller images from now on where a request has too many bytes; false where that changes nothing.
pub(crate) async fn shrink(session: &mut Session, fault: &Fault, ports: &Ports) -> bool {
    let helps = fault.class == FaultClass::PayloadTooLarge && can_shrink(session);
    if helps {
        set(Quirk::SmallImages, session, fault, ports).await;
    }
    helps
}

/// Leaves the images in the results of tools out from now on, where a request has too many bytes; false where
/// that changes nothing.
pub(crate) async fn leave_out(session: &mut Session, fault: &Fault, ports: &Ports) -> bool {
    let has_image =
        |message: &Arc<Message>| matches!(&**message, Message::Tool(result) if result.content.has_image());
    let helps = fault.class == FaultClass::PayloadTooLarge
        && !session.quirks_mut().text_results
        && session.history.messages().iter().any(has_image);
    if helps {
        set(Quirk::TextResults, session, fault, ports).await;
    }
    helps
}

async fn set(quirk: Quirk, session: &mut Session, fault: &Fault, ports: &Ports) {
    session.quirks_mut().set(quirk);
    session.ledger.declare(CacheBreak::Learned);
    ports.events.send(TurnEvent::Status(texts::repaired(quirk, &fault.detail))).await;
}

/// Returns true if smaller copies of images can be sent.
pub(crate) fn can_shrink(session: &mut Session) -> bool {
    let quirks = *session.quirks_mut();
    !quirks.small_images && !quirks.no_images && has_large_images(session.history.messages())
}
