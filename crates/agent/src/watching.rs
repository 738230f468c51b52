//! Log lines and trace spans of model calls.
//!
//! They hold no text of the conversation: only names, counts and times, and at DEBUG sizes and digests. The
//! error text of a provider goes to the log only, where secrets are redacted.

use crate::{Ports, Session, TurnReport};
use hermes_conversation::{
    CacheEntry, CallEnd, Cost, ModelCall, PromptPart, TraceSpan, TurnEvent, TurnId, Usage,
};
use hermes_wire::{EncodedRequest, Fault, ModelProfile, Reply};
use std::time::{Duration, Instant};
use tracing::Span;

/// A model call under way.
pub(crate) struct Watch {
    begun: Instant,
    first_byte: Option<Duration>,
    attempt: u32,
    turn: Option<TurnId>,
    provider: String,
    model: String,
    span: Span,
    cache: CacheEntry,
}

impl Watch {
    pub(crate) fn begin(
        session: &Session,
        profile: &ModelProfile,
        request: &EncodedRequest,
        cache: CacheEntry,
    ) -> Self {
        let attempt = session.failures + 1;
        let (provider, model) = (profile.issuer.provider.clone(), profile.model.to_string());
        let mode = profile.mode.as_str();
        let span = tracing::info_span!("model_call", provider, model, mode, attempt);
        tracing::debug!(parent: &span, bytes = request.body.len(), "a model is asked");
        let turn = session.turn.as_ref().map(|turn| turn.id);
        Self { begun: Instant::now(), first_byte: None, attempt, turn, provider, model, span, cache }
    }

    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    /// When the first piece of the reply came, if any did.
    pub(crate) fn heard_at(&mut self, first: Option<Instant>) {
        self.first_byte = first.map(|first| first.duration_since(self.begun));
    }

    pub(crate) fn replied(self, reply: &Reply, outcome: &'static str, session: &mut Session, ports: &Ports) {
        session.failures = 0;
        let (took, first_byte) = (self.begun.elapsed(), self.first_byte_ms());
        let usage = reply.usage.unwrap_or_default();
        let (tokens_in, tokens_out) = (usage.prompt(), usage.output);
        let (ms, calls) = (millis(took), reply.message.calls.len());
        tracing::info!(
            parent: &self.span,
            outcome,
            calls,
            tokens_in,
            tokens_out,
            first_byte_ms = first_byte,
            ms,
            "model answered"
        );
        let end = CallEnd::Replied(outcome);
        self.note(took, end, None, reply.usage, Some(reply.bill.cost), ports);
    }

    pub(crate) fn failed(self, fault: &Fault, session: &mut Session, ports: &Ports) {
        session.failures += 1;
        let (took, first_byte) = (self.begun.elapsed(), self.first_byte_ms());
        let class = fault.class.as_str();
        let (ms, detail) = (millis(took), clipped(&fault.detail));
        tracing::warn!(
            parent: &self.span,
            fault = class,
            status = fault.refusal.status,
            first_byte_ms = first_byte,
            ms,
            detail,
            "model call failed"
        );
        self.note(took, CallEnd::Failed(class), None, None, None, ports);
    }

    /// The user stopped the call after `text` had arrived.
    pub(crate) fn stopped(self, text: String, ports: &Ports) {
        let took = self.begun.elapsed();
        tracing::info!(parent: &self.span, ms = millis(took), "model call stopped");
        let partial = (!text.trim().is_empty()).then_some(text);
        self.note(took, CallEnd::Stopped, partial, None, None, ports);
    }

    fn first_byte_ms(&self) -> Option<u64> {
        self.first_byte.map(millis)
    }

    fn note(
        self,
        took: Duration,
        end: CallEnd,
        partial: Option<String>,
        usage: Option<Usage>,
        cost: Option<Cost>,
        ports: &Ports,
    ) {
        let Self { attempt, turn: Some(turn), provider, model, first_byte, cache, .. } = self else { return };
        let call = Box::new(ModelCall {
            took,
            first_byte,
            provider,
            model,
            attempt,
            end,
            usage,
            cost,
            cache,
            partial,
        });
        ports.transcript.note_span(TraceSpan::ModelCall { turn, call });
    }
}

/// Reports a changed prefix without a declared cache break.
pub(crate) async fn unexplained(part: PromptPart, entry: CacheEntry, ports: &Ports) {
    let (part, lost) = (part.as_str(), entry.lost);
    tracing::warn!(part, lost_bytes = lost, "the prompt changed for no declared reason");
    let notice = format!(
        "the prompt prefix changed unexpectedly ({part}): cache miss for about {} tokens. `hermes cache report` \
         shows details; please report this",
        lost / 4
    );
    ports.events.send(TurnEvent::Status(notice)).await;
}

/// Logs the end of a turn; session and turn are in the span around it.
pub(crate) fn turn_ended(report: &TurnReport) {
    let TurnReport { exit_reason, api_calls, usage, .. } = report;
    let (tokens_in, tokens_out) = (usage.prompt(), usage.output);
    let cost = report.cost.and_then(|cost| cost.known()).map(|money| money.dollars());
    match report.error.as_deref().map(clipped).filter(|_| report.failed) {
        Some(error) => tracing::warn!(
            exit_reason,
            calls = api_calls,
            tokens_in,
            tokens_out,
            cost_usd = cost,
            error,
            "turn failed"
        ),
        None => tracing::info!(
            exit_reason,
            calls = api_calls,
            tokens_in,
            tokens_out,
            cost_usd = cost,
            "turn ended"
        ),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The beginning of a provider's error text.
fn clipped(text: &str) -> &str {
    const MOST: usize = 400;
    text.get(..text.floor_char_boundary(MOST)).unwrap_or(text)
}
