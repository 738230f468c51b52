//! The fields of an event or a span as text. All secrets are redacted here.

use super::line;
use hermes_guard::{Secrets, redact};
use std::fmt::{self, Write};
use tracing::field::{Field, Visit};

/// Maximum length of a text; longer ones are cut.
pub(crate) const LONGEST: usize = 2000;
/// Bytes for the fields of an ordinary event and the spans around it.
const ROOM: usize = 320;

/// Fields on their way into a line. Every text goes through `redact` here.
pub(super) struct Fields<'a> {
    secrets: &'a Secrets,
    pub(super) message: String,
    pub(super) session: Option<String>,
    pub(super) fields: String,
}

impl<'a> Fields<'a> {
    pub(super) fn new(secrets: &'a Secrets) -> Self {
        Self { secrets, message: String::new(), session: None, fields: String::with_capacity(ROOM) }
    }

    fn number(&mut self, field: &Field, value: impl fmt::Display) {
        let _ = write!(self.fields, " {}={value}", field.name());
    }
}

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        let clean = redact(self.secrets, value);
        // After redaction: a cut secret would not be recognised.
        let clean = clean.get(..clean.floor_char_boundary(LONGEST)).unwrap_or(&clean);
        match field.name() {
            "message" => line::escaped(&mut self.message, clean, false),
            "session" if is_id(clean) => self.session = Some(clean.to_owned()),
            name => line::text_field(&mut self.fields, name, clean),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.number(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        match u64::try_from(value) {
            Ok(value) => self.record_u64(field, value),
            Err(_) => self.number(field, value),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        line::count_field(&mut self.fields, field.name(), value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        match value.is_finite() {
            true => self.number(field, value),
            false => self.record_str(field, &value.to_string()),
        }
    }
}

/// Returns true if a session id can be written in the head of a line, in brackets.
fn is_id(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|one| !one.is_control() && !matches!(one, '[' | ']'))
}
