//! Resuming a stored session, and reading one again after its record failed.

use super::opening::{changed_notice, directory_of, recovery_notice, unused_notice};
use super::{Session, SessionRole, State, retarget};
use crate::{Opening, Resuming, Runtime, RuntimeError, crash_recovery, prompting};
use hermes_agent::{CacheOf, Session as AgentSession};
use hermes_conversation::{CacheBreak, History, Quirks, SessionId};
use hermes_store::{LastSent, this_process};
use hermes_tools::AskUser;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl Session {
    pub(crate) async fn resumed(
        runtime: &Runtime,
        id: SessionId,
        opening: &Opening,
        ask: Arc<dyn AskUser>,
        how: Resuming<'_>,
    ) -> Result<Self, RuntimeError> {
        let endpoint = runtime.endpoint()?;
        let store = runtime.store()?;
        let acquired = store.acquire_existing(id.clone(), this_process()).await?;
        let recovery = crash_recovery::recover(runtime, &acquired, how).await?;
        let stored = store.load(&id).await?;
        // The parts of an import are data until the user trusts them.
        let is_own = !stored.is_imported;
        let (cwd, notice) = directory_of(runtime, &stored, how.restores_cwd && is_own)?;
        let brought = if is_own { None } else { store.imported_parts(&id).await? };
        let unused = unused_notice(brought.as_ref(), &id);
        let role = SessionRole::of_user_session(runtime, opening)?;
        let history = History::restore(stored.messages);
        let same_model = stored.model.as_deref() == Some(endpoint.model.as_str());
        let system = stored.system_prompt.filter(|_| same_model && is_own);
        let quirks = if is_own { stored.quirks } else { Quirks::default() };
        let (system, found) = match system {
            Some(system) => (system, None),
            None => {
                let found = prompting::gather(runtime, &role, &endpoint, &cwd, &id)?;
                (retarget(runtime, &acquired.lease, &endpoint, &found.layers).await?, Some(found))
            }
        };
        let mut session = AgentSession::new(acquired.lease, system.into(), history, quirks, role.limits);
        session.additions = role.additions.clone();
        for sent in store.last_sent(&id).await? {
            let LastSent { provider, model, has_tools, mark } = sent;
            session.ledger.remember(CacheOf { provider, model, has_tools }, mark);
        }
        if found.is_some() {
            session.ledger.declare(CacheBreak::ModelSwitch);
        }
        if !is_own {
            store.set_cwd(&session.lease, cwd.display().to_string()).await?;
            store.settle_import(&session.lease).await?;
        }
        let state = State::Live(Box::new(session));
        let mut handle = Self::assemble(runtime, id, role, endpoint, cwd, ask, state)?;
        handle.load_context().await?;
        handle.restore_tool_state();
        handle.adopt_background_work(how).await;
        handle.is_resumed = true;
        handle.title = stored.title;
        handle.usage = stored.usage;
        handle.notices.extend(notice);
        handle.notices.extend(unused);
        if let Some(found) = found {
            handle.notices.extend(found.notices);
            handle.layers = Some(found.layers);
        }
        handle.notices.extend(recovery_notice(&recovery));
        handle.notices.extend(changed_notice(&stored.changed));
        Ok(handle)
    }

    /// Restores the state of tools from a stored session: the plan, also if a summary has replaced its message.
    pub(super) fn restore_tool_state(&mut self) {
        let State::Live(session) = &self.state else { return };
        self.tool_context.restore_todos(session.context.todos.clone());
        self.tool_context.restore(session.history.messages());
    }

    /// Looks at the background processes and sub-agents again that an earlier Hermes started.
    async fn adopt_background_work(&mut self, how: Resuming<'_>) {
        if let Err(error) = self.runtime.report_lost_subagents(&self.id, how).await {
            let error = error.explained();
            self.notices.push(format!("background sub-agents of this session cannot be read: {error}"));
        }
        let Some(processes) = self.runtime.processes().cloned() else { return };
        if let Err(error) = processes.adopt(&self.id).await {
            self.notices.push(format!("background processes of this session cannot be read: {error}"));
        }
    }

    /// Reads the session again from the store.
    pub(super) async fn reload(&mut self) -> Result<(), RuntimeError> {
        let State::Live(session) = &mut self.state else { return Ok(()) };
        let store = self.runtime.store()?;
        let acquired = store.acquire_existing(self.id.clone(), this_process()).await?;
        // No command of this process runs any more.
        let how = Resuming { restores_cwd: false, stop: &CancellationToken::new(), tell: &|_| {} };
        crash_recovery::recover(&self.runtime, &acquired, how).await?;
        let stored = store.load(&self.id).await?;
        let history = History::restore(stored.messages);
        let ledger = std::mem::take(&mut session.ledger);
        **session =
            AgentSession::new(acquired.lease, session.system.clone(), history, stored.quirks, session.limits);
        session.ledger = ledger;
        session.additions = self.role.additions.clone();
        self.load_context().await?;
        self.is_unsure = false;
        self.is_recorded = false;
        Ok(())
    }
}
