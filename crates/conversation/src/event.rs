//! The events of a turn and the channel that carries them to a front end.
//!
//! The channel is bounded. Unread text is joined into larger pieces; every other event is delivered, and its
//! sender waits while the channel is full.

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

impl TurnEvent {
    /// Returns true if a call of the session or of a sub-agent was denied because no one is available to approve it.
    pub fn lacks_approver(&self) -> bool {
        match self {
            Self::ToolFinished { ending, .. }
            | Self::Subagent { event: SubagentEvent::ToolFinished { ending, .. }, .. } => {
                *ending == CallEnding::NoApprover
            }
            _ => false,
        }
    }
}

/// A call that waits for approval with others of its reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedCall {
    pub id: CallId,
    pub what: String,
    pub cwd: String,
    /// The effects, described for the user.
    pub effects: Vec<String>,
}

/// An event of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEvent {
    /// The user's message is on disk.
    Accepted,
    Text(String),
    Reasoning(String),
    /// The text streamed since the last [`TurnEvent::StepFinished`] is void: the model call is repeated.
    Retracted,
    /// A model call is running and has produced no text and no tool call yet (`active`), or has now.
    Thinking {
        active: bool,
    },
    /// The model started to write a call of this tool.
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
    /// The user is about to be asked to approve a tool call.
    ApprovalAsked {
        id: CallId,
        what: String,
        cwd: String,
        /// The effects, described for the user.
        effects: Vec<String>,
        /// The approval keys of the rules that matched.
        rules: Vec<String>,
    },
    /// The user is about to be asked to approve several calls of one reply at once.
    BatchAsked {
        calls: Vec<AskedCall>,
    },
    /// A call that a rule is about was allowed or denied.
    CallDecided {
        id: CallId,
        /// `allowed`, `approved`, `denied` or `cancelled`.
        decision: &'static str,
        /// The source of the decision, for instance `user` or `command_allowlist`.
        by: &'static str,
        scope: Option<&'static str>,
        rules: Vec<String>,
    },
    /// The model asks the user a question. If no user is available, the tool result says so.
    ClarifyAsked {
        /// The tool call that asks.
        id: CallId,
        question: String,
        choices: Vec<String>,
    },
    /// The user is about to be asked to approve a hook.
    HookAsked {
        /// Its key in the settings.
        key: String,
        event: String,
        command: String,
        /// The script was approved before and has changed since.
        is_changed: bool,
    },
    /// A model call has its complete reply.
    StepFinished {
        usage: Option<Usage>,
    },
    /// Progress of a sub-agent.
    Subagent {
        /// The `delegate_task` call that started it.
        call: CallId,
        session: SessionId,
        /// Index of its task in that call, from 0.
        task: usize,
        event: SubagentEvent,
    },
    /// A message to the busy session is recorded in its mailbox.
    MailAccepted {
        id: MailId,
        mode: MailMode,
        text: String,
    },
    /// A queued message has joined the conversation.
    MailDelivered {
        id: MailId,
        mode: MailMode,
        text: String,
    },
    /// A compaction replaced older messages by a summary.
    Compacted(Box<CompactionReport>),
    /// A status line for the user: a wait, a retry, a notice.
    Status(String),
}

/// Progress of a sub-agent, as its parent session reports it.
#[derive(Debug, Clone, PartialEq)]
pub enum SubagentEvent {
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
        ending: CallEnding,
    },
    /// A status line for the user.
    Status(String),
    Ended {
        status: String,
        millis: u64,
    },
}

/// A borrowed event at the moment of sending: text in the pieces in which it arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EventRef<'a> {
    Text(&'a str),
    Reasoning(&'a str),
    State(&'a TurnEvent),
}

/// Receives every event at the moment of sending, also when there is no reader.
pub trait EventWatch: Send + Sync {
    fn sent(&self, event: EventRef<'_>);
}

/// Unread events other than text before the sender has to wait.
const CAPACITY: usize = 256;

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<TurnEvent>,
    sender_gone: bool,
    receiver_gone: bool,
    /// The receiver wants no text.
    skips_text: bool,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    arrived: Notify,
    freed: Notify,
}

impl Shared {
    fn with<T>(&self, act: impl FnOnce(&mut Queue) -> T) -> T {
        act(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn send(&self, event: TurnEvent) {
        let mut event = Some(event);
        loop {
            let freed = self.freed.notified();
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
            freed.await;
        }
    }
}

/// A receiver that takes every event at once and never makes the sender wait.
pub trait EventOutlet: Send + Sync {
    fn publish(&self, event: TurnEvent);
}

/// The destination of events.
#[derive(Clone)]
enum Target {
    Channel(Arc<Shared>),
    /// The channel of another sink.
    Shared(Arc<Shared>),
    Outlet(Arc<dyn EventOutlet>),
}

impl Target {
    async fn send(&self, event: TurnEvent) {
        match self {
            Self::Channel(shared) | Self::Shared(shared) => shared.send(event).await,
            Self::Outlet(outlet) => outlet.publish(event),
        }
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Channel(_) | Self::Shared(_) => "Channel",
            Self::Outlet(_) => "Outlet",
        })
    }
}

/// The sending half. Dropping it ends the stream.
pub struct EventSink(Target, Option<Arc<dyn EventWatch>>);

/// A second sender for the same channel. It does not keep the stream open.
#[derive(Debug, Clone)]
pub struct EventRelay(Target);

/// The receiving half. Dropping it makes every later send a no-op.
#[derive(Debug)]
pub struct EventStream(Arc<Shared>);

/// Creates a channel for the events of one turn.
pub fn events() -> (EventSink, EventStream) {
    let shared = Arc::new(Shared::default());
    (EventSink(Target::Channel(shared.clone()), None), EventStream(shared))
}

impl std::fmt::Debug for EventSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("EventSink").field(&self.0).finish()
    }
}

impl EventRelay {
    /// Sends a state event; waits while the channel is full.
    pub async fn send(&self, event: TurnEvent) {
        self.0.send(event).await;
    }
}

impl EventSink {
    /// A sink whose events go straight to `outlet`.
    pub fn to(outlet: Arc<dyn EventOutlet>) -> Self {
        Self(Target::Outlet(outlet), None)
    }

    /// A second sender for events of this turn. An [`EventWatch`] does not receive its events.
    pub fn relay(&self) -> EventRelay {
        EventRelay(self.0.clone())
    }

    /// A second sink for events of this turn. It does not keep the stream open, and an [`EventWatch`] does not receive
    /// its events.
    pub fn second(&self) -> Self {
        Self(
            match &self.0 {
                Target::Channel(shared) | Target::Shared(shared) => Target::Shared(shared.clone()),
                Target::Outlet(outlet) => Target::Outlet(outlet.clone()),
            },
            None,
        )
    }

    /// The same channel with a watch that receives every event.
    pub fn watched_by(mut self, watch: Arc<dyn EventWatch>) -> Self {
        self.1 = Some(watch);
        self
    }

    fn notify_watch(&self, event: EventRef<'_>) {
        if let Some(watch) = &self.1 {
            watch.sent(event);
        }
    }

    /// Sends a piece of text without waiting; it is appended to the newest unread piece.
    pub fn text(&self, piece: &str) {
        self.notify_watch(EventRef::Text(piece));
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
        self.notify_watch(EventRef::Reasoning(piece));
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
        let shared = match &self.0 {
            Target::Channel(shared) | Target::Shared(shared) => shared,
            Target::Outlet(outlet) => return outlet.publish(fresh(piece.to_owned())),
        };
        let added = shared.with(|queue| {
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
            shared.arrived.notify_one();
        }
    }

    /// Sends a state event; waits while the channel is full.
    pub async fn send(&self, event: TurnEvent) {
        self.notify_watch(EventRef::State(&event));
        self.0.send(event).await;
    }
}

impl Drop for EventSink {
    fn drop(&mut self) {
        if let Target::Channel(shared) = &self.0 {
            shared.with(|queue| queue.sender_gone = true);
            shared.arrived.notify_one();
        }
    }
}

impl EventStream {
    /// Drops text events from now on.
    pub fn skip_text(&self) {
        self.0.with(|queue| queue.skips_text = true);
    }

    /// The next event, if one is waiting.
    pub fn try_next(&mut self) -> Option<TurnEvent> {
        let event = self.0.with(|queue| queue.events.pop_front());
        if event.is_some() {
            self.0.freed.notify_one();
        }
        event
    }

    /// The next event, or `None` when the turn has ended and all events were read.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        loop {
            let arrived = self.0.arrived.notified();
            let (event, over) = self.0.with(|queue| (queue.events.pop_front(), queue.sender_gone));
            if event.is_some() {
                self.0.freed.notify_one();
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
        self.0.freed.notify_waiters();
        self.0.freed.notify_one();
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
    async fn full_channel_makes_sender_wait_and_loses_nothing() {
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
    async fn send_without_receiver_does_not_wait() {
        let (sink, stream) = events();
        drop(stream);
        for _ in 0..CAPACITY * 2 {
            sink.send(TurnEvent::Accepted).await;
        }
        sink.text("unheard");
    }
}
