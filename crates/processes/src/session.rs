//! The background processes of one session, for its tools.

use crate::manager::{ProcessManager, text};
use hermes_conversation::{BoxFuture, SessionId};
use hermes_store::StoredProcess;
use hermes_tools::{KnownProcess, ProcessStart, ProcessState, Processes};

/// The background processes of one session.
pub struct SessionProcesses {
    pub manager: ProcessManager,
    pub session: SessionId,
    /// The session goes on after a turn, so that notices can reach it.
    pub delivers: bool,
}

impl SessionProcesses {
    async fn row(&self, id: &str) -> Result<Option<StoredProcess>, String> {
        let row = self.manager.store()?.process(id).await.map_err(text)?;
        Ok(row.filter(|row| row.process.session == self.session))
    }

    async fn existing(&self, id: &str) -> Result<StoredProcess, String> {
        self.row(id).await?.ok_or_else(|| format!("no process of this session has the id {id}"))
    }
}

impl Processes for SessionProcesses {
    fn start<'a>(&'a self, start: ProcessStart) -> BoxFuture<'a, Result<ProcessState, String>> {
        Box::pin(self.manager.start(&self.session, start))
    }

    fn list<'a>(&'a self) -> BoxFuture<'a, Result<Vec<ProcessState>, String>> {
        Box::pin(async {
            let rows = self.manager.store()?.processes(Some(&self.session)).await.map_err(text)?;
            let mut states = Vec::with_capacity(rows.len());
            for row in rows {
                states.push(self.manager.state(row).await?);
            }
            Ok(states)
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<ProcessState>, String>> {
        Box::pin(async move {
            match self.row(id).await? {
                Some(row) => self.manager.state(row).await.map(Some),
                None => Ok(None),
            }
        })
    }

    fn ended<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move { self.manager.ended(&self.existing(id).await?).await })
    }

    fn learned<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move { self.manager.store()?.withdraw_process_notice(id).await.map_err(text) })
    }

    fn kill<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move { self.manager.kill(&self.existing(id).await?).await })
    }

    fn write<'a>(&'a self, id: &'a str, data: &'a str, closes: bool) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move { self.manager.write(&self.existing(id).await?, data, closes).await })
    }

    fn known(&self, id: &str) -> Option<KnownProcess> {
        self.manager.known(id)
    }

    fn delivers_notices(&self) -> bool {
        self.delivers
    }
}
