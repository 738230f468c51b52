//! An in-process model: replies come from a queue, without sockets.

use futures::stream::{self, StreamExt};
use hermes_conversation::{
    AssistantMessage, Bill, BoxFuture, CallId, FinishReason, Issuer, Reasoning, ToolCall,
};
use hermes_scripted::{CallScript, ReplyScript};
use hermes_wire::{
    ApiMode, CallState, Dialect, EncodedRequest, Failure, Model, ModelEvent, ModelEvents, ModelProfile, Reply,
};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

type Watching = Box<dyn Fn(&EncodedRequest) + Send + Sync>;

/// The behaviour of the model in one call.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelStep {
    Reply(ReplyScript),
    /// Fails before the first event.
    Fail(Failure),
    /// Streams the reply without its end, then fails.
    Cut(ReplyScript, Failure),
    /// Never answers.
    Pend,
    /// Streams the reply without its end, then nothing more.
    StreamThenPend(ReplyScript),
}

/// A [`Model`] that carries out one scripted step per request.
pub struct ScriptedModel {
    profile: ModelProfile,
    state: Mutex<State>,
    watching: Option<Watching>,
}

#[derive(Default)]
struct State {
    steps: VecDeque<ModelStep>,
    requests: Vec<EncodedRequest>,
}

impl ScriptedModel {
    /// Replies and failures, in order. Requests past the end fail with HTTP 400.
    pub fn new(steps: impl IntoIterator<Item = Result<ReplyScript, Failure>>) -> Self {
        Self::of(steps.into_iter().map(|step| match step {
            Ok(reply) => ModelStep::Reply(reply),
            Err(failure) => ModelStep::Fail(failure),
        }))
    }

    /// Any steps, in order.
    pub fn of(steps: impl IntoIterator<Item = ModelStep>) -> Self {
        let state = State { steps: steps.into_iter().collect(), ..State::default() };
        Self { profile: profile(), state: Mutex::new(state), watching: None }
    }

    /// Adds a step, also while the model is in use.
    pub fn push(&self, step: ModelStep) {
        self.with(|state| state.steps.push_back(step));
    }

    pub fn with_profile(mut self, profile: ModelProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Calls `watch` on each request before the reply.
    pub fn on_request(mut self, watch: impl Fn(&EncodedRequest) + Send + Sync + 'static) -> Self {
        self.watching = Some(Box::new(watch));
        self
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<EncodedRequest> {
        self.with(|state| state.requests.clone())
    }

    /// The bodies of all requests so far.
    pub fn bodies(&self) -> Vec<Value> {
        let requests = self.requests();
        requests.iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    }

    /// The number of remaining steps.
    pub fn left(&self) -> usize {
        self.with(|state| state.steps.len())
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the request and returns its step and number.
    fn take(&self, request: EncodedRequest) -> (u64, ModelStep) {
        if let Some(watch) = &self.watching {
            watch(&request);
        }
        self.with(|state| {
            state.requests.push(request);
            let number = state.requests.len();
            let step = state.steps.pop_front().unwrap_or_else(|| {
                let body = format!("no step is scripted for request {number}");
                ModelStep::Fail(Failure::Http { status: 400, retry_after: None, body })
            });
            (number as u64, step)
        })
    }
}

impl Model for ScriptedModel {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn reply(&self, request: EncodedRequest) -> BoxFuture<'_, Result<ModelEvents, Failure>> {
        Box::pin(async move {
            let (number, step) = self.take(request);
            match step {
                ModelStep::Reply(script) => {
                    let finished =
                        ModelEvent::Finished(Box::new(reply(&script, number, &self.profile.issuer)));
                    Ok(stream::iter(pieces(&script).into_iter().chain([finished]).map(Ok)).boxed())
                }
                ModelStep::Fail(failure) => Err(failure),
                ModelStep::Cut(script, failure) => {
                    let events = pieces(&script).into_iter().map(Ok).chain([Err(failure)]);
                    Ok(stream::iter(events.collect::<Vec<_>>()).boxed())
                }
                ModelStep::Pend => std::future::pending().await,
                ModelStep::StreamThenPend(script) => {
                    Ok(stream::iter(pieces(&script).into_iter().map(Ok)).chain(stream::pending()).boxed())
                }
            }
        })
    }
}

/// The events of a reply before its end.
fn pieces(script: &ReplyScript) -> Vec<ModelEvent> {
    let reasoning = script.reasoning.iter().cloned().map(ModelEvent::Reasoning);
    let text = script.text.iter().cloned().map(ModelEvent::Text);
    let calls = script.calls.iter().map(|call| ModelEvent::ToolPreparing(call.name.clone()));
    reasoning.chain(text).chain(calls).collect()
}

fn reply(script: &ReplyScript, number: u64, issuer: &Issuer) -> Reply {
    let finish = script.finish_reason();
    let calls = script.calls.iter().enumerate();
    let reasoning = (!script.reasoning.is_empty()).then(|| script.reasoning.concat());
    Reply {
        calls: script.calls.iter().map(|call| call_state(call, finish)).collect(),
        message: AssistantMessage {
            text: script.text.concat(),
            calls: calls
                .map(|(index, call)| {
                    ToolCall::new(CallId::new(call.id_or(number, index)), &call.name, &call.arguments)
                })
                .collect(),
            reasoning: Reasoning { text: reasoning, ..Reasoning::default() },
            finish: Some(finish),
            issuer: Some(issuer.clone()),
        },
        finish,
        usage: script.usage,
        bill: Bill::default(),
    }
}

fn call_state(call: &CallScript, finish: FinishReason) -> CallState {
    let readable = serde_json::from_str::<Value>(&call.arguments).is_ok();
    match (readable, finish) {
        (true, _) => CallState::Complete,
        (false, FinishReason::Length) => CallState::Truncated,
        (false, _) => CallState::Malformed,
    }
}

fn profile() -> ModelProfile {
    let (provider, origin, model) = ("scripted", "http://127.0.0.1", "scripted-model");
    ModelProfile {
        mode: ApiMode::ChatCompletions,
        model: model.into(),
        issuer: Issuer { provider: provider.into(), origin: origin.into(), model: model.into() },
        base_url: format!("{origin}/v1"),
        dialect: Dialect::default(),
        max_tokens: None,
        usual_cap: None,
        context_length: None,
        ollama_num_ctx: None,
        text_tool_calls: false,
        sees_images: None,
        effort: None,
        cache: None,
        extra: hermes_wire::ExtraFields::default(),
    }
}

#[cfg(test)]
#[path = "scripted_model_tests.rs"]
mod tests;
