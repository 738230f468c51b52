//! The memory of a runtime's home, for its sessions.

use crate::{Runtime, RuntimeError};
use hermes_config::settings::RecallSource;
use hermes_conversation::{AuxTask, History, SessionId};
use hermes_memory::files::MemoryBook;
use hermes_memory::{
    MemoryProvider, Review, Reviewer, SessionMemory, SessionRecall, WriteApproval, memory_book,
};
use hermes_providers::Endpoint;
use hermes_tools::{Memory, Toolset};
use std::sync::Arc;

impl Runtime {
    /// The memory files; for a new session's prompt, see [`MemoryBook::snapshot`].
    pub fn memory(&self) -> Result<MemoryBook, RuntimeError> {
        Ok(memory_book(self.config(), self.home().path())?)
    }

    /// The provider that `memory.provider` names; usually none.
    pub fn memory_provider(&self) -> Result<Option<Arc<dyn MemoryProvider>>, RuntimeError> {
        Ok(match self.config().settings.memory.provider.value()? {
            RecallSource::Sessions => Some(Arc::new(SessionRecall::new(self.store()?.clone()))),
            RecallSource::None => None,
        })
    }

    /// The port that the tool `memory` writes through.
    pub(crate) fn session_memory(
        &self,
        session: &SessionId,
        is_watched: bool,
    ) -> Result<Arc<dyn Memory>, RuntimeError> {
        let approval = WriteApproval::of(self.config(), is_watched)?;
        let memory = SessionMemory::new(self.memory()?, self.home().path(), approval, session.clone());
        Ok(Arc::new(memory))
    }

    /// Starts a review of a session if `memory.nudge_interval` makes one due.
    pub(crate) fn review(
        &self,
        review: &mut Review,
        own: &Endpoint,
        id: &SessionId,
        history: &History,
    ) -> Result<(), RuntimeError> {
        let interval = self.config().settings.memory.nudge_interval.value()?;
        let Some(interval) = usize::try_from(interval).ok().filter(|turns| *turns > 0) else { return Ok(()) };
        if !review.is_due(interval, history) || !self.registry().has_toolset(Toolset::Memory) {
            return Ok(());
        }
        let (models, limits) = self.models().auxiliary(own).prepare(AuxTask::Review)?;
        let reviewer = Reviewer {
            book: self.memory()?,
            home: self.home().path().to_owned(),
            approval: WriteApproval::of(self.config(), false)?,
            models,
            limits,
            cooldowns: self.cooldowns.clone(),
        };
        review.begin(reviewer, id, history);
        Ok(())
    }
}
