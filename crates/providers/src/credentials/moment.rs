//! Times in all formats of files and providers, as seconds since 1970.

use jiff::Timestamp;
use serde_json::Value;

/// Larger numbers are milliseconds.
const MILLISECONDS: f64 = 1e12;

/// Parses a number of seconds or milliseconds, as a number or as text, or a date.
pub(super) fn of_value(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => of_number(number.as_f64()?),
        Value::String(text) => of_text(text),
        _ => None,
    }
}

pub(super) fn of_text(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(number) => of_number(number),
        // Python writes dates with and without a zone; those without are UTC.
        Err(_) => {
            let date = text.parse::<Timestamp>().or_else(|_| format!("{text}Z").parse());
            date.ok().map(|date| date.as_microsecond() as f64 / 1e6)
        }
    }
}

fn of_number(number: f64) -> Option<f64> {
    match number {
        none if !none.is_finite() || none <= 0.0 => None,
        large if large > MILLISECONDS => Some(large / 1000.0),
        seconds => Some(seconds),
    }
}

/// Returns a time as a date, in the format of the file.
pub(super) fn written(moment: f64) -> Option<String> {
    Timestamp::from_microsecond((moment * 1e6) as i64).ok().map(|date| date.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_spelling_is_read() {
        for (given, want) in [
            (json!(1_800_000_000), Some(1_800_000_000.0)),
            (json!(1_800_000_000.5), Some(1_800_000_000.5)),
            (json!(1_800_000_000_500_u64), Some(1_800_000_000.5)),
            (json!("1800000000"), Some(1_800_000_000.0)),
            (json!("2027-01-15T08:00:00Z"), Some(1_800_000_000.0)),
            (json!("2027-01-15T08:00:00+00:00"), Some(1_800_000_000.0)),
            (json!("2027-01-15T08:00:00.250000+00:00"), Some(1_800_000_000.25)),
            (json!("2027-01-15T08:00:00"), Some(1_800_000_000.0)),
            (json!("soon"), None),
            (json!(""), None),
            (json!(0), None),
            (json!(-5), None),
            (json!(null), None),
            (json!([1]), None),
        ] {
            assert_eq!(of_value(&given), want, "{given}");
        }
        assert_eq!(written(1_800_000_000.0).as_deref(), Some("2027-01-15T08:00:00Z"));
    }
}
