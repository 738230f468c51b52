//! A provider on loopback that takes nothing a real one would refuse.
//!
//! A refused request, a request nobody scripted and a fault without a reply all fail the test
//! when the provider is dropped, so a test cannot pass over them by accident.

mod state;

use crate::fault::{Ending, Outgoing};
use crate::{Fault, Recorded, Rejection};
use hermes_scripted::http::Connection;
use hermes_scripted::{Listening, ReplyScript};
use serde_json::Value;
use state::{Seen, Shared};
use std::sync::Arc;
use std::time::Duration;

/// How long a test may wait for something to reach the provider.
const PATIENCE: Duration = Duration::from_secs(30);

/// A strict server for one test. It speaks chat completions, the Messages and the Responses format,
/// whichever it is asked in, and answers all from the same scripts.
#[derive(Debug)]
pub struct FakeProvider {
    listening: Listening,
    shared: Arc<Shared>,
    checked: bool,
}

impl FakeProvider {
    /// Starts on a free port with nothing scripted.
    pub async fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let serving = shared.clone();
        let listening = Listening::start(move |connection| serve(connection, serving.clone())).await.unwrap();
        Self { listening, shared, checked: false }
    }

    /// The base URL to configure: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        self.listening.base_url()
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

    /// Queues a fault: as an answer, or as the spoiling of the reply queued next.
    pub fn fault(&self, fault: Fault) -> &Self {
        self.shared.with(|state| state.queue_fault(fault));
        self
    }

    /// Computes the replies to requests that find the queue empty.
    pub fn answer_with(&self, answer: impl Fn(&Value) -> ReplyScript + Send + Sync + 'static) -> &Self {
        self.shared.with(|state| state.answer = Some(Arc::new(answer)));
        self
    }

    /// Announces that one request will be refused. It takes nothing from the queue.
    pub fn expect_rejection(&self) -> &Self {
        self.shared.with(|state| state.expected_rejections += 1);
        self
    }

    /// Fails the test if queued answers are left over at the end.
    pub fn strict_end(&self) -> &Self {
        self.shared.with(|state| state.strict_end = true);
        self
    }

    /// The requests about the server itself so far: `GET` of its models or settings.
    pub fn questions(&self) -> Vec<Recorded> {
        self.shared.with(|state| state.questions.clone())
    }

    /// Everything else that was asked so far, in order.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.with(|state| state.requests.clone())
    }

    /// The bodies of the requests for a reply so far.
    pub fn bodies(&self) -> Vec<Value> {
        let requests = self.requests().into_iter();
        requests.filter(|request| request.method == "POST").map(|request| request.json).collect()
    }

    /// The refusals so far, announced or not.
    pub fn rejections(&self) -> Vec<Rejection> {
        self.shared.with(|state| state.rejections.clone())
    }

    /// How many connections were opened so far.
    pub fn connections(&self) -> u64 {
        self.shared.seen().connections
    }

    /// How many clients left while they were being answered.
    pub fn hang_ups(&self) -> u64 {
        self.shared.seen().hang_ups
    }

    /// Waits until this many requests have arrived.
    pub async fn wait_for_requests(&self, count: u64) {
        self.wait("requests", count, |seen| seen.requests).await;
    }

    /// Waits until this many clients have left while they were being answered.
    pub async fn wait_for_hang_ups(&self, count: u64) {
        self.wait("hang-ups", count, |seen| seen.hang_ups).await;
    }

    /// Ends the provider and fails the test over anything that went wrong; dropping does the same.
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

/// Sends a response; `false` means that the client left first.
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
        // The reader gets a chance to see each piece by itself.
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
