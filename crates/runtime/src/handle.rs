//! The handle by which front ends use a session that runs as a task.

use crate::commands::CommandReply;
use crate::session_task::{Request, SessionTask};
use crate::{Parting, Prompt, RuntimeError, Session};
use hermes_agent::TurnReport;
use hermes_conversation::{MailId, SessionId};
use hermes_observers::{Hub, Observer, Snapshot, TurnId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Requests that wait for a session.
const MAILBOX: usize = 64;

/// A session that runs as a task of its own. Cheap to clone; when the last handle is gone, the session is
/// closed.
#[derive(Clone)]
pub struct SessionHandle {
    requests: mpsc::Sender<Request>,
    hub: Arc<Hub>,
    stop: StopSwitch,
}

/// The result of a submission.
#[derive(Debug)]
pub enum Submitted {
    /// A turn was started with the prompt.
    Turn(RunningReport),
    /// A turn is running; the prompt is on disk and waits for it.
    Queued(MailId),
}

/// Queued messages that a turn was started for.
#[derive(Debug)]
pub struct Delivered {
    /// Messages that waited; they open this turn or one of the next.
    pub messages: usize,
    pub running: RunningReport,
}

/// A turn that was started, and its report once it is over.
#[derive(Debug)]
pub struct RunningReport {
    pub turn: TurnId,
    report: oneshot::Receiver<Result<Arc<TurnReport>, RuntimeError>>,
}

impl RunningReport {
    pub(crate) fn new(
        turn: TurnId,
        report: oneshot::Receiver<Result<Arc<TurnReport>, RuntimeError>>,
    ) -> Self {
        Self { turn, report }
    }

    /// Waits for the end of the turn.
    pub async fn report(self) -> Result<Arc<TurnReport>, RuntimeError> {
        self.report.await.unwrap_or(Err(RuntimeError::SessionClosed))
    }
}

impl SessionHandle {
    /// Starts the task of a session. Must be called within a tokio runtime.
    pub fn spawn(mut session: Session) -> Self {
        let hub = Hub::new(session.snapshot());
        session.answer_through(&hub);
        Self::spawn_on(session, hub)
    }

    /// As [`spawn`](Self::spawn), for a session whose questions are answered by the `AskUser` that it was
    /// opened with.
    pub fn spawn_with_own_answers(session: Session) -> Self {
        let hub = Hub::new(session.snapshot());
        Self::spawn_on(session, hub)
    }

    fn spawn_on(session: Session, hub: Arc<Hub>) -> Self {
        let (requests, received) = mpsc::channel(MAILBOX);
        let stop = StopSwitch::default();
        tokio::spawn(SessionTask::new(session, hub.clone(), stop.clone(), received).run());
        Self { requests, hub, stop }
    }

    /// The id of the session. A compaction that continues in a new session changes it.
    pub fn id(&self) -> SessionId {
        self.hub.session_id()
    }

    pub fn is_running(&self) -> bool {
        self.hub.is_running()
    }

    /// True after the session was closed, by whichever handle.
    pub fn is_closed(&self) -> bool {
        self.requests.is_closed()
    }

    /// Submits a prompt. It is on disk before this returns with [`Submitted::Queued`], and before any model
    /// is called otherwise.
    pub async fn submit(&self, prompt: impl Into<Prompt>) -> Result<Submitted, RuntimeError> {
        let (accepted, answer) = oneshot::channel();
        self.send(Request::Submit { prompt: Box::new(prompt.into()), accepted }, answer).await?
    }

    /// Submits a prompt and waits for the end of its turn. A prompt that was queued into a running turn has
    /// no report of its own.
    pub async fn run(&self, prompt: impl Into<Prompt>) -> Result<Option<Arc<TurnReport>>, RuntimeError> {
        match self.submit(prompt).await? {
            Submitted::Turn(running) => running.report().await.map(Some),
            Submitted::Queued(_) => Ok(None),
        }
    }

    /// Starts a turn with the messages that wait for the session, if there are any.
    pub async fn deliver_waiting(&self) -> Result<Option<Delivered>, RuntimeError> {
        let (accepted, answer) = oneshot::channel();
        self.send(Request::DeliverWaiting { accepted }, answer).await?
    }

    /// Stops the running turn. Everything so far is kept.
    pub fn interrupt(&self) {
        self.stop.stop();
    }

    /// Stops the running turn and starts none for queued messages, until the next prompt.
    pub fn interrupt_and_hold(&self) {
        self.stop.hold();
    }

    /// Runs a slash command.
    pub async fn command(&self, line: &str) -> Result<CommandReply, RuntimeError> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Command { line: line.to_owned(), reply }, answer).await?
    }

    /// Runs `look` on the session between two turns.
    pub async fn inspect<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Session) -> T + Send + 'static,
    ) -> Result<T, RuntimeError> {
        let (reply, answer) = oneshot::channel();
        let look = Box::new(move |session: &mut Session| {
            let _ = reply.send(look(session));
        });
        self.send(Request::Inspect(look), answer).await
    }

    /// Starts to observe the session: its state now, and every event after that.
    pub fn subscribe(&self) -> (Snapshot, Observer) {
        self.hub.subscribe()
    }

    /// Stops a running turn, closes the session and waits until it is released.
    pub async fn close(&self, parting: Parting) {
        let (done, answer) = oneshot::channel();
        // A session that is closed already needs nothing more.
        let _ = self.send(Request::Close { parting, done }, answer).await;
    }

    /// Closes the session if it is idle and not observed. Returns whether it is stored; `None` if it stays
    /// open.
    pub(crate) async fn close_if_idle(&self) -> Option<bool> {
        let (done, answer) = oneshot::channel();
        self.send(Request::CloseIfIdle { done }, answer).await.unwrap_or(Some(true))
    }

    async fn send<T>(&self, request: Request, answer: oneshot::Receiver<T>) -> Result<T, RuntimeError> {
        self.requests.send(request).await.map_err(|_| RuntimeError::SessionClosed)?;
        answer.await.map_err(|_| RuntimeError::SessionClosed)
    }
}

/// Stops the running turn.
#[derive(Clone, Default)]
pub(crate) struct StopSwitch(Arc<Mutex<Stop>>);

#[derive(Default)]
struct Stop {
    running: CancellationToken,
    /// No turn is started for queued messages.
    is_held: bool,
}

impl StopSwitch {
    fn lock(&self) -> MutexGuard<'_, Stop> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new token, for a turn that begins now.
    pub(crate) fn arm(&self) -> CancellationToken {
        let token = CancellationToken::new();
        self.lock().running = token.clone();
        token
    }

    pub(crate) fn stop(&self) {
        self.lock().running.cancel();
    }

    fn hold(&self) {
        let mut stop = self.lock();
        stop.is_held = true;
        stop.running.cancel();
    }

    pub(crate) fn release(&self) {
        self.lock().is_held = false;
    }

    pub(crate) fn is_held(&self) -> bool {
        self.lock().is_held
    }
}
