//! A provider on loopback that rejects everything that a real one would reject.
//!
//! A rejected request, an unscripted request and a fault without a reply fail the test when the provider is
//! dropped, so a test cannot miss them.

mod state;

use crate::fault::{Ending, Outgoing};
use crate::{Fault, RecordedRequest, Rejection};
use hermes_scripted::http::Connection;
use hermes_scripted::{Listener, ReplyScript};
use serde_json::Value;
use state::{Seen, Shared};
use std::sync::Arc;
use std::time::Duration;

/// The time limit for something to reach the provider.
const PATIENCE: Duration = Duration::from_secs(30);

/// A strict server for one test. It supports chat completions, the Messages and the Responses format, and
/// answers all from the same scripts.
#[derive(Debug)]
pub struct FakeProvider {
    listener: Listener,
    shared: Arc<Shared>,
    checked: bool,
}

impl FakeProvider {
    /// Starts on a free port with an empty script.
    pub async fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let serving = shared.clone();
        let listener = Listener::start(move |connection| serve(connection, serving.clone())).await.unwrap();
        Self { listener, shared, checked: false }
    }

    /// The base URL to configure: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        self.listener.base_url()
    }

    /// Queues a reply.
    pub fn reply(&self, reply: ReplyScript) -> &Self {
        self.shared.with(|state| state.queue_reply(reply));
        self
    }

    /// Queues replies.
    pub fn replies(&self, replies: impl IntoIterator<Item = ReplyScript>) -> &Self {
        replies.into_iter().fold(self, Self::reply)
    }

    /// Queues a fault: as an answer, or as damage to the next queued reply.
    pub fn fault(&self, fault: Fault) -> &Self {
        self.shared.with(|state| state.queue_fault(fault));
        self
    }

    /// Computes the replies to requests while the queue is empty.
    pub fn answer_with(&self, answer: impl Fn(&Value) -> ReplyScript + Send + Sync + 'static) -> &Self {
        self.shared.with(|state| state.answer = Some(Arc::new(answer)));
        self
    }

    /// Announces that one request will be rejected. It does not consume the queue.
    pub fn expect_rejection(&self) -> &Self {
        self.shared.with(|state| state.expected_rejections += 1);
        self
    }

    /// Fails the test if queued answers are left at the end.
    pub fn strict_end(&self) -> &Self {
        self.shared.with(|state| state.strict_end = true);
        self
    }

    /// The requests about the server itself so far: `GET` of its models or settings.
    pub fn questions(&self) -> Vec<RecordedRequest> {
        self.shared.with(|state| state.questions.clone())
    }

    /// All other requests so far, in order.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.with(|state| state.requests.clone())
    }

    /// The bodies of the model calls so far.
    pub fn bodies(&self) -> Vec<Value> {
        let requests = self.requests().into_iter();
        requests.filter(|request| request.method == "POST").map(|request| request.json).collect()
    }

    /// The rejections so far, announced or not.
    pub fn rejections(&self) -> Vec<Rejection> {
        self.shared.with(|state| state.rejections.clone())
    }

    /// The number of connections so far.
    pub fn connections(&self) -> u64 {
        self.shared.seen().connections
    }

    /// The number of clients that disconnected during a response.
    pub fn hang_ups(&self) -> u64 {
        self.shared.seen().hang_ups
    }

    /// Waits for this many requests.
    pub async fn wait_for_requests(&self, count: u64) {
        self.wait("requests", count, |seen| seen.requests).await;
    }

    /// Waits until this many clients have disconnected during a response.
    pub async fn wait_for_hang_ups(&self, count: u64) {
        self.wait("hang-ups", count, |seen| seen.hang_ups).await;
    }

    /// Ends the provider and fails the test on any violation; dropping does the same.
    pub fn finish(mut self) {
        self.check();
    }

    async fn wait(&self, what: &str, count: u64, of: fn(&Seen) -> u64) {
        let mut watching = self.shared.watch();
        let enough = watching.wait_for(|seen| of(seen) >= count);
        let waited = tokio::time::timeout(PATIENCE, enough).await;
        assert!(waited.is_ok(), "waited {PATIENCE:?} for {count} {what}, saw {:?}", self.shared.seen());
    }

    fn check(&mut self) {
        if !std::mem::replace(&mut self.checked, true) {
            let problems = self.shared.with(|state| state.problems());
            assert!(problems.is_empty(), "FakeProvider: {}", problems.join("; "));
        }
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        // A second panic would abort the test run and hide the first.
        if !std::thread::panicking() {
            self.check();
        }
    }
}

async fn serve(mut connection: Connection, shared: Arc<Shared>) {
    shared.note(|seen| seen.connections += 1);
    while let Ok(Some(request)) = connection.next_request().await {
        let outgoing = shared.answer(&request, connection.number());
        let stays = transmit(&mut connection, &outgoing).await;
        if !stays {
            shared.note(|seen| seen.hang_ups += 1);
        }
        if !stays || outgoing.ending == Ending::Close || request.wants_close() {
            return;
        }
    }
}

/// Sends a response; false if the client disconnected first.
async fn transmit(connection: &mut Connection, outgoing: &Outgoing) -> bool {
    for (place, write) in outgoing.writes.iter().enumerate() {
        if place > 0 && !outgoing.delay.is_zero() {
            tokio::select! {
                () = tokio::time::sleep(outgoing.delay) => {}
                () = connection.hung_up() => return false,
            }
        }
        if connection.send(write).await.is_err() {
            return false;
        }
        // Yields, so that the client can read each piece separately.
        tokio::task::yield_now().await;
    }
    if outgoing.ending == Ending::Stall {
        connection.hung_up().await;
        return false;
    }
    true
}

#[cfg(test)]
#[path = "fake_provider_tests.rs"]
mod tests;
