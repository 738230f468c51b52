//! One model call: build, send, listen.

use crate::text_calls::TextCalls;
use crate::turn::{Asking, Event, When};
use crate::watching::{self, Watch};
use crate::{CacheOf, Ports, Session, engine_view, window};
use futures::StreamExt;
use hermes_conversation::{
    AssistantMessage, EventSink, MemoryFilter, PrefixStatus, SpentCall, TurnEvent, Usage, silent_thinking,
    without_memory,
};
use hermes_prompt::{Offer, build_request};
use hermes_wire::{EncodedRequest, Failure, Model, ModelEvent, ModelProfile, Reply, Situation, classify_in};
use std::borrow::Cow;
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// The recorded outcome of a reply whose calls were written as text.
const TEXT_CALLS: &str = "text_tool_calls";

/// Asks the model once. Nothing of a reply that did not finish enters the history.
pub(crate) async fn call_model(
    session: &mut Session,
    ports: &Ports,
    asking: Asking,
    cancel: &CancellationToken,
) -> Event {
    let model = ports.route.current();
    let offer = match asking {
        Asking::WithTools => Offer::Tools(ports.tools.definitions()),
        Asking::InWords => Offer::Nothing,
    };
    if let Some(tokens) = window::too_small(session, model.profile(), offer.count()) {
        let is_ollama = model.profile().ollama_num_ctx.is_some();
        return Event::WindowTooSmall { tokens, is_ollama };
    }
    let quirks = *session.quirks_mut();
    let mut request = build_request(
        model.profile(),
        session.spoken_system(),
        &session.additions,
        &session.history,
        &offer,
        quirks,
        &session.lease.session,
    );
    request.settings.max_tokens = session.output_cap.or(request.settings.max_tokens);
    let encoded = session.encoder(model.profile().mode).encode(&request);
    let messages = session.history.len();
    let situation = situation(model.profile(), &encoded, request.messages.len());
    let of = CacheOf::of(model.profile(), offer.count() > 0);
    let entry = session.ledger.enter(of, &encoded.segments);
    if let PrefixStatus::Unexplained(part) = entry.status {
        watching::unexplained(part, entry, ports).await;
    }
    if session.requests.keeps_all {
        session.requests.keep(model.profile(), &encoded.body, None);
    }
    let mut watch = Watch::begin(session, model.profile(), &encoded, entry);
    let text_calls = TextCalls::of(model.profile(), &offer, messages);
    let mut heard = Heard { is_thinking: true, text_calls, ..Heard::default() };
    ports.events.send(TurnEvent::Thinking { active: true }).await;
    let listening = async {
        let events = model.reply(encoded).await?;
        listen(events, &ports.events, &mut heard).await
    };
    let ended = cancel.run_until_cancelled(listening.instrument(watch.span())).await;
    watch.heard_at(heard.first);
    heard.speaks(&ports.events).await;
    match ended {
        None => {
            watch.stopped(std::mem::take(&mut heard.text), ports);
            retract(&heard, ports).await;
            Event::Cancelled(When::CallingModel)
        }
        Some(Err(failure)) => {
            let fault = classify_in(&failure, &situation);
            watch.failed(&fault, session, ports);
            // Written again, so that the bytes are not held while a reply comes in.
            let encoded = session.encoder(model.profile().mode).encode(&request);
            session.requests.keep(model.profile(), &encoded.body, Some(&fault));
            retract(&heard, ports).await;
            Event::Failed(fault)
        }
        Some(Ok(mut reply)) => {
            let outcome = if heard.text_calls.are_taken { TEXT_CALLS } else { reply.finish.as_str() };
            watch.replied(&reply, outcome, session, ports);
            ports.events.send(TurnEvent::StepFinished { usage: reply.usage }).await;
            reply.message.issuer = Some(model.profile().issuer.clone());
            model.profile().keep_echo(&mut reply.message);
            session.count(spent_call(model.as_ref(), &reply));
            if let Some(usage) = reply.usage.filter(|_| asking == Asking::WithTools) {
                measured(session, ports, messages, &usage);
            }
            Event::Replied(reply)
        }
    }
}

/// Compares what the provider counted with what was estimated.
fn measured(session: &mut Session, ports: &Ports, messages: usize, usage: &Usage) {
    let model = ports.route.current();
    ports.engine.measured(usage);
    let fixed = session.fixed_tokens(&ports.tools.definitions());
    session.context.weights.follow(session.history.messages());
    let estimate = fixed + session.context.weights.tokens(0..messages);
    // Only a compaction that was not judged yet wants to know.
    let threshold = session.context.is_on_trial().then(|| engine_view::window_of(session, ports));
    let threshold = threshold.and_then(|window| ports.engine.threshold(&window));
    session.context.measured(&model.profile().model, estimate, messages, usage, threshold);
}

/// The size of the call, for faults that only the size explains.
fn situation(profile: &ModelProfile, request: &EncodedRequest, messages: usize) -> Situation {
    /// Bytes of a request per token, roughly.
    const BYTES: u64 = 4;
    Situation {
        tokens: request.body.len() as u64 / BYTES,
        window: profile.context_length,
        messages,
        thinks_long: silent_thinking(&profile.model).is_some(),
        is_aggregator: profile.is_router(),
    }
}

/// The part of a reply that has arrived.
#[derive(Default)]
struct Heard {
    /// True once the front end has received a part of it.
    anything: bool,
    /// When the first piece came.
    first: Option<Instant>,
    /// Nothing but reasoning has come.
    is_thinking: bool,
    /// The text so far, without reasoning.
    text: String,
    memory: MemoryFilter,
    text_calls: TextCalls,
}

impl Heard {
    /// Something came that is not reasoning, or nothing will.
    async fn speaks(&mut self, front: &EventSink) {
        if std::mem::take(&mut self.is_thinking) {
            front.send(TurnEvent::Thinking { active: false }).await;
        }
    }

    /// Shows a piece of text, unless it may turn out to be a tool call.
    async fn pass(&mut self, text: Cow<'_, str>, front: &EventSink) {
        if let Some(text) = self.text_calls.pass(text) {
            self.speaks(front).await;
            self.show(&text, front);
        }
    }

    fn show(&mut self, text: &str, front: &EventSink) {
        if !text.is_empty() {
            self.anything = true;
            self.text.push_str(text);
            front.text(text);
        }
    }
}

/// Retracts the displayed part of a reply that will not be completed.
async fn retract(heard: &Heard, ports: &Ports) {
    if heard.anything {
        ports.events.send(TurnEvent::Retracted).await;
    }
}

async fn listen(
    mut events: hermes_wire::ModelEvents,
    front: &EventSink,
    heard: &mut Heard,
) -> Result<Box<Reply>, Failure> {
    while let Some(event) = events.next().await {
        heard.first.get_or_insert_with(Instant::now);
        match event? {
            ModelEvent::Text(text) => {
                let text = heard.memory.feed(&text);
                heard.pass(text, front).await;
            }
            ModelEvent::Reasoning(text) => {
                heard.anything = true;
                front.reasoning(&text);
            }
            ModelEvent::ToolPreparing(name) => {
                heard.speaks(front).await;
                front.send(TurnEvent::ToolPreparing { name }).await;
            }
            ModelEvent::Usage(_) => {}
            ModelEvent::Finished(mut reply) => {
                heard.speaks(front).await;
                let held = heard.memory.finish();
                heard.pass(held.into(), front).await;
                if let Cow::Owned(clean) = without_memory(&reply.message.text) {
                    reply.message.text = clean;
                }
                if let Some(text) = heard.text_calls.end(&mut reply) {
                    heard.show(&text, front);
                }
                if !heard.anything {
                    tell(&reply.message, front);
                }
                return Ok(reply);
            }
        }
    }
    Err(Failure::Cut { cause: "the stream ended before the reply did".to_owned() })
}

/// Shows a reply that came in one piece, as one that was streamed is shown.
fn tell(message: &AssistantMessage, front: &EventSink) {
    if let Some(text) = message.reasoning.text.as_deref().filter(|text| !text.is_empty()) {
        front.reasoning(text);
    }
    if !message.text.is_empty() {
        front.text(&message.text);
    }
}

fn spent_call(model: &dyn Model, reply: &Reply) -> SpentCall {
    let profile = model.profile();
    SpentCall {
        calls: 1,
        usage: reply.usage.unwrap_or_default(),
        model: profile.model.to_string(),
        provider: profile.issuer.provider.clone(),
        base_url: profile.base_url.clone(),
        task: String::new(),
        bill: reply.bill.clone(),
    }
}

#[cfg(test)]
#[path = "calling_tests.rs"]
mod tests;
