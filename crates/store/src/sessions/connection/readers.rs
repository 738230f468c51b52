//! Read-only connections, opened on demand and kept for the next read.

use super::connect;
use crate::StoreError;
use crate::error::Doing;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum idle connections.
const KEPT: usize = 2;

#[derive(Debug, Clone)]
pub(crate) struct Readers {
    path: Arc<PathBuf>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path: Arc::new(path), idle: Arc::default() }
    }

    /// Runs `work` on one consistent view of the database, on a blocking thread.
    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let readers = self.clone();
        tokio::task::spawn_blocking(move || readers.read_now(work)).await.unwrap_or(Err(StoreError::Stopped))
    }

    fn read_now<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let db = match idle {
            Some(db) => db,
            None => connect::reader(&self.path)?,
        };
        db.execute_batch("BEGIN").doing("begin a read")?;
        let outcome = work(&db);
        // A connection that cannot end its transaction is not kept.
        if db.execute_batch("COMMIT").is_ok() {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < KEPT {
                idle.push(db);
            }
        }
        outcome
    }
}
