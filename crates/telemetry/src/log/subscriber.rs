//! From `tracing` to lines: every event is one line, with the fields of the spans around it.
//!
//! A subscriber of our own instead of a library's: it is small, has no thread, allocates nothing at a
//! wake-up, and every value goes through redaction in one place (`fields`).

use super::fields::Fields;
use super::file::LogFile;
use super::line::{self, LogLevel};
use super::open_spans::{Span, Spans};
use crate::otlp::Outlet;
use crate::{Clock, LogSettings, OnFailure};
use hermes_guard::Secrets;
use jiff::tz::TimeZone;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_core::span::Current;

thread_local! {
    /// The spans this thread is in, the innermost last.
    static ENTERED: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) };
}

/// The `tracing` subscriber that writes the log file.
pub(crate) struct LogSubscriber {
    level: LogLevel,
    secrets: Secrets,
    spans: Mutex<Spans>,
    output: Mutex<Output>,
    /// Hands spans to a collector.
    outlet: Outlet,
    failed: OnFailure,
    has_failed: AtomicBool,
}

/// The log file, and buffers that are kept from line to line.
struct Output {
    file: LogFile,
    clock: Clock,
    zone: fn() -> TimeZone,
    /// The second of the newest line, and its text.
    second: (i64, String),
    line: String,
}

impl Output {
    /// Milliseconds of the current second. The time zone is looked up once a second.
    fn now(&mut self) -> u32 {
        let now = (self.clock)();
        if now.as_second() != self.second.0 || self.second.1.is_empty() {
            self.second = (now.as_second(), line::clock(&now.to_zoned((self.zone)())));
        }
        now.subsec_nanosecond().unsigned_abs() / 1_000_000
    }
}

impl LogSubscriber {
    pub(crate) fn new(settings: LogSettings, failed: OnFailure) -> Self {
        let LogSettings { dir, level, limits, secrets, clock, zone } = settings;
        let file = LogFile::new(dir, limits);
        Self {
            level,
            secrets,
            spans: Mutex::default(),
            output: Mutex::new(Output { file, clock, zone, second: (0, String::new()), line: String::new() }),
            outlet: Outlet::off(),
            failed,
            has_failed: AtomicBool::new(false),
        }
    }

    /// Hands finished spans to an outlet, too.
    pub(crate) fn with_outlet(self, outlet: Outlet) -> Self {
        Self { outlet, ..self }
    }

    /// True for our own events from the configured level on, and for warnings of other crates.
    fn wants_line(&self, metadata: &Metadata<'_>) -> bool {
        let is_ours = is_ours(metadata);
        let level = level_of(metadata.level());
        level >= self.level && (is_ours || level >= LogLevel::Warning)
    }

    fn write(&self, event: &Event<'_>) {
        let mut said = Fields::new(&self.secrets);
        event.record(&mut said);
        let mut tail = said.fields;
        let mut session = said.session;
        self.around(event, |span| {
            tail.push_str(&span.fields);
            if session.is_none() {
                session.clone_from(&span.session);
            }
        });
        let metadata = event.metadata();
        let level = level_of(metadata.level());
        let mut output = locked(&self.output);
        let millis = output.now();
        let Output { file, second, line, .. } = &mut *output;
        line.clear();
        line::head(line, (&second.1, millis), level, session.as_deref(), metadata.target());
        line.extend([&said.message, &tail, "\n"]);
        let written = file.append(line);
        drop(output);
        if let Err(error) = written
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            (self.failed)(&error.to_string());
        }
    }

    /// Records the end of a span, where the event says how it ended.
    fn note_end(&self, event: &Event<'_>) {
        if let Some(ending) = self.outlet.ending(event, &self.secrets)
            && let Some(id) = span_of(event)
            && let Some(span) = locked(&self.spans).get_mut(&id)
        {
            span.traced.ended(span.metadata.name(), ending);
        }
    }

    /// Visits the spans around an event, the innermost first.
    fn around(&self, event: &Event<'_>, mut visit: impl FnMut(&Span)) {
        let mut next = span_of(event);
        let spans = locked(&self.spans);
        while let Some(span) = next.and_then(|id| spans.get(&id)) {
            visit(span);
            next = span.parent.clone();
        }
    }
}

impl Subscriber for LogSubscriber {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Spans are kept below the configured level, too: a warning names its session. With an outlet,
        // so are the events that say how a span ended.
        let is_needed = metadata.is_span() || self.outlet.is_on();
        let is_kept = is_needed && is_ours(metadata) && *metadata.level() <= Level::INFO;
        is_kept || (metadata.is_event() && self.wants_line(metadata))
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(if self.level == LogLevel::Debug { LevelFilter::DEBUG } else { LevelFilter::INFO })
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::new(&self.secrets);
        span.record(&mut fields);
        let parent = match (span.parent(), span.is_root()) {
            (Some(parent), _) => Some(parent.clone()),
            (None, true) => None,
            (None, false) => innermost(),
        };
        // The parent stays as long as its children.
        if let Some(parent) = &parent {
            self.clone_span(parent);
        }
        let mut traced = self.outlet.opened(span, &self.secrets);
        let mut spans = locked(&self.spans);
        if let Some(parent) = parent.as_ref().and_then(|parent| spans.get(parent)) {
            traced.below(&parent.traced);
        }
        let Fields { session, fields, .. } = fields;
        spans.add(Span { metadata: span.metadata(), parent, session, fields, handles: 1, traced })
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut fields = Fields::new(&self.secrets);
        values.record(&mut fields);
        if let Some(span) = locked(&self.spans).get_mut(id) {
            span.fields.push_str(&fields.fields);
            span.session = fields.session.or(span.session.take());
            span.traced.recorded(values, &self.secrets);
        }
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.note_end(event);
        if self.wants_line(event.metadata()) {
            self.write(event);
        }
    }

    fn enter(&self, id: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(id.clone()));
    }

    fn exit(&self, id: &Id) {
        ENTERED.with_borrow_mut(|entered| {
            // Nearly always the innermost; this runs at every wake-up.
            if entered.pop_if(|last| last == id).is_some() {
                return;
            }
            if let Some(place) = entered.iter().rposition(|entered| entered == id) {
                entered.remove(place);
            }
        });
    }

    fn clone_span(&self, id: &Id) -> Id {
        if let Some(span) = locked(&self.spans).get_mut(id) {
            span.handles += 1;
        }
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut spans = locked(&self.spans);
        let mut next = Some(id);
        let mut is_first = true;
        let mut closed = false;
        while let Some(id) = next.take() {
            let Some(span) = spans.get_mut(&id) else { break };
            span.handles = span.handles.saturating_sub(1);
            if span.handles == 0 {
                closed |= is_first;
                next = spans.remove(&id).and_then(|span| {
                    self.outlet.closed(span.metadata.name(), span.traced);
                    span.parent
                });
            }
            is_first = false;
        }
        closed
    }

    fn current_span(&self) -> Current {
        let found = innermost().and_then(|id| {
            let metadata = locked(&self.spans).get(&id)?.metadata;
            Some(Current::new(id, metadata))
        });
        found.unwrap_or_else(Current::none)
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("hermes")
}

/// The span that an event happens in.
fn span_of(event: &Event<'_>) -> Option<Id> {
    match (event.parent(), event.is_root()) {
        (Some(parent), _) => Some(parent.clone()),
        (None, true) => None,
        (None, false) => innermost(),
    }
}

fn innermost() -> Option<Id> {
    ENTERED.with_borrow(|entered| entered.last().cloned())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn level_of(level: &Level) -> LogLevel {
    match *level {
        Level::ERROR => LogLevel::Error,
        Level::WARN => LogLevel::Warning,
        Level::INFO => LogLevel::Info,
        _ => LogLevel::Debug,
    }
}

#[cfg(test)]
#[path = "subscriber_tests.rs"]
mod tests;
