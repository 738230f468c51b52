//! What a person says to a session while a turn runs, and when it joins the conversation.
//!
//! Mail is recorded before anybody says that it was taken. It is handed out by reading; what makes
//! it count as delivered is the commit of the message it joins (see [`Opening`](crate::Opening) and
//! [`Settlement`](crate::Settlement)), so each item is in the history once or still waiting.

use crate::{BoxFuture, Lease, MailId, RecordError};
use serde::{Deserialize, Serialize};

/// What is to become of the running turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailMode {
    /// It is stopped, and this is said next.
    Interrupt,
    /// It goes on; this is said when it is over.
    Queue,
    /// It goes on and hears this beside its next tool result.
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

/// Something a person said while a turn was running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    pub id: MailId,
    pub mode: MailMode,
    pub text: String,
}

/// A place at which waiting mail may join the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryPoint {
    /// Beside the newest tool result, before it is recorded: for what steers.
    ToolResult,
    /// As the message that opens a turn: for everything.
    NextTurn,
}

impl DeliveryPoint {
    /// Whether mail of this mode is due here.
    pub fn takes(self, mode: MailMode) -> bool {
        match self {
            Self::ToolResult => mode == MailMode::Steer,
            Self::NextTurn => true,
        }
    }
}

/// What was said to a session while it was busy.
pub trait Mailbox: Send + Sync {
    /// What waits for `point`, oldest first. Reading takes nothing away: an item waits until the
    /// commit of the message that names it.
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

/// The mail that opens the next turn: all that interrupted together, else the oldest item alone.
pub fn mail_for_next_turn(mut waiting: Vec<Mail>) -> Vec<Mail> {
    let is_urgent = |mail: &Mail| mail.mode == MailMode::Interrupt;
    if waiting.iter().any(is_urgent) {
        waiting.retain(is_urgent);
    } else {
        waiting.truncate(1);
    }
    waiting
}

/// Several items as one message.
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
    fn what_opens_the_next_turn() {
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
    fn only_what_steers_joins_a_result() {
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
