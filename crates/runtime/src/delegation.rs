//! Sub-agents: sessions that work on a part of another session's task.
//!
//! A sub-agent is an ordinary stored session with its own budget and tools. It has no access to the conversation
//! that it works for, no approval can be requested for it, and only its final reply is returned. When it runs, and how
//! it reports, is decided in `hermes_delegation`.

use crate::Surface;
use crate::crash_recovery::recover;
use crate::session::SessionRole;
use crate::session::{Parting, Session, new_id};
use crate::{Resuming, Runtime, RuntimeError};
use hermes_agent::is_closing_line;
use hermes_conversation::{
    BoxFuture, CallEnding, CallId, EventRelay, EventStream, Message, SessionId, SubagentEvent, TurnEvent,
    UserMessage, events,
};
use hermes_delegation::{
    Background, Delegator, Job, SubAgentEnd, SubAgentSessions, SubAgentSettings, Trace, Turn, cut_off,
    instructions, not_begun, task,
};
use hermes_prompt::Additions;
use hermes_providers::Endpoint;
use hermes_store::{NewDelegation, is_alive, this_process};
use hermes_tools::{
    Approval, ApprovalRequest, AskUser, Clarified, DecidedBy, Delegate, HelperReport, NoUser, Processes,
    Question, Registry, Review, Role,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The current endpoint of a session, shared with its sub-agents.
pub(crate) type CurrentEndpoint = Arc<Mutex<Endpoint>>;

/// Runs the sub-agents of one session.
struct Sessions {
    runtime: Runtime,
    session: SessionId,
    endpoint: CurrentEndpoint,
    settings: Arc<SubAgentSettings>,
    /// The number of sessions above this one.
    depth: u32,
    /// The background processes of the user's session.
    processes: Option<Arc<dyn Processes>>,
    /// The tools of the session, and the toolsets that they were selected by.
    tools: Arc<Registry>,
    toolsets: Arc<[String]>,
}

/// The delegator of a session with this role; `None` if it may not have any.
pub(crate) fn delegate(
    runtime: &Runtime,
    session: &SessionId,
    endpoint: &CurrentEndpoint,
    role: &SessionRole,
    processes: Option<Arc<dyn Processes>>,
) -> Result<Option<Arc<dyn Delegate>>, RuntimeError> {
    let settings = Arc::new(SubAgentSettings::read(runtime.config())?);
    if role.depth >= settings.depth {
        return Ok(None);
    }
    let goes_on = role.works_in_background && role.parent_call.is_none();
    let background = goes_on.then(|| Background {
        store: runtime.store_source(),
        secrets: runtime.secrets.clone(),
        fence_key: runtime.fence_keys(),
        most: settings.summary_chars,
    });
    let sessions = Arc::new(Sessions {
        runtime: runtime.clone(),
        session: session.clone(),
        endpoint: endpoint.clone(),
        settings: settings.clone(),
        depth: role.depth,
        processes,
        tools: role.all_tools.clone(),
        toolsets: role.toolsets.clone(),
    });
    let roster = runtime.roster.clone();
    Ok(Some(Arc::new(Delegator::new(session.clone(), sessions, settings, roster, background))))
}

impl Sessions {
    /// The role of a sub-agent.
    fn role(&self, job: &Job) -> Result<SessionRole, RuntimeError> {
        let may_delegate = job.task.role == Role::Orchestrator
            && self.settings.orchestrators
            && self.depth + 1 < self.settings.depth;
        let mut limits = self.runtime.limits()?;
        limits.max_iterations = self.settings.iterations;
        let registry = Arc::new(self.tools.for_subagent(may_delegate));
        Ok(SessionRole {
            source: "subagent".to_owned(),
            surface: Surface::of(""),
            works_in_background: false,
            parent_call: Some((self.session.clone(), job.call.clone())),
            all_tools: registry.clone(),
            registry,
            toolsets: self.toolsets.clone(),
            limits,
            instructions: Some(instructions(may_delegate.then_some(self.settings.at_once))),
            depth: self.depth + 1,
            additions: Additions::default(),
            remembers: false,
            processes: self.processes.clone(),
            inherited: job.inherited.clone(),
        })
    }

    fn ask(&self) -> Arc<dyn AskUser> {
        if self.settings.approves { Arc::new(ApproveAll) } else { Arc::new(NoUser) }
    }

    fn open(&self, job: &Job) -> Result<Session, String> {
        let own = self.endpoint.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let endpoint = self.settings.endpoint(self.runtime.config(), &own)?;
        let opened = self.role(job).and_then(|role| {
            let (id, cwd) = (job.session.clone(), job.cwd.clone());
            Session::begin(&self.runtime, id, role, endpoint, cwd, self.ask())
        });
        opened.map_err(|error| error.to_string())
    }

    async fn run(&self, job: Job) -> HelperReport {
        let mut handle = match self.open(&job) {
            Ok(handle) => handle,
            Err(error) => return not_begun(&error),
        };
        let news = ProgressReporter {
            relay: job.events.clone(),
            call: job.call.clone(),
            session: handle.id().clone(),
            task: job.index,
        };
        news.send(SubagentEvent::Started { goal: job.task.goal.clone() }).await;
        let begun = Instant::now();
        let (turn, trace) = self.turn(&mut handle, &job, &news).await;
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
    async fn turn(&self, handle: &mut Session, job: &Job, news: &ProgressReporter) -> (Turn, Trace) {
        let stop = &job.cancel;
        let (sink, stream) = events();
        let input = UserMessage { content: task(&job.task), api_content: None };
        let working = async {
            let turn = handle.submit(input, stop, sink);
            tokio::pin!(turn);
            let ended = |ended: Result<_, RuntimeError>| ended.map_err(|error| error.to_string());
            let Some(limit) = self.settings.time else {
                return Turn { ended: ended(turn.await), is_late: false };
            };
            match tokio::time::timeout(limit, &mut turn).await {
                Ok(report) => Turn { ended: ended(report), is_late: false },
                Err(_) => {
                    stop.cancel();
                    Turn { ended: ended(turn.await), is_late: true }
                }
            }
        };
        tokio::join!(working, news.pass_on(stream))
    }
}

impl SubAgentSessions for Sessions {
    fn new_id(&self) -> SessionId {
        new_id()
    }

    fn work(&self, job: Job) -> BoxFuture<'_, HelperReport> {
        Box::pin(self.run(job))
    }
}

impl Runtime {
    /// Reports background sub-agents of a session that ended with the process they ran in.
    pub(crate) async fn report_lost_subagents(
        &self,
        session: &SessionId,
        how: Resuming<'_>,
    ) -> Result<(), RuntimeError> {
        let rows = self.store()?.unfinished_delegations(session).await?;
        if rows.is_empty() {
            return Ok(());
        }
        let most = SubAgentSettings::read(self.config())?.summary_chars;
        for row in rows.into_iter().filter(|row| !is_alive(&row.owner)) {
            let reply = self.last_reply_of(&row, how).await;
            let key = self.fence_key();
            let notice = cut_off(&row.id, &row.goal, reply.as_deref(), most, &self.secrets, &key);
            self.store()?.end_delegation(&row.id, "interrupted", &notice).await?;
        }
        Ok(())
    }

    /// Closes the session of a sub-agent that was cut off, and returns its newest reply.
    async fn last_reply_of(&self, row: &NewDelegation, how: Resuming<'_>) -> Option<String> {
        let store = self.store().ok()?;
        let acquired = store.acquire_existing(row.child.clone(), this_process()).await.ok()?;
        Box::pin(recover(self, &acquired, how)).await.ok()?;
        let stored = store.load(&row.child).await.ok()?;
        let _ = store.release_ending(&acquired.lease, "interrupted").await;
        newest_reply(stored.messages.iter())
    }
}

/// Reports the progress of a sub-agent to the session that it works for.
struct ProgressReporter {
    /// `None` for one in the background.
    relay: Option<EventRelay>,
    call: CallId,
    session: SessionId,
    task: usize,
}

impl ProgressReporter {
    async fn send(&self, event: SubagentEvent) {
        let Some(relay) = &self.relay else { return };
        let (call, session, task) = (self.call.clone(), self.session.clone(), self.task);
        relay.send(TurnEvent::Subagent { call, session, task, event }).await;
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
                TurnEvent::ToolFinished { id, name, result, failed, millis, ending } => {
                    trace.finished(&id, &name, &result, failed);
                    self.send(SubagentEvent::ToolFinished { name, failed, millis, ending }).await;
                }
                TurnEvent::Status(text) => self.send(SubagentEvent::Status(text)).await,
                // Its own sub-agents report to it; that no one could approve a call of theirs is reported to the user.
                TurnEvent::Subagent { event, .. } if is_denied(&event) => self.send(event).await,
                _ => {}
            }
        }
        trace
    }
}

fn is_denied(event: &SubagentEvent) -> bool {
    matches!(event, SubagentEvent::ToolFinished { ending: CallEnding::NoApprover, .. })
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
