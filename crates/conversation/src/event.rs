//! News of a turn, on its way up to whoever shows it.
//!
//! The channel is bounded. Text that arrives faster than it is shown is joined into larger
//! pieces; every other event is delivered, and its sender waits if it must.

use crate::{CallId, CompactionReport, MailId, MailMode, SessionId, Usage};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// The way in which a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallEnding {
    /// It was carried out, or answered by its tool without being carried out.
    #[default]
    Answered,
    /// The user or a hook did not allow it.
    NotAllowed,
    /// It needed an approval, and no one is available to give it.
    NoApprover,
    /// It was a question to the user, who stopped the turn instead.
    Unanswered,
}

/// Something that happened in a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEvent {
    /// The user's message is on disk.
    Accepted,
    Text(String),
    Reasoning(String),
    /// What was streamed since the last finished step does not count; it is being asked again.
    Retracted,
    /// A model was asked and has said nothing yet that is not reasoning, or has now.
    Thinking {
        active: bool,
    },
    /// The model began to write a call of this tool.
    ToolPreparing {
        name: String,
    },
    ToolStarted {
        id: CallId,
        name: String,
        arguments: String,
    },
    ToolFinished {
        id: CallId,
        name: String,
        result: String,
        failed: bool,
        ending: CallEnding,
        millis: u64,
    },
    /// A person is about to be asked whether a call may run.
    ApprovalAsked {
        id: CallId,
        what: String,
        cwd: String,
    },
    /// The model has a question to the person; where nobody can be asked, it is told so.
    ClarifyAsked {
        /// The call that asks.
        id: CallId,
        question: String,
        choices: Vec<String>,
    },
    /// A person is about to be asked whether a hook may run, from now on.
    HookAsked {
        /// Where it stands in the settings.
        key: String,
        event: String,
        command: String,
        /// It was approved, and its script was changed since.
        is_changed: bool,
    },
    /// A model call was answered in full.
    StepFinished {
        usage: Option<Usage>,
    },
    /// News of a session that works on a part of the task.
    Helper {
        /// The call that it works for.
        call: CallId,
        session: SessionId,
        /// Which of the call's tasks it works on, from 0.
        task: usize,
        news: HelperNews,
    },
    /// Something was said to the session while it was busy, and is on disk.
    MailAccepted {
        id: MailId,
        mode: MailMode,
        text: String,
    },
    /// It is in the conversation now.
    MailDelivered {
        id: MailId,
        mode: MailMode,
        text: String,
    },
    /// A summary has taken the place of older messages.
    Compacted(Box<CompactionReport>),
    /// Something a person may want to know: a wait, a retry, a notice.
    Status(String),
}

/// What a session that works for another one is at.
#[derive(Debug, Clone, PartialEq)]
pub enum HelperNews {
    Started {
        goal: String,
    },
    ToolStarted {
        name: String,
        arguments: String,
    },
    ToolFinished {
        name: String,
        failed: bool,
        millis: u64,
    },
    /// Something a person may want to know.
    Status(String),
    Ended {
        status: String,
        millis: u64,
    },
}

/// An event as it is sent: text in the pieces in which it came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sent<'a> {
    Text(&'a str),
    Reasoning(&'a str),
    State(&'a TurnEvent),
}

/// Sees every event at the moment it is sent, whether or not anybody reads it.
pub trait EventWatch: Send + Sync {
    fn sent(&self, event: Sent<'_>);
}

/// How many events that are not text may wait before the sender does.
const CAPACITY: usize = 256;

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<TurnEvent>,
    sender_gone: bool,
    receiver_gone: bool,
    /// The receiver has no use for text.
    skips_text: bool,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    arrived: Notify,
    room: Notify,
}

impl Shared {
    fn with<T>(&self, act: impl FnOnce(&mut Queue) -> T) -> T {
        act(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn send(&self, event: TurnEvent) {
        let mut event = Some(event);
        loop {
            let room = self.room.notified();
            let sent = self.with(|queue| {
                if queue.receiver_gone {
                    return true;
                }
                if queue.events.len() >= CAPACITY {
                    return false;
                }
                queue.events.extend(event.take());
                true
            });
            if sent {
                self.arrived.notify_one();
                return;
            }
            room.await;
        }
    }
}

/// The sending half. Dropping it ends the stream.
pub struct EventSink(Arc<Shared>, Option<Arc<dyn EventWatch>>);

/// A way to send beside the sink. It does not keep the stream open.
#[derive(Debug, Clone)]
pub struct EventRelay(Arc<Shared>);

/// The receiving half. Dropping it makes every later send a no-op.
#[derive(Debug)]
pub struct EventStream(Arc<Shared>);

/// A channel for the events of one turn.
pub fn events() -> (EventSink, EventStream) {
    let shared = Arc::new(Shared::default());
    (EventSink(shared.clone(), None), EventStream(shared))
}

impl std::fmt::Debug for EventSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("EventSink").field(&self.0).finish()
    }
}

impl EventRelay {
    /// Hands on a state event, waiting for room if the receiver is far behind.
    pub async fn send(&self, event: TurnEvent) {
        self.0.send(event).await;
    }
}

impl EventSink {
    /// A way for others to send events of this turn. Whoever watches the channel does not see these.
    pub fn relay(&self) -> EventRelay {
        EventRelay(self.0.clone())
    }

    /// The same channel, with somebody who sees what goes into it.
    pub fn watched_by(mut self, watch: Arc<dyn EventWatch>) -> Self {
        self.1 = Some(watch);
        self
    }

    fn show(&self, event: Sent<'_>) {
        if let Some(watch) = &self.1 {
            watch.sent(event);
        }
    }

    /// Hands on a piece of text without waiting; it joins the newest piece that is still unread.
    pub fn text(&self, piece: &str) {
        self.show(Sent::Text(piece));
        self.join(
            piece,
            |event| match event {
                TurnEvent::Text(text) => Some(text),
                _ => None,
            },
            TurnEvent::Text,
        );
    }

    /// As [`text`](Self::text), for reasoning.
    pub fn reasoning(&self, piece: &str) {
        self.show(Sent::Reasoning(piece));
        self.join(
            piece,
            |event| match event {
                TurnEvent::Reasoning(text) => Some(text),
                _ => None,
            },
            TurnEvent::Reasoning,
        );
    }

    fn join(
        &self,
        piece: &str,
        open: fn(&mut TurnEvent) -> Option<&mut String>,
        fresh: fn(String) -> TurnEvent,
    ) {
        let added = self.0.with(|queue| {
            if queue.receiver_gone || queue.skips_text {
                return false;
            }
            if let Some(text) = queue.events.back_mut().and_then(open) {
                text.push_str(piece);
                return false;
            }
            queue.events.push_back(fresh(piece.to_owned()));
            true
        });
        if added {
            self.0.arrived.notify_one();
        }
    }

    /// Hands on a state event, waiting for room if the receiver is far behind.
    pub async fn send(&self, event: TurnEvent) {
        self.show(Sent::State(&event));
        self.0.send(event).await;
    }
}

impl Drop for EventSink {
    fn drop(&mut self) {
        self.0.with(|queue| queue.sender_gone = true);
        self.0.arrived.notify_one();
    }
}

impl EventStream {
    /// From now on only state events arrive.
    pub fn skip_text(&self) {
        self.0.with(|queue| queue.skips_text = true);
    }

    /// The next event if one is there already.
    pub fn try_next(&mut self) -> Option<TurnEvent> {
        let event = self.0.with(|queue| queue.events.pop_front());
        if event.is_some() {
            self.0.room.notify_one();
        }
        event
    }

    /// The next event, or `None` when the turn is over and everything was read.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        loop {
            let arrived = self.0.arrived.notified();
            let (event, over) = self.0.with(|queue| (queue.events.pop_front(), queue.sender_gone));
            if event.is_some() {
                self.0.room.notify_one();
                return event;
            }
            if over {
                return None;
            }
            arrived.await;
        }
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.0.with(|queue| {
            queue.receiver_gone = true;
            queue.events.clear();
        });
        self.0.room.notify_waiters();
        self.0.room.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn unread_text_is_joined_and_order_is_kept() {
        let (sink, mut stream) = events();
        sink.text("a");
        sink.text("b");
        sink.send(TurnEvent::Status("s".into())).await;
        sink.text("c");
        drop(sink);
        let mut seen = Vec::new();
        while let Some(event) = stream.next().await {
            seen.push(event);
        }
        assert_eq!(
            seen,
            [TurnEvent::Text("ab".into()), TurnEvent::Status("s".into()), TurnEvent::Text("c".into())]
        );
    }

    #[tokio::test]
    async fn a_full_channel_waits_and_loses_nothing() {
        let (sink, mut stream) = events();
        let sender = tokio::spawn(async move {
            for number in 0..CAPACITY * 3 {
                sink.send(TurnEvent::Status(number.to_string())).await;
            }
        });
        for number in 0..CAPACITY * 3 {
            assert_eq!(stream.next().await, Some(TurnEvent::Status(number.to_string())));
        }
        assert_eq!(stream.next().await, None);
        sender.await.unwrap();
    }

    #[tokio::test]
    async fn sending_to_nobody_does_not_wait() {
        let (sink, stream) = events();
        drop(stream);
        for _ in 0..CAPACITY * 2 {
            sink.send(TurnEvent::Accepted).await;
        }
        sink.text("unheard");
    }
}
