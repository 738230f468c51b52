//! File work that may take long or hang, run apart from its caller.
//!
//! A thread in a system call cannot be stopped, only abandoned. So work is asked to stop by itself through
//! [`Stop`], and if it does not, the wait ends without it. Work whose result must not be lost half way,
//! such as a write, goes to [`finish`] instead.

use crate::{CallScope, ToolError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The timeout of a file tool.
pub(super) const FILE_PATIENCE: Duration = Duration::from_secs(30);
/// The time that work has to react to a stop request; partial results still count.
const GRACE: Duration = Duration::from_millis(500);

/// Tells work when to end early.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    cancel: CancellationToken,
    patience: Duration,
    deadline: Instant,
}

impl Stop {
    pub(super) fn new(scope: &CallScope, patience: Duration) -> Self {
        Self { cancel: scope.cancel.clone(), patience, deadline: Instant::now() + patience }
    }

    /// Returns true if the work should stop now.
    pub(super) fn is_asked(&self) -> bool {
        self.cancel.is_cancelled() || Instant::now() >= self.deadline
    }

    /// The error of stopped work without a result; `doing` as in "reading /a".
    pub(super) fn error(&self, doing: &str) -> ToolError {
        if self.cancel.is_cancelled() {
            return interrupted(doing);
        }
        ToolError::failed(format!("{doing} was given up after {} seconds", self.patience.as_secs()))
    }

    /// Ends when the work was asked to stop and has had time to.
    async fn over(&self) {
        tokio::select! {
            () = self.cancel.cancelled() => {}
            () = tokio::time::sleep_until(self.deadline.into()) => {}
        }
        tokio::time::sleep(GRACE).await;
    }
}

pub(super) fn interrupted(doing: &str) -> ToolError {
    ToolError::failed(format!("{doing} was interrupted"))
}

/// Runs `work` on a thread where it may block, and waits until it is done or over. It may be
/// left behind, so it must only look.
pub(super) async fn look<T: Send + 'static>(
    doing: String,
    stop: Stop,
    work: impl FnOnce(&Stop) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let inner = stop.clone();
    let handle = tokio::task::spawn_blocking(move || work(&inner));
    tokio::select! {
        biased;
        done = handle => done.map_err(|_| ToolError::failed(format!("{doing} crashed")))?,
        () = stop.over() => Err(stop.error(&doing)),
    }
}

/// Runs `work` to its end, whatever happens meanwhile: for writes, which are short.
pub(super) async fn finish<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let crashed = |_| ToolError::failed("the file operation crashed; check the file before trying again");
    tokio::task::spawn_blocking(work).await.map_err(crashed)?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;
    use std::sync::mpsc;

    /// Waits for work that never looks up.
    async fn hanging(bench: &Bench, patience: Duration) -> ToolError {
        let (release, held) = mpsc::channel::<()>();
        let stop = Stop::new(&bench.scope(), patience);
        let work = move |_: &Stop| {
            let _ = held.recv();
            Ok(())
        };
        let error = look("reading /a".to_owned(), stop, work).await.unwrap_err();
        drop(release);
        error
    }

    #[tokio::test]
    async fn work_that_hangs_is_left_behind() {
        let bench = Bench::new();
        let begun = Instant::now();
        let late = hanging(&bench, Duration::from_millis(1)).await;
        assert_eq!(late.text, "reading /a was given up after 0 seconds");
        bench.cancel.cancel();
        let stopped = hanging(&bench, FILE_PATIENCE).await;
        assert_eq!(stopped.text, "reading /a was interrupted");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[tokio::test]
    async fn work_that_stops_by_itself_keeps_its_result() {
        let bench = Bench::new();
        let stop = Stop::new(&bench.scope(), FILE_PATIENCE);
        bench.cancel.cancel();
        let partly = look("looking".to_owned(), stop, |stop| Ok(stop.is_asked())).await;
        assert_eq!(partly, Ok(true));
    }
}
