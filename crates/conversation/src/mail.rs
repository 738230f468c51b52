//! The mailbox: messages sent to a session while a turn runs, and the point at which each joins the conversation.
//!
//! A message is recorded before it is acknowledged. Reading it does not remove it: it counts as delivered with
//! the commit of the message that contains it (see [`Opening`](crate::Opening) and
//! [`Settlement`](crate::Settlement)), so each item is either in the history, once, or still queued.

use crate::{BoxFuture, Lease, MailId, RecordError};
use serde::{Deserialize, Serialize};

/// The effect of a queued message on the running turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailMode {
    /// Stops the turn; the message opens the next one.
    Interrupt,
    /// Lets the turn finish; the message opens the next one.
    Queue,
    /// Adds the message to the next tool result of the turn.
    Steer,
}

impl MailMode {
    pub const ALL: [Self; 3] = [Self::Interrupt, Self::Queue, Self::Steer];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Interrupt => "interrupt",
            Self::Queue => "queue",
            Self::Steer => "steer",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text)
    }
}

/// A message that the user sent while a turn was running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    pub id: MailId,
    pub mode: MailMode,
    pub text: String,
}

/// A point at which queued messages may join the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryPoint {
    /// The newest tool result, before it is recorded; takes messages that steer.
    ToolResult,
    /// The message that opens a turn; takes all modes.
    NextTurn,
}

impl DeliveryPoint {
    /// Returns true if messages of this mode are delivered at this point.
    pub fn takes(self, mode: MailMode) -> bool {
        match self {
            Self::ToolResult => mode == MailMode::Steer,
            Self::NextTurn => true,
        }
    }
}

/// The queued messages of a session.
pub trait Mailbox: Send + Sync {
    /// The messages to deliver at `point`, oldest first. They stay queued until the commit of the message that
    /// contains them.
    fn waiting<'a>(
        &'a self,
        lease: &'a Lease,
        point: DeliveryPoint,
    ) -> BoxFuture<'a, Result<Vec<Mail>, RecordError>>;
}

/// A mailbox that is always empty.
#[derive(Debug, Default)]
pub struct NoMail;

impl Mailbox for NoMail {
    fn waiting<'a>(
        &'a self,
        _: &'a Lease,
        _: DeliveryPoint,
    ) -> BoxFuture<'a, Result<Vec<Mail>, RecordError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// The messages that open the next turn: all that interrupt, else the oldest one alone.
pub fn mail_for_next_turn(mut waiting: Vec<Mail>) -> Vec<Mail> {
    let is_urgent = |mail: &Mail| mail.mode == MailMode::Interrupt;
    if waiting.iter().any(is_urgent) {
        waiting.retain(is_urgent);
    } else {
        waiting.truncate(1);
    }
    waiting
}

/// Joins several items into one message.
pub fn join_mail(mail: &[Mail]) -> String {
    mail.iter().map(|mail| mail.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use MailMode::{Interrupt, Queue, Steer};

    fn mail(id: i64, mode: MailMode) -> Mail {
        Mail { id: MailId(id), mode, text: format!("m{id}") }
    }

    #[test]
    fn interrupts_or_oldest_item_open_next_turn() {
        for (waiting, want) in [
            (vec![], vec![]),
            (vec![Queue, Queue], vec![1]),
            (vec![Steer, Queue], vec![1]),
            (vec![Queue, Interrupt, Steer, Interrupt], vec![2, 4]),
        ] {
            let items = (1..).zip(&waiting).map(|(id, mode)| mail(id, *mode)).collect();
            let opened: Vec<i64> = mail_for_next_turn(items).iter().map(|mail| mail.id.0).collect();
            assert_eq!(opened, want, "{waiting:?}");
        }
    }

    #[test]
    fn only_steering_mail_joins_tool_results() {
        for (point, want) in
            [(DeliveryPoint::ToolResult, [false, false, true]), (DeliveryPoint::NextTurn, [true, true, true])]
        {
            assert_eq!(MailMode::ALL.map(|mode| point.takes(mode)), want, "{point:?}");
        }
    }

    #[test]
    fn modes_have_one_spelling() {
        for mode in MailMode::ALL {
            assert_eq!(MailMode::parse(mode.as_str()), Some(mode));
        }
        assert_eq!(MailMode::parse("Queue"), None);
        assert_eq!(join_mail(&[mail(1, Queue), mail(2, Queue)]), "m1\n\nm2");
    }
}
