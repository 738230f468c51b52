//! A span on its way to a collector: its trace, its times and the fields that may leave the machine.
//!
//! Only fields on a list of names leave. Provider error texts stay: they may quote the conversation,
//! and the collector may belong to a third party.

use crate::Clock;
use crate::log::fields::LONGEST;
use hermes_guard::{Secrets, redact};
use jiff::Timestamp;
use std::fmt;
use std::time::Instant;
use tracing::Event;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Record};

/// The fields that leave this machine: names, counts and outcomes.
const EXPORTED: [&str; 19] = [
    "attempt",
    "bytes",
    "call",
    "calls",
    "cost_usd",
    "exit_reason",
    "failed",
    "fault",
    "first_byte_ms",
    "mode",
    "model",
    "outcome",
    "provider",
    "session",
    "status",
    "tokens_in",
    "tokens_out",
    "tool",
    "turn_id",
];

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Told {
    Text(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
}

/// The exported fields of a span, each name once.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Attributed(pub(super) Vec<(&'static str, Told)>);

impl Attributed {
    fn put(&mut self, name: &'static str, value: Told) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|(known, value)| match value {
            Told::Text(text) if *known == name => Some(text.as_str()),
            _ => None,
        })
    }

    fn is_true(&self, name: &str) -> bool {
        self.0.iter().any(|(known, value)| *known == name && *value == Told::Boolean(true))
    }
}

/// A finished span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EndedSpan {
    pub(super) name: &'static str,
    pub(super) trace: u128,
    pub(super) id: u64,
    pub(super) parent: Option<u64>,
    /// Nanoseconds since 1970.
    pub(super) begun: u64,
    pub(super) ended: u64,
    pub(super) attributes: Attributed,
    /// The error, in a word or two.
    pub(super) error: Option<String>,
}

/// The traced part of an open span; empty without a collector.
#[derive(Default)]
pub(crate) struct Traced(Option<Box<OpenSpan>>);

struct OpenSpan {
    trace: u128,
    id: u64,
    parent: Option<u64>,
    begun: Timestamp,
    /// Measures the length: the clock on the wall may be set meanwhile.
    clock: Instant,
    attributes: Attributed,
    error: Option<String>,
}

impl Traced {
    /// Starts a span, in a trace of its own until [`Traced::below`] names a parent.
    pub(super) fn begin(span: &Attributes<'_>, secrets: &Secrets, now: Clock) -> Self {
        let mut gathered = Gathered::new(secrets);
        span.record(&mut gathered);
        Self(Some(Box::new(OpenSpan {
            // Zero means "none" on the line.
            trace: rand::random::<u128>().max(1),
            id: rand::random::<u64>().max(1),
            parent: None,
            begun: now(),
            clock: Instant::now(),
            attributes: gathered.attributes,
            error: None,
        })))
    }

    pub(crate) fn below(&mut self, parent: &Traced) {
        if let (Some(own), Some(parent)) = (&mut self.0, &parent.0) {
            own.trace = parent.trace;
            own.parent = Some(parent.id);
        }
    }

    pub(crate) fn recorded(&mut self, values: &Record<'_>, secrets: &Secrets) {
        if let Some(own) = &mut self.0 {
            let mut gathered = Gathered::new(secrets);
            values.record(&mut gathered);
            own.take(gathered.attributes);
        }
    }

    /// Takes an event of the span; the last one says how the span ended.
    pub(crate) fn ended(&mut self, name: &str, ending: Ending) {
        let Some(own) = &mut self.0 else { return };
        if let Some(end) = end_of(name, &ending.message) {
            own.error = error(end, &ending);
            own.take(ending.attributes);
        }
    }

    pub(super) fn end(self, name: &'static str) -> Option<EndedSpan> {
        let OpenSpan { trace, id, parent, begun, clock, attributes, error } = *self.0?;
        let took = u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let begun = u64::try_from(begun.as_nanosecond()).unwrap_or(0);
        let ended = begun.saturating_add(took);
        Some(EndedSpan { name, trace, id, parent, begun, ended, attributes, error })
    }
}

impl OpenSpan {
    fn take(&mut self, attributes: Attributed) {
        attributes.0.into_iter().for_each(|(name, value)| self.attributes.put(name, value));
    }
}

/// An event that may be the end of the span it happened in.
pub(crate) struct Ending {
    message: String,
    attributes: Attributed,
}

impl Ending {
    pub(super) fn of(event: &Event<'_>, secrets: &Secrets) -> Self {
        let mut gathered = Gathered::new(secrets);
        event.record(&mut gathered);
        Self { message: gathered.message, attributes: gathered.attributes }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Well,
    Badly,
}

/// The events that end a span. They are those of `agent/src/watching.rs` and
/// `tools/src/prepared.rs`.
fn end_of(span: &str, message: &str) -> Option<End> {
    match (span, message) {
        ("turn", "turn ended") | ("tool_call", "tool ended") => Some(End::Well),
        ("model_call", "model answered" | "model call stopped") => Some(End::Well),
        ("turn", "turn failed") | ("model_call", "model call failed") => Some(End::Badly),
        ("tool_call", "tool crashed") => Some(End::Badly),
        _ => None,
    }
}

/// The error of a span, if it failed. A tool call may end normally with a failed result.
fn error(end: End, Ending { message, attributes }: &Ending) -> Option<String> {
    match end {
        End::Well if attributes.is_true("failed") => Some("tool failed".to_owned()),
        End::Well => None,
        End::Badly => {
            let word = attributes.text("fault").or_else(|| attributes.text("exit_reason"));
            Some(word.unwrap_or(message).to_owned())
        }
    }
}

/// Reads fields; private ones are skipped, and every text goes through `redact`.
struct Gathered<'a> {
    secrets: &'a Secrets,
    message: String,
    attributes: Attributed,
}

impl<'a> Gathered<'a> {
    fn new(secrets: &'a Secrets) -> Self {
        Self { secrets, message: String::new(), attributes: Attributed::default() }
    }

    fn tell(&mut self, field: &Field, value: impl FnOnce() -> Told) {
        if EXPORTED.contains(&field.name()) {
            self.attributes.put(field.name(), value());
        }
    }
}

impl Visit for Gathered<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message = value.to_owned();
            return;
        }
        let secrets = self.secrets;
        self.tell(field, || {
            let clean = redact(secrets, value);
            Told::Text(clean.get(..clean.floor_char_boundary(LONGEST)).unwrap_or(&clean).to_owned())
        });
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.tell(field, || Told::Boolean(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.tell(field, || Told::Integer(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.tell(field, || Told::Integer(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() {
            self.tell(field, || Told::Number(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_says_whether_it_was_a_good_one() {
        let failed = ("failed", Told::Boolean(true));
        let fault = ("fault", Told::Text("overloaded".into()));
        let reason = ("exit_reason", Told::Text("store_failed".into()));
        for (span, message, attributes, want) in [
            ("turn", "turn ended", vec![], Some(None)),
            ("turn", "turn failed", vec![reason], Some(Some("store_failed"))),
            ("model_call", "model answered", vec![], Some(None)),
            ("model_call", "model call stopped", vec![], Some(None)),
            ("model_call", "model call failed", vec![fault], Some(Some("overloaded"))),
            ("tool_call", "tool ended", vec![("failed", Told::Boolean(false))], Some(None)),
            ("tool_call", "tool ended", vec![failed], Some(Some("tool failed"))),
            ("tool_call", "tool crashed", vec![], Some(Some("tool crashed"))),
            ("turn", "model answered", vec![], None),
            ("turn", "commands run without the supervisor", vec![], None),
        ] {
            let ending = Ending { message: message.to_owned(), attributes: Attributed(attributes) };
            let got = end_of(span, message).map(|end| error(end, &ending));
            assert_eq!(got.as_ref().map(|got| got.as_deref()), want, "{span}: {message}");
        }
    }

    #[test]
    fn a_name_is_there_once() {
        let mut all = Attributed::default();
        all.put("calls", Told::Integer(1));
        all.put("calls", Told::Integer(2));
        assert_eq!(all, Attributed(vec![("calls", Told::Integer(2))]));
    }
}
