//! Starts the sub-agents of one session.

use crate::{Background, Roster, SubAgentSettings};
use hermes_conversation::{BoxFuture, CallId, EventRelay, SessionId};
use hermes_tools::{BegunTask, CallScope, Delegate, HelperReport, HelperTask, Inherited};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// A task on its way to a sub-agent.
pub struct Job {
    /// The id of the session of the sub-agent.
    pub session: SessionId,
    pub task: HelperTask,
    /// The position among the tasks of its call.
    pub index: usize,
    pub call: CallId,
    pub cwd: PathBuf,
    pub inherited: Inherited,
    pub cancel: CancellationToken,
    /// The events of the turn that waits for it, if one does.
    pub events: Option<EventRelay>,
}

/// Opens the sessions of sub-agents and runs their turns.
pub trait SubAgentSessions: Send + Sync {
    /// An id for the session of a sub-agent.
    fn new_id(&self) -> SessionId;

    /// Carries out a task in a session of its own, and reports.
    fn work(&self, job: Job) -> BoxFuture<'_, HelperReport>;
}

/// Starts the sub-agents of one session.
pub struct Delegator {
    session: SessionId,
    sessions: Arc<dyn SubAgentSessions>,
    settings: Arc<SubAgentSettings>,
    roster: Roster,
    /// `None` if no message reaches the session after its turn.
    background: Option<Background>,
    /// One permit for each sub-agent that may run at a time.
    places: Arc<Semaphore>,
}

impl Delegator {
    pub fn new(
        session: SessionId,
        sessions: Arc<dyn SubAgentSessions>,
        settings: Arc<SubAgentSettings>,
        roster: Roster,
        background: Option<Background>,
    ) -> Self {
        let places = Arc::new(Semaphore::new(settings.at_once));
        Self { session, sessions, settings, roster, background, places }
    }

    fn job(&self, index: usize, task: HelperTask, inherited: &Inherited, scope: &CallScope) -> Job {
        Job {
            session: self.sessions.new_id(),
            task,
            index,
            call: scope.call_id.clone(),
            cwd: scope.cwd.clone(),
            inherited: inherited.clone(),
            cancel: scope.cancel.child_token(),
            events: Some(scope.events.clone()),
        }
    }

    /// Starts tasks whose end no call waits for.
    async fn begin_all(
        &self,
        tasks: Vec<HelperTask>,
        inherited: Inherited,
        scope: &CallScope,
    ) -> Result<Vec<BegunTask>, String> {
        let Some(background) = &self.background else {
            return Err("this session cannot have sub-agents in the background".to_owned());
        };
        let count = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
        let Ok(mut places) = self.places.clone().try_acquire_many_owned(count) else {
            return Err(format!(
                "{} sub-agents run at most at a time, and {} are running; wait for their reports, or start fewer",
                self.settings.at_once,
                self.settings.at_once - self.places.available_permits()
            ));
        };
        let jobs = tasks.into_iter().enumerate().map(|(index, task)| Job {
            // Neither the end nor a stop of the turn ends it.
            cancel: CancellationToken::new(),
            events: None,
            ..self.job(index, task, &inherited, scope)
        });
        let mut begun = Vec::new();
        for (job, id) in background.record(&self.session, jobs.collect()).await? {
            let running = self.roster.enter(&self.session, &job.task.goal, true, job.cancel.clone());
            begun.push(BegunTask { number: running.number, id: id.clone(), session: job.session.clone() });
            let (sessions, background, roster) =
                (self.sessions.clone(), background.clone(), self.roster.clone());
            let place = places.split(1);
            tokio::spawn(async move {
                let goal = job.task.goal.clone();
                let report = sessions.work(job).await;
                if let Some(session) = background.report(&id, &goal, &report).await {
                    roster.ring(session);
                }
                drop((running, place));
            });
        }
        Ok(begun)
    }
}

impl Delegate for Delegator {
    fn most(&self) -> usize {
        self.settings.at_once
    }

    fn summary_chars(&self) -> usize {
        self.settings.summary_chars
    }

    fn has_background(&self) -> bool {
        self.background.is_some()
    }

    fn run<'a>(
        &'a self,
        tasks: Vec<HelperTask>,
        inherited: Inherited,
        scope: &'a CallScope,
    ) -> BoxFuture<'a, Vec<HelperReport>> {
        let working = tasks.into_iter().enumerate().map(move |(index, task)| {
            let job = self.job(index, task, &inherited, scope);
            async move {
                // Several calls of one reply share the permits. The semaphore is never closed.
                let _place = scope.cancel.run_until_cancelled(self.places.acquire()).await;
                let _running = self.roster.enter(&self.session, &job.task.goal, false, job.cancel.clone());
                self.sessions.work(job).await
            }
        });
        Box::pin(futures::future::join_all(working))
    }

    fn begin<'a>(
        &'a self,
        tasks: Vec<HelperTask>,
        inherited: Inherited,
        scope: &'a CallScope,
    ) -> BoxFuture<'a, Result<Vec<BegunTask>, String>> {
        Box::pin(self.begin_all(tasks, inherited, scope))
    }
}
