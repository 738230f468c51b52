//! Queues spans and sends them in batches from a background task.
//!
//! A turn never waits for a collector: spans beyond the queue are dropped and counted. A failure is
//! logged when it begins and when it ends, not every time.

use super::encode::{encode, rejected};
use super::span::{EndedSpan, Ending, Traced};
use crate::{Clock, Collector};
use hermes_guard::Secrets;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::Event;
use tracing::span::Attributes;

/// Capacity of the queue; more spans are dropped.
const QUEUE: usize = 2048;
/// Spans in one request.
const BATCH: usize = 512;
/// Time that the first span of a batch waits for others.
const PERIOD: Duration = Duration::from_secs(5);
/// Time that the exit waits for spans that are not sent yet.
const PATIENCE: Duration = Duration::from_secs(2);

/// Takes spans from the log subscriber; none while it is off.
pub(crate) struct Outlet(Option<Handing>);

struct Handing {
    queue: mpsc::Sender<EndedSpan>,
    lost: Arc<AtomicU64>,
    clock: Clock,
}

impl Outlet {
    pub(crate) fn off() -> Self {
        Self(None)
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn opened(&self, span: &Attributes<'_>, secrets: &Secrets) -> Traced {
        match &self.0 {
            Some(handing) => Traced::begin(span, secrets, handing.clock),
            None => Traced::default(),
        }
    }

    pub(crate) fn ending(&self, event: &Event<'_>, secrets: &Secrets) -> Option<Ending> {
        self.is_on().then(|| Ending::of(event, secrets))
    }

    /// Queues a finished span. A full queue drops it: closing a span never waits.
    pub(crate) fn closed(&self, name: &'static str, traced: Traced) {
        let Some(Handing { queue, lost, .. }) = &self.0 else { return };
        if let Some(span) = traced.end(name)
            && queue.try_send(span).is_err()
        {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The task that sends spans until the program exits.
pub struct Exporter {
    leaving: CancellationToken,
    work: Mutex<Option<JoinHandle<()>>>,
}

impl Exporter {
    /// Sends the spans that are left, within two seconds.
    pub async fn leave(&self) {
        self.leaving.cancel();
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut work) = work else { return };
        if tokio::time::timeout(PATIENCE, &mut work).await.is_err() {
            work.abort();
            tracing::warn!(ms = PATIENCE.as_millis() as u64, "the last traces were not sent in time");
        }
    }
}

/// Starts the task that sends the outlet's spans; `None` outside of a tokio runtime.
pub(crate) fn start(collector: Collector, clock: Clock) -> Option<(Outlet, Exporter)> {
    let handle = Handle::try_current().ok()?;
    let (outlet, sender) = queue(collector, clock, QUEUE);
    let leaving = CancellationToken::new();
    let work = handle.spawn(sender.run(leaving.clone()));
    Some((outlet, Exporter { leaving, work: Mutex::new(Some(work)) }))
}

fn queue(collector: Collector, clock: Clock, capacity: usize) -> (Outlet, Sender) {
    let (into, queue) = mpsc::channel(capacity);
    let lost = Arc::new(AtomicU64::new(0));
    let outlet = Outlet(Some(Handing { queue: into, lost: lost.clone(), clock }));
    (outlet, Sender { collector, queue, lost, is_failing: false })
}

struct Sender {
    collector: Collector,
    queue: mpsc::Receiver<EndedSpan>,
    /// Dropped spans since the last report.
    lost: Arc<AtomicU64>,
    is_failing: bool,
}

impl Sender {
    async fn run(mut self, leaving: CancellationToken) {
        while let Some(batch) = self.next_batch(&leaving).await {
            self.send(&batch).await;
        }
        let lost = self.lost.load(Ordering::Relaxed);
        if lost > 0 {
            tracing::warn!(lost, "not all traces were sent");
        }
    }

    /// The next batch: full, old enough, or the last before the exit. `None` when no span is left and the
    /// program exits.
    async fn next_batch(&mut self, leaving: &CancellationToken) -> Option<Vec<EndedSpan>> {
        let mut batch = Vec::new();
        let first = leaving.run_until_cancelled(self.queue.recv_many(&mut batch, BATCH)).await;
        if first.is_some_and(|count| count > 0) {
            let more = async {
                while batch.len() < BATCH {
                    let room = BATCH - batch.len();
                    if self.queue.recv_many(&mut batch, room).await == 0 {
                        break;
                    }
                }
            };
            let _ = tokio::time::timeout(PERIOD, leaving.run_until_cancelled(more)).await;
        }
        if leaving.is_cancelled() {
            self.queue.close();
            while batch.len() < BATCH
                && let Ok(span) = self.queue.try_recv()
            {
                batch.push(span);
            }
        }
        (!batch.is_empty()).then_some(batch)
    }

    async fn send(&mut self, batch: &[EndedSpan]) {
        let body = encode(&self.collector.service, batch);
        let (unwanted, why) = match (self.collector.post)(body).await {
            Ok(answer) => (rejected(&answer), None),
            Err(why) => (batch.len() as u64, Some(why)),
        };
        self.lost.fetch_add(unwanted, Ordering::Relaxed);
        match (std::mem::replace(&mut self.is_failing, why.is_some()), why) {
            (false, Some(why)) => tracing::warn!(why, "traces cannot be sent"),
            (true, None) => {
                let lost = self.lost.swap(0, Ordering::Relaxed);
                tracing::info!(lost, "traces are sent again");
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
}

#[cfg(test)]
#[path = "export_tests.rs"]
mod tests;
