//! Names for sessions that nobody named, found in the background.

use crate::{Runtime, RuntimeError};
use futures::FutureExt;
use hermes_agent::auxiliary::ask_in_order;
use hermes_agent::{title_in, title_request};
use hermes_conversation::{AuxTask, History, SessionId};
use hermes_providers::Endpoint;
use tokio_util::task::AbortOnDropHandle;

/// A name that is being looked for. Dropping it gives up.
#[derive(Default)]
pub(crate) enum Naming {
    #[default]
    NotYet,
    Asking(AbortOnDropHandle<Option<String>>),
    /// Asked once; whoever did not get a name then does without.
    Done,
}

impl Naming {
    /// Begins to look for a name after the first exchange. Costs the conversation nothing: the
    /// question is asked by a task of its own, and failing to get an answer is no failure.
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
        let (store, resting, id) = (runtime.store()?.clone(), runtime.resting.clone(), id.clone());
        let asking = tokio::spawn(async move {
            let answer = ask_in_order(&stops, &resting, &limits, &request).await.ok()?;
            // Two conversations may be about the same thing.
            let title = store.next_title(&title_in(&answer)?).await.ok()?;
            store.set_title_if_none(&id, &title).await.ok()?.then_some(title)
        });
        *self = Self::Asking(AbortOnDropHandle::new(asking));
        Ok(())
    }

    /// The name, once, if it has been found meanwhile.
    pub(crate) fn found(&mut self) -> Option<String> {
        let Self::Asking(asking) = self else { return None };
        let found = asking.now_or_never()?;
        *self = Self::Done;
        found.ok().flatten()
    }
}
