//! Titles for sessions without one, found in the background.

use crate::{Runtime, RuntimeError};
use futures::FutureExt;
use hermes_agent::auxiliary::ask_in_order;
use hermes_agent::{title_in, title_request};
use hermes_conversation::{AuxTask, History, SessionId};
use hermes_providers::Endpoint;
use tokio_util::task::AbortOnDropHandle;

/// The search for a title. Dropping it cancels the search.
#[derive(Default)]
pub(crate) enum Naming {
    #[default]
    NotYet,
    Asking(AbortOnDropHandle<Option<String>>),
    /// Tried once, without a retry.
    Done,
}

impl Naming {
    /// Starts the search after the first exchange, as a task of its own. The session does not wait for it, and a
    /// failure is ignored.
    pub(crate) fn begin(
        &mut self,
        runtime: &Runtime,
        own: &Endpoint,
        id: &SessionId,
        history: &History,
    ) -> Result<(), RuntimeError> {
        let settings = runtime.config().settings.auxiliary.task(AuxTask::Title)?;
        if !matches!(self, Self::NotYet) || !settings.is_enabled {
            return Ok(());
        }
        let Some(request) = title_request(id, history, settings.language.as_deref()) else {
            return Ok(());
        };
        let (stops, limits) = runtime.models().auxiliary(own).prepare(AuxTask::Title)?;
        let (store, cooldowns, id) = (runtime.store()?.clone(), runtime.cooldowns.clone(), id.clone());
        let asking = tokio::spawn(async move {
            let answer = ask_in_order(&stops, &cooldowns, &limits, &request).await.ok()?;
            // Titles are unique.
            let title = store.next_title(&title_in(&answer)?).await.ok()?;
            store.set_title_if_none(&id, &title).await.ok()?.then_some(title)
        });
        *self = Self::Asking(AbortOnDropHandle::new(asking));
        Ok(())
    }

    /// Returns the title once, when it has been found.
    pub(crate) fn take_title(&mut self) -> Option<String> {
        let Self::Asking(asking) = self else { return None };
        let found = asking.now_or_never()?;
        *self = Self::Done;
        found.ok().flatten()
    }
}
