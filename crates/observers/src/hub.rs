//! The observers of one session: each gets the same events in the same order.
//!
//! Publishing never waits. Text that an observer has not read yet is joined into one event; an observer
//! that falls too far behind loses its queue and gets a [`Snapshot`] instead, so a stalled one costs a
//! bounded amount of memory and never slows a turn. One observer may hold the right to answer
//! approvals and questions.

use crate::questions::{Answer, PendingQuestion, QuestionId, QuestionKind};
use crate::snapshot::{RunningTurn, Snapshot};
use hermes_agent::TurnReport;
use hermes_conversation::{EventOutlet, SessionId, TurnEvent};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};

/// Unread events of one observer before it is resynchronised.
const MAX_UNREAD: usize = 1024;

/// The number of a turn in its session, counted since the session was opened in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnId(pub u64);

/// The number of an observer of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObserverId(u64);

/// An event of a session.
#[derive(Debug, Clone)]
pub enum SessionEvent {
    /// A turn begins with this prompt.
    TurnStarted { turn: TurnId, text: String },
    /// An event of the running turn.
    Turn(TurnEvent),
    /// An approval or a question for the observer with the right to answer.
    Asked(PendingQuestion),
    /// A question that was answered, withdrawn or that timed out.
    QuestionClosed { id: QuestionId },
    /// A turn ended; the report says how.
    TurnEnded { turn: TurnId, report: Arc<TurnReport> },
    /// A turn could not be run.
    TurnFailed { turn: TurnId, error: String },
    /// A line for the user that belongs to no turn.
    Notice(String),
    /// A message of a background process waits for the idle session;
    /// `SessionHandle::deliver_waiting` starts a turn for it.
    NoticeWaiting,
    /// No turn runs, and this many queued messages are left for the next prompt.
    Idle { queued: usize },
    /// The observer was too slow: events were dropped, and this is the state after them.
    Resynced(Box<Snapshot>),
    /// The session is closed in this process; no event follows.
    Closed,
}

/// One reader of a session's events. Dropping it ends the observation.
pub struct Observer {
    hub: Arc<Hub>,
    queue: Arc<ObserverQueue>,
    id: ObserverId,
}

impl Observer {
    pub fn id(&self) -> ObserverId {
        self.id
    }

    /// The next event; `None` after [`SessionEvent::Closed`].
    pub async fn next(&mut self) -> Option<SessionEvent> {
        loop {
            let arrived = self.queue.arrived.notified();
            let (event, is_closed) = {
                let mut unread = self.queue.lock();
                (unread.events.pop_front(), unread.is_closed)
            };
            match event {
                Some(event) => return Some(event),
                None if is_closed => return None,
                None => arrived.await,
            }
        }
    }

    /// The next event, if one is there already.
    pub fn try_next(&mut self) -> Option<SessionEvent> {
        self.queue.lock().events.pop_front()
    }

    /// Drops unread and later text and reasoning of replies; state events still arrive.
    pub fn skip_text(&self) {
        self.queue.lock().skips_text = true;
    }

    /// Keeps every event until it is read, however many there are. For the front end of this process, which
    /// must show all of a reply; an observer that may stop reading stays bounded.
    pub fn keep_all(&self) {
        self.queue.lock().keeps_all = true;
    }

    /// Takes the right to answer approvals and questions, also from another observer.
    pub fn take_answering(&self) {
        self.hub.set_answerer(Some(self.id));
    }

    /// Hands the right to answer to another observer. Returns `false` if this one does not hold it.
    pub fn hand_answering_to(&self, other: ObserverId) -> bool {
        self.hub.hand_over(self.id, other)
    }

    /// Answers a question. Returns `false` if this observer may not answer, or the question is closed.
    pub fn answer(&self, question: QuestionId, answer: Answer) -> bool {
        self.hub.answer(Some(self.id), question, answer)
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.hub.leave(self.id);
    }
}

#[derive(Default)]
struct ObserverQueue {
    unread: Mutex<Unread>,
    arrived: Notify,
}

#[derive(Default)]
struct Unread {
    events: VecDeque<SessionEvent>,
    skips_text: bool,
    keeps_all: bool,
    is_closed: bool,
}

impl ObserverQueue {
    fn lock(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unread {
    /// Adds an event; `snapshot` makes the replacement for a queue that is full.
    fn push(&mut self, event: &SessionEvent, snapshot: impl FnOnce() -> Snapshot) {
        if self.skips_text && is_text(event) || self.joined(event) {
            return;
        }
        if self.events.len() >= MAX_UNREAD && !self.keeps_all {
            self.events.clear();
            // The snapshot is taken after the event and so includes it.
            self.events.push_back(SessionEvent::Resynced(Box::new(snapshot())));
            return;
        }
        self.events.push_back(event.clone());
    }

    /// Appends text to an unread event of the same kind.
    fn joined(&mut self, event: &SessionEvent) -> bool {
        use SessionEvent::Turn;
        use TurnEvent::{Reasoning, Text};
        match (self.events.back_mut(), event) {
            (Some(Turn(Text(unread))), Turn(Text(more)))
            | (Some(Turn(Reasoning(unread))), Turn(Reasoning(more))) => {
                unread.push_str(more);
                true
            }
            _ => false,
        }
    }
}

fn is_text(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::Turn(TurnEvent::Text(_) | TurnEvent::Reasoning(_)))
}

/// The meeting point of one session and its observers.
pub struct Hub {
    state: Mutex<HubState>,
    /// Woken when another observer may answer, or none.
    pub(crate) answerer_changed: Notify,
}

struct HubState {
    observers: Vec<(ObserverId, Arc<ObserverQueue>)>,
    next_observer: u64,
    answerer: Option<ObserverId>,
    questions: Vec<(PendingQuestion, oneshot::Sender<Answer>)>,
    next_question: u64,
    /// The session between turns.
    idle: Snapshot,
    running: Option<RunningTurn>,
    is_closed: bool,
}

impl Hub {
    pub fn new(idle: Snapshot) -> Arc<Self> {
        let state = HubState {
            observers: Vec::new(),
            next_observer: 1,
            answerer: None,
            questions: Vec::new(),
            next_question: 1,
            idle,
            running: None,
            is_closed: false,
        };
        Arc::new(Self { state: Mutex::new(state), answerer_changed: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, HubState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an observer. Its events begin after the snapshot.
    pub fn subscribe(self: &Arc<Self>) -> (Snapshot, Observer) {
        let mut state = self.lock();
        let id = ObserverId(state.next_observer);
        state.next_observer += 1;
        let queue = Arc::new(ObserverQueue::default());
        queue.lock().is_closed = state.is_closed;
        state.observers.push((id, queue.clone()));
        (state.snapshot(), Observer { hub: self.clone(), queue, id })
    }

    pub fn session_id(&self) -> SessionId {
        self.lock().idle.session.clone()
    }

    pub fn is_observed(&self) -> bool {
        !self.lock().observers.is_empty()
    }

    pub fn is_running(&self) -> bool {
        self.lock().running.is_some()
    }

    pub fn publish(&self, event: SessionEvent) {
        self.lock().publish(&event);
    }

    /// Replaces the state of the session between turns.
    pub fn set_idle(&self, idle: Snapshot) {
        self.lock().idle = idle;
    }

    /// Ends all observations.
    pub fn close(&self) {
        let mut state = self.lock();
        state.publish(&SessionEvent::Closed);
        state.is_closed = true;
        for (_, queue) in &state.observers {
            queue.lock().is_closed = true;
            queue.arrived.notify_one();
        }
    }

    pub fn has_answerer(&self) -> bool {
        self.lock().answerer.is_some()
    }

    fn set_answerer(&self, observer: Option<ObserverId>) {
        self.lock().answerer = observer;
        self.answerer_changed.notify_waiters();
    }

    fn hand_over(&self, from: ObserverId, to: ObserverId) -> bool {
        let mut state = self.lock();
        let is_known = state.observers.iter().any(|(id, _)| *id == to);
        let may = state.answerer == Some(from) && is_known;
        if may {
            state.answerer = Some(to);
            drop(state);
            self.answerer_changed.notify_waiters();
        }
        may
    }

    fn leave(&self, observer: ObserverId) {
        let mut state = self.lock();
        state.observers.retain(|(id, _)| *id != observer);
        if state.answerer == Some(observer) {
            state.answerer = None;
            drop(state);
            self.answerer_changed.notify_waiters();
        }
    }

    /// Publishes a question and returns its number and the channel of its answer.
    pub fn ask(&self, kind: QuestionKind) -> (QuestionId, oneshot::Receiver<Answer>) {
        let (sender, answer) = oneshot::channel();
        let mut state = self.lock();
        let id = QuestionId(state.next_question);
        state.next_question += 1;
        let question = PendingQuestion { id, kind };
        state.questions.push((question.clone(), sender));
        state.publish(&SessionEvent::Asked(question));
        (id, answer)
    }

    /// Closes a question that is no longer asked.
    pub fn withdraw(&self, id: QuestionId) {
        let mut state = self.lock();
        let before = state.questions.len();
        state.questions.retain(|(question, _)| question.id != id);
        if state.questions.len() < before {
            state.publish(&SessionEvent::QuestionClosed { id });
        }
    }

    /// Answers a question on behalf of an observer, or of the program itself (`None`).
    pub fn answer(&self, by: Option<ObserverId>, id: QuestionId, answer: Answer) -> bool {
        let mut state = self.lock();
        let may = by.is_none() || state.answerer == by;
        let Some(place) = state.questions.iter().position(|(question, _)| may && question.id == id) else {
            return false;
        };
        let (_, sender) = state.questions.remove(place);
        state.publish(&SessionEvent::QuestionClosed { id });
        sender.send(answer).is_ok()
    }
}

impl EventOutlet for Hub {
    fn publish(&self, event: TurnEvent) {
        self.lock().publish(&SessionEvent::Turn(event));
    }
}

impl HubState {
    fn snapshot(&self) -> Snapshot {
        let questions = self.questions.iter().map(|(question, _)| question.clone()).collect();
        Snapshot { running: self.running.clone(), questions, ..self.idle.clone() }
    }

    fn publish(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::TurnStarted { turn, text } => {
                self.running = Some(RunningTurn::new(*turn, text.clone()));
            }
            SessionEvent::Turn(event) => {
                if let Some(running) = &mut self.running {
                    running.apply(event);
                }
            }
            SessionEvent::TurnEnded { .. } | SessionEvent::TurnFailed { .. } => self.running = None,
            _ => {}
        }
        for (_, queue) in &self.observers {
            queue.lock().push(event, || self.snapshot());
            queue.arrived.notify_one();
        }
    }
}

#[cfg(test)]
#[path = "hub_tests.rs"]
mod tests;
