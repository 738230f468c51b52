//! The filter for lines of a log.

use hermes_telemetry::{LogLevel, LogLine, parse_line};
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

/// The conditions on a line.
#[derive(Debug)]
pub(super) struct Filter {
    /// The start of its session's id.
    pub(super) session: Option<String>,
    pub(super) level: LogLevel,
    /// Seconds since the epoch.
    pub(super) since: Option<f64>,
}

impl Filter {
    fn takes(&self, line: &LogLine) -> bool {
        let is_of_session = match (&self.session, &line.session) {
            (None, _) => true,
            (Some(wanted), Some(session)) => session.starts_with(wanted.as_str()),
            (Some(_), None) => false,
        };
        let time = line.time.as_microsecond() as f64 / 1e6;
        is_of_session && line.level >= self.level && self.since.is_none_or(|since| time >= since)
    }
}

/// Filters a log line by line.
pub(super) struct Picker {
    filter: Filter,
    zone: TimeZone,
    /// Set if the last line with a head matched: lines without one belong to it.
    took_last: bool,
}

impl Picker {
    pub(super) fn new(filter: Filter, zone: TimeZone) -> Self {
        Self { filter, zone, took_last: false }
    }

    pub(super) fn pick(&mut self, text: &str) -> Option<Picked> {
        let line = parse_line(text, &self.zone);
        if let Some(line) = &line {
            self.took_last = self.filter.takes(line);
        }
        self.took_last.then(|| Picked { text: text.to_owned(), line })
    }
}

/// A line to show.
#[derive(Debug, PartialEq)]
pub(super) struct Picked {
    pub(super) text: String,
    /// `None` for a continuation line.
    line: Option<LogLine>,
}

impl Picked {
    pub(super) fn level(&self) -> Option<LogLevel> {
        self.line.as_ref().map(|line| line.level)
    }

    pub(super) fn as_json(&self) -> Value {
        let Some(line) = &self.line else {
            return json!({ "continued": self.text });
        };
        let fields: Map<String, Value> = line.fields.iter().cloned().collect();
        json!({
            "time": line.time.to_string(), "level": line.level.as_str(), "session": line.session,
            "target": line.target, "message": line.message, "fields": fields,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: [&str; 6] = [
        "2026-11-15 10:00:00,000 INFO [abc1] hermes_tools.prepared: tool ended ms=3",
        "2026-11-15 10:00:01,000 ERROR [abd2] run_agent: it failed",
        "Traceback: a line of its own",
        "2026-11-15 10:00:02,000 WARNING hermes_store: slow",
        "2026-11-15 10:00:03,000 DEBUG [abc1] hermes_agent: asked",
        "without a head",
    ];

    fn picked(session: Option<&str>, level: LogLevel, since: Option<f64>) -> Vec<usize> {
        let filter = Filter { session: session.map(str::to_owned), level, since };
        let mut picker = Picker::new(filter, TimeZone::UTC);
        (0..LOG.len()).filter(|at| picker.pick(LOG[*at]).is_some()).collect()
    }

    #[test]
    fn continuation_lines_follow_their_head() {
        use LogLevel::{Debug, Error, Info, Warning};
        let ten = 1_794_736_800.0;
        for (session, level, since, want) in [
            (None, Debug, None, vec![0, 1, 2, 3, 4, 5]),
            (None, Info, None, vec![0, 1, 2, 3]),
            (None, Warning, None, vec![1, 2, 3]),
            (None, Error, None, vec![1, 2]),
            (Some("abc1"), Debug, None, vec![0, 4, 5]),
            (Some("ab"), Info, None, vec![0, 1, 2]),
            (Some("x"), Debug, None, vec![]),
            (None, Debug, Some(ten + 2.0), vec![3, 4, 5]),
        ] {
            assert_eq!(picked(session, level, since), want, "{session:?} {level:?} {since:?}");
        }
    }

    #[test]
    fn line_as_json() {
        let filter = Filter { session: None, level: LogLevel::Debug, since: None };
        let mut picker = Picker::new(filter, TimeZone::UTC);
        let want = json!({
            "time": "2026-11-15T10:00:00Z", "level": "INFO", "session": "abc1",
            "target": "hermes_tools.prepared", "message": "tool ended", "fields": { "ms": 3 },
        });
        assert_eq!(picker.pick(LOG[0]).unwrap().as_json(), want);
        assert_eq!(picker.pick("more").unwrap().as_json(), json!({ "continued": "more" }));
    }
}
