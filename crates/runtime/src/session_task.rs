//! The task that owns one session: one turn at a time, requests in the order of their arrival.
//!
//! While a turn runs, prompts become queued messages and commands that would change the session are
//! refused. After a turn that went well the queued messages open the next one.

use crate::commands::{self, Beside, CommandReply};
use crate::handle::{Delivered, RunningReport, StopSwitch, Submitted};
use crate::{Parting, Prompt, Runtime, RuntimeError, Session, SessionMailbox};
use hermes_agent::{Input, TurnReport};
use hermes_conversation::{EventSink, Mail, MailMode, SessionId, TurnEvent, mail_for_next_turn};
use hermes_observers::{Hub, SessionEvent, TurnId};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// A request of a handle to the session.
pub(crate) enum Request {
    Submit {
        prompt: Box<Prompt>,
        accepted: oneshot::Sender<Result<Submitted, RuntimeError>>,
    },
    DeliverWaiting {
        accepted: oneshot::Sender<Result<Option<Delivered>, RuntimeError>>,
    },
    Command {
        line: String,
        reply: oneshot::Sender<Result<CommandReply, RuntimeError>>,
    },
    Inspect(Box<dyn FnOnce(&mut Session) + Send>),
    Close {
        parting: Parting,
        done: oneshot::Sender<()>,
    },
    /// Replies if the session is stored; `None` if it stays open.
    CloseIfIdle {
        done: oneshot::Sender<Option<bool>>,
    },
}

/// A reason for the task to act.
enum Wake {
    Request(Request),
    /// A notice of a background process was stored.
    Noticed,
}

/// A turn that was announced to the observers.
struct StartedTurn {
    report: oneshot::Sender<Result<Arc<TurnReport>, RuntimeError>>,
    cancel: CancellationToken,
}

pub(crate) struct SessionTask {
    session: Session,
    hub: Arc<Hub>,
    stop: StopSwitch,
    requests: mpsc::Receiver<Request>,
    turns: u64,
    /// Requests of a running turn that are served after it.
    later: Vec<Request>,
    /// Messages may be queued that no turn has taken yet.
    may_have_queued: bool,
}

impl SessionTask {
    pub(crate) fn new(
        session: Session,
        hub: Arc<Hub>,
        stop: StopSwitch,
        requests: mpsc::Receiver<Request>,
    ) -> Self {
        Self { session, hub, stop, requests, turns: 0, later: Vec::new(), may_have_queued: false }
    }

    /// Serves requests until the session is closed or the last handle is gone.
    pub(crate) async fn run(mut self) {
        while let Some(wake) = self.next_wake().await {
            let request = match wake {
                Wake::Request(request) => request,
                Wake::Noticed => {
                    self.hub.publish(SessionEvent::NoticeWaiting);
                    continue;
                }
            };
            match request {
                Request::Submit { prompt, accepted } => self.submit(*prompt, accepted).await,
                Request::DeliverWaiting { accepted } => self.deliver_waiting(accepted).await,
                Request::Command { line, reply } => {
                    let _ = reply.send(self.command(&line).await);
                    self.hub.set_idle(self.session.snapshot());
                }
                Request::Inspect(look) => look(&mut self.session),
                Request::CloseIfIdle { done } if self.hub.is_observed() => drop(done.send(None)),
                Request::CloseIfIdle { done } => {
                    let is_stored = self.session.is_stored();
                    self.close(Parting::Left).await;
                    let _ = done.send(Some(is_stored));
                    return;
                }
                Request::Close { parting, done } => {
                    self.close(parting).await;
                    let _ = done.send(());
                    return;
                }
            }
        }
        self.close(Parting::Left).await;
    }

    /// Releases the session. Requests that still wait are answered with an error.
    async fn close(mut self, parting: Parting) {
        self.requests.close();
        self.session.close(parting).await;
        self.hub.close();
    }

    async fn next_wake(&mut self) -> Option<Wake> {
        if !self.later.is_empty() {
            return Some(Wake::Request(self.later.remove(0)));
        }
        tokio::select! {
            biased;
            request = self.requests.recv() => request.map(Wake::Request),
            () = self.session.noticed() => Some(Wake::Noticed),
        }
    }

    async fn command(&mut self, line: &str) -> Result<CommandReply, RuntimeError> {
        let (cancel, events) = (self.stop.arm(), EventSink::to(self.hub.clone()));
        let (session, mut busy) = self.busy(&cancel, None);
        busy.until(commands::run(session, line, &cancel, events)).await
    }

    async fn submit(&mut self, prompt: Prompt, accepted: oneshot::Sender<Result<Submitted, RuntimeError>>) {
        self.stop.release();
        let text = prompt.text.clone();
        let cancel = self.stop.arm();
        let (session, mut busy) = self.busy(&cancel, None);
        match busy.until(Box::pin(session.input_of(prompt, &cancel))).await {
            Err(error) => drop(accepted.send(Err(error))),
            Ok((input, warnings)) => {
                for warning in warnings {
                    self.hub.publish(SessionEvent::Notice(warning));
                }
                let (announced, running) = self.announce(text, cancel);
                let _ = accepted.send(Ok(Submitted::Turn(running)));
                self.turns(input, announced).await;
            }
        }
    }

    async fn deliver_waiting(&mut self, accepted: oneshot::Sender<Result<Option<Delivered>, RuntimeError>>) {
        self.stop.release();
        match self.session.waiting().await {
            Err(error) => drop(accepted.send(Err(error))),
            Ok(waiting) if waiting.is_empty() => drop(accepted.send(Ok(None))),
            Ok(waiting) => {
                let messages = waiting.len();
                let input = self.next_input(waiting);
                let text = input.message.content.as_text().to_owned();
                let (announced, running) = self.announce(text, self.stop.arm());
                let _ = accepted.send(Ok(Some(Delivered { messages, running })));
                self.turns(input, announced).await;
            }
        }
    }

    /// Numbers a turn and announces it to the observers. `cancel` interrupts it.
    fn announce(&mut self, text: String, cancel: CancellationToken) -> (StartedTurn, RunningReport) {
        self.turns += 1;
        let turn = TurnId(self.turns);
        self.hub.publish(SessionEvent::TurnStarted { turn, text });
        let (report, receiver) = oneshot::channel();
        (StartedTurn { report, cancel }, RunningReport::new(turn, receiver))
    }

    /// Runs a turn, then one for the messages that were queued meanwhile, as long as turns go well.
    async fn turns(&mut self, mut input: Input, mut announced: StartedTurn) {
        loop {
            let StartedTurn { report, cancel } = announced;
            let result = self.turn(input, &cancel).await;
            let went_well = result.as_ref().is_ok_and(|report| !report.failed);
            self.may_have_queued |= !went_well || result.as_ref().is_ok_and(|r| r.pending_steer.is_some());
            self.conclude(result, report);
            let waiting = self.queued().await;
            if !went_well || waiting.is_empty() || self.stop.is_held() || self.is_closing() {
                return self.hub.publish(SessionEvent::Idle { queued: waiting.len() });
            }
            input = self.next_input(waiting);
            let text = input.message.content.as_text().to_owned();
            (announced, _) = self.announce(text, self.stop.arm());
        }
    }

    /// The queued messages. The store is read only if there can be any.
    async fn queued(&mut self) -> Vec<Mail> {
        // Both are taken.
        if !(std::mem::take(&mut self.may_have_queued) | self.session.take_noticed()) {
            return Vec::new();
        }
        match self.session.waiting().await {
            Ok(waiting) => waiting,
            Err(error) => {
                self.hub.publish(SessionEvent::Notice(error.explained()));
                Vec::new()
            }
        }
    }

    /// The input of the next turn from the first queued messages; the others wait.
    fn next_input(&mut self, waiting: Vec<Mail>) -> Input {
        let count = waiting.len();
        let mail = mail_for_next_turn(waiting);
        self.may_have_queued = mail.len() < count;
        Input::of_mail(mail)
    }

    fn is_closing(&self) -> bool {
        self.later.iter().any(|request| matches!(request, Request::Close { .. }))
    }

    /// Publishes the end of a turn, after the state that it leaves.
    fn conclude(
        &mut self,
        result: Result<TurnReport, RuntimeError>,
        sender: oneshot::Sender<Result<Arc<TurnReport>, RuntimeError>>,
    ) {
        let turn = TurnId(self.turns);
        let result = result.map(Arc::new);
        if result.as_ref().is_ok_and(|report| report.completed) {
            self.session.work_in_background();
        }
        self.hub.set_idle(self.session.snapshot());
        self.hub.publish(match &result {
            Ok(report) => SessionEvent::TurnEnded { turn, report: report.clone() },
            Err(error) => SessionEvent::TurnFailed { turn, error: error.explained() },
        });
        let _ = sender.send(result);
    }

    async fn turn(&mut self, input: Input, cancel: &CancellationToken) -> Result<TurnReport, RuntimeError> {
        let mailbox = self.session.mailbox().await?;
        let hub = self.hub.clone();
        let (session, mut busy) = self.busy(cancel, Some(mailbox));
        // Boxed, so that the task of an idle session is small.
        busy.until(Box::pin(session.submit(input, cancel, EventSink::to(hub)))).await
    }

    /// Splits the task into its session and what serves requests while the session is at work. `mailbox` takes
    /// prompts for a running turn.
    fn busy<'a>(
        &'a mut self,
        cancel: &'a CancellationToken,
        mailbox: Option<SessionMailbox>,
    ) -> (&'a mut Session, Busy<'a>) {
        let (runtime, id) = (self.session.runtime().clone(), self.session.id().clone());
        let Self { session, hub, requests, later, may_have_queued, .. } = self;
        (session, Busy { hub, requests, later, may_have_queued, cancel, mailbox, runtime, id })
    }
}

/// Serves requests while the session is at work.
struct Busy<'a> {
    hub: &'a Hub,
    requests: &'a mut mpsc::Receiver<Request>,
    later: &'a mut Vec<Request>,
    may_have_queued: &'a mut bool,
    cancel: &'a CancellationToken,
    mailbox: Option<SessionMailbox>,
    runtime: Runtime,
    id: SessionId,
}

impl Busy<'_> {
    /// Runs `work` to its end, serving requests meanwhile.
    async fn until<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        let mut is_open = true;
        loop {
            tokio::select! {
                done = &mut work => return done,
                request = self.requests.recv(), if is_open => match request {
                    None => is_open = false,
                    Some(request) => {
                        let waits = self.serve(request).await;
                        self.later.extend(waits);
                    }
                },
            }
        }
    }

    /// Serves a request; returns it if it has to wait for the end of the work.
    async fn serve(&mut self, request: Request) -> Option<Request> {
        match request {
            Request::Submit { prompt, accepted } => return self.queue(prompt, accepted).await,
            // They are delivered after the running turn.
            Request::DeliverWaiting { accepted } if self.mailbox.is_some() => drop(accepted.send(Ok(None))),
            Request::Command { line, reply } => self.command(&line, reply),
            Request::CloseIfIdle { done } => drop(done.send(None)),
            Request::Close { .. } => {
                self.cancel.cancel();
                return Some(request);
            }
            Request::Inspect(_) | Request::DeliverWaiting { .. } => return Some(request),
        }
        None
    }

    /// Runs a command beside the work, which is not kept waiting; others are answered at once.
    fn command(&self, line: &str, reply: oneshot::Sender<Result<CommandReply, RuntimeError>>) {
        let Some((run, argument, interrupts)) = commands::beside(line) else {
            return drop(reply.send(Ok(commands::while_busy(line))));
        };
        self.stop_if(interrupts);
        let call = Beside { runtime: self.runtime.clone(), session: self.id.clone(), is_busy: true };
        tokio::spawn(async move { reply.send(run(call, argument).await) });
    }

    /// Stores a prompt for the running turn or the one after it; an interrupting one then stops the turn. A
    /// queued message is text alone, so a prompt with more waits for the end of the turn.
    async fn queue(
        &mut self,
        prompt: Box<Prompt>,
        accepted: oneshot::Sender<Result<Submitted, RuntimeError>>,
    ) -> Option<Request> {
        let Some(mailbox) = &self.mailbox else { return Some(Request::Submit { prompt, accepted }) };
        let stops = prompt.when_busy == MailMode::Interrupt;
        if !prompt.images.is_empty() || prompt.cwd.is_some() {
            self.stop_if(stops);
            return Some(Request::Submit { prompt, accepted });
        }
        *self.may_have_queued = true;
        let posted = post(mailbox, self.hub, &prompt).await;
        // A turn is not stopped for a message that could not be stored.
        self.stop_if(stops && posted.is_ok());
        let _ = accepted.send(posted);
        None
    }

    fn stop_if(&self, stops: bool) {
        if stops {
            self.cancel.cancel();
        }
    }
}

/// Stores a prompt as a queued message and informs the observers.
async fn post(mailbox: &SessionMailbox, hub: &Hub, prompt: &Prompt) -> Result<Submitted, RuntimeError> {
    let id = mailbox.post(prompt.when_busy, &prompt.text).await?;
    let (mode, text) = (prompt.when_busy, prompt.text.clone());
    hub.publish(SessionEvent::Turn(TurnEvent::MailAccepted { id, mode, text }));
    Ok(Submitted::Queued(id))
}
