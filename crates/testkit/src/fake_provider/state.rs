//! The script of the fake provider and its record of requests.

use crate::fault::{Outgoing, ReplyFormat};
use crate::{Fault, RecordedRequest, Rejection, check, check_anthropic, check_responses};
use hermes_scripted::http::Request;
use hermes_scripted::{Rendering, ReplyScript, ResponsesRendering, models_body};
use hermes_wire::ApiMode;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

type Answering = Arc<dyn Fn(&Value) -> ReplyScript + Send + Sync>;

/// The state that the test shares with the connection tasks.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    seen: watch::Sender<Seen>,
}

/// Counters that a test can wait for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) connections: u64,
    pub(super) requests: u64,
    pub(super) hang_ups: u64,
}

#[derive(Default)]
pub(super) struct State {
    queue: VecDeque<Answer>,
    /// Faults for the next reply.
    spoiling: Vec<Fault>,
    pub(super) answer: Option<Answering>,
    pub(super) expected_rejections: usize,
    pub(super) strict_end: bool,
    pub(super) requests: Vec<RecordedRequest>,
    /// Requests about the server itself, which are not model calls.
    pub(super) questions: Vec<RecordedRequest>,
    pub(super) rejections: Vec<Rejection>,
    replies: u64,
    mishaps: Vec<String>,
}

/// One queued answer.
enum Answer {
    Fault(Fault),
    Reply(ReplyScript, Vec<Fault>),
}

impl Default for Shared {
    fn default() -> Self {
        Self { state: Mutex::default(), seen: watch::Sender::new(Seen::default()) }
    }
}

/// Returns true for a request about the server or its models.
fn is_question(request: &RecordedRequest) -> bool {
    let is_about_server =
        request.path.starts_with("/api/") || ["/props", "/v1/models"].contains(&request.path.as_str());
    request.method == "GET" && is_about_server
}

fn no_such_path(path: &str) -> Outgoing {
    error(404, &json!({"error": {"message": format!("no such path: {path}")}}))
}

impl Shared {
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn note(&self, change: impl FnOnce(&mut Seen)) {
        self.seen.send_modify(change);
    }

    pub(super) fn seen(&self) -> Seen {
        *self.seen.borrow()
    }

    pub(super) fn watch(&self) -> watch::Receiver<Seen> {
        self.seen.subscribe()
    }

    /// Records a request and determines its response.
    pub(super) fn answer(&self, request: &Request, connection: u64) -> Outgoing {
        let recorded = RecordedRequest::new(request, connection);
        let body = recorded.json.clone();
        if is_question(&recorded) {
            self.with(|state| state.questions.push(recorded));
            return match request.path.as_str() {
                "/v1/models" => Outgoing::json(200, &models_body("fake")),
                path => no_such_path(path),
            };
        }
        self.with(|state| state.requests.push(recorded));
        let outgoing = match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/v1/chat/completions") => self.complete(ApiMode::ChatCompletions, &body),
            ("POST", "/v1/messages") => self.complete(ApiMode::AnthropicMessages, &body),
            ("POST", "/v1/responses") => self.complete(ApiMode::CodexResponses, &body),
            _ => no_such_path(&request.path),
        };
        self.note(|seen| seen.requests += 1);
        outgoing
    }

    fn complete(&self, mode: ApiMode, body: &Value) -> Outgoing {
        if let Err((rejection, words)) = checked(mode, body) {
            let answer = error(400, &words);
            self.with(|state| state.rejections.push(rejection));
            return answer;
        }
        match self.with(|state| (state.queue.pop_front(), state.answer.clone())) {
            (Some(Answer::Fault(fault)), _) => Outgoing::of_fault(&fault),
            (Some(Answer::Reply(reply, faults)), _) => self.render(mode, &reply, &faults, body),
            // A failed assertion in the closure must fail the test, not only this task.
            (None, Some(answer)) => match catch_unwind(AssertUnwindSafe(|| answer(body))) {
                Ok(reply) => self.render(mode, &reply, &[], body),
                Err(panic) => self.mishap(format!("`answer_with` panicked: {}", words(&*panic))),
            },
            (None, None) => self.mishap(format!("request {} was not scripted", self.seen().requests + 1)),
        }
    }

    fn render(&self, mode: ApiMode, reply: &ReplyScript, faults: &[Fault], body: &Value) -> Outgoing {
        let number = self.with(|state| {
            state.replies += 1;
            state.replies
        });
        let model = body["model"].as_str().unwrap_or_default();
        let include_usage = body["stream_options"]["include_usage"] == true;
        let rendering = Rendering { number, model, include_usage };
        let encrypted = body["include"].as_array().is_some_and(|names| !names.is_empty());
        let speech = match mode {
            ApiMode::ChatCompletions => ReplyFormat::Chat(rendering),
            ApiMode::AnthropicMessages => ReplyFormat::Messages(rendering),
            ApiMode::CodexResponses => {
                ReplyFormat::Responses(ResponsesRendering { number, model, encrypted })
            }
        };
        Outgoing::of_reply(reply, faults, &speech, body["stream"] == true)
    }

    /// Notes a violation for the test. The client gets a `400`, which it should not retry, so that the test
    /// ends soon.
    fn mishap(&self, what: String) -> Outgoing {
        let answer = error(400, &json!({"error": {"message": what, "code": "testkit"}}));
        self.with(|state| state.mishaps.push(what));
        answer
    }
}

impl State {
    pub(super) fn queue_reply(&mut self, reply: ReplyScript) {
        let faults = std::mem::take(&mut self.spoiling);
        self.queue.push_back(Answer::Reply(reply, faults));
    }

    pub(super) fn queue_fault(&mut self, fault: Fault) {
        match fault.spoils() {
            true => self.spoiling.push(fault),
            false => self.queue.push_back(Answer::Fault(fault)),
        }
    }

    /// All violations.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = self.mishaps.clone();
        if self.rejections.len() != self.expected_rejections {
            let refused: Vec<String> = self.rejections.iter().map(Rejection::to_string).collect();
            let (count, expected) = (refused.len(), self.expected_rejections);
            problems.push(format!("{count} requests were refused, {expected} announced: {refused:?}"));
        }
        if !self.spoiling.is_empty() {
            problems.push(format!("no reply follows {:?}", self.spoiling));
        }
        if self.strict_end && !self.queue.is_empty() {
            problems.push(format!("{} queued answers are left over", self.queue.len()));
        }
        problems
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("requests", &self.requests.len()).finish_non_exhaustive()
    }
}

/// A rejection and its body in the format of the request.
fn checked(mode: ApiMode, body: &Value) -> Result<(), (Rejection, Value)> {
    match mode {
        ApiMode::ChatCompletions => check(body).map_err(|refused| (refused.clone(), refused.body())),
        ApiMode::CodexResponses => check_responses(body).map_err(|refused| (refused.clone(), refused.body())),
        ApiMode::AnthropicMessages => {
            check_anthropic(body).map_err(|refused| (refused.clone(), refused.anthropic_body()))
        }
    }
}

fn error(status: u16, body: &Value) -> Outgoing {
    Outgoing::json(status, body.to_string().as_bytes())
}

fn words(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}
