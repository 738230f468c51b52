//! The commands of one session, supervised if possible.

use super::client::Supervised;
use super::error::SuperviseError;
use super::spec::{Key, Lifetime};
use crate::backend::{Backend, BoxFuture, Command, ExecError, Output, Watch};
use crate::local::Local;
use std::sync::{Arc, Mutex, PoisonError};

/// Records that are removed together. A connection for each would cost as much as the command.
const BATCH: usize = 16;

/// Receives the reason for which commands run without the supervisor.
pub type Fallback = Arc<dyn Fn(&SuperviseError) + Send + Sync>;

/// Runs commands with a key under the supervisor, so that they can be found again after a crash. If the
/// supervisor cannot be used, they run as children of this process.
pub struct SessionCommands {
    supervised: Supervised,
    session: String,
    fallback: Fallback,
    forgotten: Mutex<Vec<Key>>,
}

impl SessionCommands {
    pub fn new(supervised: Supervised, session: &str, fallback: Fallback) -> Self {
        Self { supervised, session: session.to_owned(), fallback, forgotten: Mutex::default() }
    }

    async fn run_watched(&self, command: Command, watch: Watch<'_>) -> Result<Output, ExecError> {
        let Some(key) = command.key.clone() else {
            return Local.run(command, watch).await;
        };
        let call = self.supervised.call(key, &self.session, Lifetime::Turn);
        match call.run(command.clone(), watch).await {
            // An error means that nothing ran, so the command may be run another way.
            Err(ExecError::Supervisor(error)) => {
                (self.fallback)(&error);
                Local.run(command, watch).await
            }
            ended => ended,
        }
    }
}

impl Backend for SessionCommands {
    fn run<'a>(&'a self, command: Command, watch: Watch<'a>) -> BoxFuture<'a, Result<Output, ExecError>> {
        Box::pin(self.run_watched(command, watch))
    }

    fn forget(&self, keys: Vec<Key>) {
        let mut waiting = self.forgotten.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.extend(keys);
        if waiting.len() < BATCH {
            return;
        }
        let (keys, supervised) = (std::mem::take(&mut *waiting), self.supervised.clone());
        tokio::spawn(async move { forget(&supervised, &keys).await });
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        let keys = std::mem::take(&mut *self.forgotten.lock().unwrap_or_else(PoisonError::into_inner));
        Box::pin(async move {
            if !keys.is_empty() {
                forget(&self.supervised, &keys).await;
            }
        })
    }
}

/// Removes records. On failure the supervisor removes them itself, some days later.
async fn forget(supervised: &Supervised, keys: &[Key]) {
    if let Err(error) = supervised.forget_all(keys).await {
        tracing::debug!(%error, "records of commands stay for a while");
    }
}
