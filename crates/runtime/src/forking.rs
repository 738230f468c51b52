//! Continuing a recording from one of its model calls with the live model of a home.

use crate::session::new_id;
use crate::tool_setup::SessionTools;
use crate::{Runtime, RuntimeError};
use hermes_conversation::{EventSink, SessionId};
use hermes_recording::{ForkHome, Forked, Recording, fork};
use hermes_tools::AskUser;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl Runtime {
    /// Continues `recording` from the model call `from` in a new session of this home.
    pub async fn fork(
        &self,
        recording: Arc<Recording>,
        from: u64,
        ask: Arc<dyn AskUser>,
        cancel: CancellationToken,
        events: EventSink,
    ) -> Result<Forked, RuntimeError> {
        let endpoint = self.endpoint()?;
        let (route, _) = self.models().route(&endpoint, None)?;
        let runtime = self.clone();
        let home = ForkHome {
            store: self.store()?.clone(),
            tools: self.registry(),
            tool_context: Box::new(move |cwd| {
                // The working directory of the recording may be one of another machine.
                let cwd = if cwd.is_dir() { cwd } else { runtime.launch.cwd.clone() };
                let context = runtime.tool_context(SessionTools::of(&SessionId::new("fork"), cwd));
                context.map_err(|error| error.to_string())
            }),
            new_id,
            route,
            ask,
        };
        Ok(fork(&home, recording, from, cancel, events).await?)
    }
}
