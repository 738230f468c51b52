//! Sub-agents: sessions that work on a part of another session's task.
//!
//! A sub-agent is an ordinary stored session with its own budget and tools. It has no access to the conversation
//! that it works for, no approval can be requested for it, and only its final reply is returned.

mod report;
mod settings;
mod texts;

use crate::Surface;
use crate::session::SessionRole;
use crate::session::{Parting, Session};
use crate::{Runtime, RuntimeError};
use hermes_agent::is_closing_line;
use hermes_conversation::{
    BoxFuture, CallId, EventRelay, EventStream, Message, SessionId, SubagentEvent, TurnEvent, UserMessage,
    events,
};
use hermes_prompt::Additions;
use hermes_providers::Endpoint;
use hermes_tools::{
    Approval, ApprovalRequest, AskUser, CallScope, Clarified, DecidedBy, Delegate, HelperReport, HelperTask,
    NoUser, Processes, Question, Review, Role,
};
pub(crate) use report::interrupted;
use report::{SubAgentEnd, Trace};
use settings::Settings;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::Semaphore;

/// The current endpoint of a session, shared with its sub-agents.
pub(crate) type CurrentEndpoint = Arc<Mutex<Endpoint>>;

/// Starts the sub-agents of one session.
pub(crate) struct Delegator {
    runtime: Runtime,
    session: SessionId,
    endpoint: CurrentEndpoint,
    settings: Settings,
    /// The number of sessions above this one.
    depth: u32,
    /// The background processes of the user's session.
    processes: Option<Arc<dyn Processes>>,
    /// One permit for each sub-agent that may run at a time.
    places: Semaphore,
}

impl Delegator {
    /// The delegator of a session at this depth; `None` if it may not have sub-agents.
    pub(crate) fn at(
        runtime: &Runtime,
        session: &SessionId,
        endpoint: &CurrentEndpoint,
        depth: u32,
        processes: Option<Arc<dyn Processes>>,
    ) -> Result<Option<Arc<dyn Delegate>>, RuntimeError> {
        let settings = Settings::read(runtime.config())?;
        if depth >= settings.depth {
            return Ok(None);
        }
        let places = Semaphore::new(settings.at_once);
        let (runtime, session, endpoint) = (runtime.clone(), session.clone(), endpoint.clone());
        Ok(Some(Arc::new(Self { runtime, session, endpoint, settings, depth, processes, places })))
    }

    /// The role of a sub-agent.
    fn role(&self, role: Role, call: &CallId) -> Result<SessionRole, RuntimeError> {
        let may_delegate =
            role == Role::Orchestrator && self.settings.orchestrators && self.depth + 1 < self.settings.depth;
        let mut limits = self.runtime.limits()?;
        limits.max_iterations = self.settings.iterations;
        let registry = Arc::new(self.runtime.registry().for_subagent(may_delegate));
        Ok(SessionRole {
            source: "subagent".to_owned(),
            surface: Surface::of(""),
            works_in_background: false,
            parent_call: Some((self.session.clone(), call.clone())),
            all_tools: registry.clone(),
            registry,
            limits,
            instructions: Some(texts::instructions(may_delegate.then_some(self.settings.at_once))),
            depth: self.depth + 1,
            additions: Additions::default(),
            remembers: false,
            processes: self.processes.clone(),
        })
    }

    fn ask(&self) -> Arc<dyn AskUser> {
        if self.settings.approves { Arc::new(ApproveAll) } else { Arc::new(NoUser) }
    }

    async fn work(&self, index: usize, task: HelperTask, scope: &CallScope) -> HelperReport {
        let own = self.endpoint.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let opened = self.settings.endpoint(self.runtime.config(), &own).and_then(|endpoint| {
            let role = self.role(task.role, &scope.call_id)?;
            Session::begin(&self.runtime, role, endpoint, scope.cwd.clone(), self.ask())
        });
        let mut handle = match opened {
            Ok(handle) => handle,
            Err(error) => return report::not_begun(&error),
        };
        let news = ProgressReporter {
            relay: scope.events.clone(),
            call: scope.call_id.clone(),
            session: handle.id().clone(),
            task: index,
        };
        news.send(SubagentEvent::Started { goal: task.goal.clone() }).await;
        let begun = Instant::now();
        let (turn, trace) = self.turn(&mut handle, &task, scope, &news).await;
        let done = SubAgentEnd { turn, trace, took: begun.elapsed(), last_reply: last_reply(&handle) };
        let (model, session) = (handle.endpoint().model.clone(), handle.id().clone());
        handle.close(Parting::SubAgentDone).await;
        let report = done.report(session, model);
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        news.send(SubagentEvent::Ended { status: report.status.to_owned(), millis }).await;
        report
    }

    /// Runs the turn of a sub-agent within its time limit. One that is out of time is stopped, and its last reply is
    /// used.
    async fn turn(
        &self,
        handle: &mut Session,
        task: &HelperTask,
        scope: &CallScope,
        news: &ProgressReporter,
    ) -> (report::Turn, Trace) {
        let stop = scope.cancel.child_token();
        let (sink, stream) = events();
        let input = UserMessage { content: texts::task(task), api_content: None };
        let working = async {
            let turn = handle.submit(input, &stop, sink);
            tokio::pin!(turn);
            let Some(limit) = self.settings.time else {
                return report::Turn { ended: turn.await, is_late: false };
            };
            match tokio::time::timeout(limit, &mut turn).await {
                Ok(ended) => report::Turn { ended, is_late: false },
                Err(_) => {
                    stop.cancel();
                    report::Turn { ended: turn.await, is_late: true }
                }
            }
        };
        tokio::join!(working, news.pass_on(stream))
    }
}

impl Delegate for Delegator {
    fn most(&self) -> usize {
        self.settings.at_once
    }

    fn summary_chars(&self) -> usize {
        self.settings.summary_chars
    }

    fn run<'a>(&'a self, tasks: Vec<HelperTask>, scope: &'a CallScope) -> BoxFuture<'a, Vec<HelperReport>> {
        let working = tasks.into_iter().enumerate().map(|(index, task)| async move {
            // Several calls of one reply share the permits. The semaphore is never closed.
            let _place = scope.cancel.run_until_cancelled(self.places.acquire()).await;
            self.work(index, task, scope).await
        });
        Box::pin(futures::future::join_all(working))
    }
}

/// Reports the progress of a sub-agent to the session that it works for.
struct ProgressReporter {
    relay: EventRelay,
    call: CallId,
    session: SessionId,
    task: usize,
}

impl ProgressReporter {
    async fn send(&self, event: SubagentEvent) {
        let (call, session, task) = (self.call.clone(), self.session.clone(), self.task);
        self.relay.send(TurnEvent::Subagent { call, session, task, event }).await;
    }

    /// Forwards events until the turn is over, and counts the tool calls.
    async fn pass_on(&self, mut events: EventStream) -> Trace {
        let mut trace = Trace::default();
        events.skip_text();
        while let Some(event) = events.next().await {
            match event {
                TurnEvent::ToolStarted { id, name, arguments } => {
                    trace.started(&id, &arguments);
                    self.send(SubagentEvent::ToolStarted { name, arguments }).await;
                }
                TurnEvent::ToolFinished { id, name, result, failed, millis, .. } => {
                    trace.finished(&id, &name, &result, failed);
                    self.send(SubagentEvent::ToolFinished { name, failed, millis }).await;
                }
                TurnEvent::Status(text) => self.send(SubagentEvent::Status(text)).await,
                // Its own sub-agents report to it.
                _ => {}
            }
        }
        trace
    }
}

/// The newest reply of the sub-agent, for a turn without a final one.
fn last_reply(handle: &Session) -> Option<String> {
    handle.history().and_then(|history| newest_reply(history.messages().iter().map(AsRef::as_ref)))
}

/// The newest reply of the assistant that is not the line which closes a turn.
pub(crate) fn newest_reply<'a>(messages: impl DoubleEndedIterator<Item = &'a Message>) -> Option<String> {
    messages.rev().find_map(|message| match message {
        Message::Assistant(said) if !said.text.trim().is_empty() && !is_closing_line(&said.text) => {
            Some(said.text.clone())
        }
        _ => None,
    })
}

/// Approves all calls of a sub-agent, as `delegation.subagent_auto_approve` asks for.
struct ApproveAll;

impl AskUser for ApproveAll {
    fn approve<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async { Approval::ONCE })
    }

    /// No user has seen the request, so the sandbox is not widened for it.
    fn review<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Option<Review>> {
        Box::pin(async { Some(Review::Allow(DecidedBy::Yolo)) })
    }

    fn clarify<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Clarified> {
        Box::pin(async { Clarified::NoUser })
    }

    fn is_present(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_reply_leaves_out_the_closing_line() {
        let closing = hermes_agent::crash_texts().closing;
        for (said, want) in [
            (vec!["I begin.", closing.as_str()], Some("I begin.")),
            (vec!["I begin.", "[x] all done"], Some("[x] all done")),
            (vec![closing.as_str()], None),
            (vec!["  "], None),
        ] {
            let messages: Vec<Message> = said.into_iter().map(Message::assistant).collect();
            assert_eq!(newest_reply(messages.iter()).as_deref(), want);
        }
    }
}
