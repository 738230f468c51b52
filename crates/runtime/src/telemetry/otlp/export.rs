//! Spans are handed over without waiting, gathered in the background, and sent in batches.
//!
//! A turn never waits for a collector: what does not fit into the queue is lost and counted. Trouble is
//! logged when it begins and when it is over, not every time.

use super::encode::{encode, rejected};
use super::span::{EndedSpan, Ending, Traced};
use crate::config::OtlpSettings;
use futures::future::BoxFuture;
use hermes_guard::Secrets;
use hermes_providers::{Asker, Outbox};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::Event;
use tracing::span::Attributes;

/// Spans that wait to be sent; more are lost.
const QUEUE: usize = 2048;
/// Spans in one request.
const BATCH: usize = 512;
/// How long the first span of a batch waits for others.
const PERIOD: Duration = Duration::from_secs(5);
/// How long leaving waits for what is not sent yet.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sends one body and gives the answer, or why there is none.
type Post = Box<dyn Fn(Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> + Send + Sync>;

/// Where spans are sent, and under which name.
pub(crate) struct Collector {
    service: String,
    post: Post,
}

impl Collector {
    /// Nothing is connected yet.
    pub(crate) fn new(settings: OtlpSettings, asker: Asker) -> Result<Self, String> {
        let outbox = Outbox::new(asker, &settings.endpoint, "v1/traces", &settings.headers)
            .map_err(|error| error.to_string())?;
        let post = move |body| -> BoxFuture<'static, Result<Vec<u8>, String>> {
            let outbox = outbox.clone();
            Box::pin(async move { outbox.post(body).await.map_err(|failure| failure.to_string()) })
        };
        Ok(Self { service: settings.service_name, post: Box::new(post) })
    }
}

/// Takes spans from the subscriber of the log. Off, it takes none.
pub(crate) struct Outlet(Option<Handing>);

struct Handing {
    queue: mpsc::Sender<EndedSpan>,
    lost: Arc<AtomicU64>,
}

impl Outlet {
    pub(crate) fn off() -> Self {
        Self(None)
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn opened(&self, span: &Attributes<'_>, secrets: &Secrets) -> Traced {
        match self.is_on() {
            true => Traced::begin(span, secrets),
            false => Traced::default(),
        }
    }

    pub(crate) fn ending(&self, event: &Event<'_>, secrets: &Secrets) -> Option<Ending> {
        self.is_on().then(|| Ending::of(event, secrets))
    }

    /// Hands a span over, or loses it: whoever closes a span does not wait.
    pub(crate) fn closed(&self, name: &'static str, traced: Traced) {
        let Some(Handing { queue, lost }) = &self.0 else { return };
        if let Some(span) = traced.end(name)
            && queue.try_send(span).is_err()
        {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The work in the background, until the program leaves.
pub(crate) struct Exporter {
    leaving: CancellationToken,
    work: Mutex<Option<JoinHandle<()>>>,
}

impl Exporter {
    /// Sends what is not sent yet, as far as that takes no longer than a person likes to wait.
    pub(crate) async fn leave(&self) {
        self.leaving.cancel();
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut work) = work else { return };
        if tokio::time::timeout(PATIENCE, &mut work).await.is_err() {
            work.abort();
            tracing::warn!(ms = PATIENCE.as_millis() as u64, "the last traces were not sent in time");
        }
    }
}

/// Begins to send what the outlet takes. `None` where nothing can run in the background.
pub(crate) fn start(collector: Collector) -> Option<(Outlet, Exporter)> {
    let handle = Handle::try_current().ok()?;
    let (outlet, sender) = line(collector, QUEUE);
    let leaving = CancellationToken::new();
    let work = handle.spawn(sender.run(leaving.clone()));
    Some((outlet, Exporter { leaving, work: Mutex::new(Some(work)) }))
}

fn line(collector: Collector, room: usize) -> (Outlet, Sender) {
    let (into, queue) = mpsc::channel(room);
    let lost = Arc::new(AtomicU64::new(0));
    let outlet = Outlet(Some(Handing { queue: into, lost: lost.clone() }));
    (outlet, Sender { collector, queue, lost, is_failing: false })
}

struct Sender {
    collector: Collector,
    queue: mpsc::Receiver<EndedSpan>,
    /// Spans that nobody will see, since the last time this was said.
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

    /// Spans that are due: enough of them, the first waited long enough, or the program leaves. `None`
    /// when there are none and there will be none.
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
