//! Parses times of the command line.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

/// A time in seconds since the epoch: `2026-11-15`, `2026-11-15 09:30` (both local), RFC 3339, or `30m`, `12h`,
/// `7d`, `2w` ago.
pub(crate) fn moment(text: &str, now: &Zoned) -> Result<f64, String> {
    let text = text.trim();
    let parsed = ago(text, now).or_else(|| exact(text, now.time_zone()));
    let seconds = |time: Timestamp| time.as_microsecond() as f64 / 1e6;
    parsed.map(seconds).ok_or_else(|| {
        format!("invalid time `{text}`: use 2026-11-15, \"2026-11-15 09:30\", or 30m, 12h, 7d, 2w ago")
    })
}

/// The current time in seconds since the epoch.
pub(crate) fn now() -> f64 {
    hermes_runtime::clock::timestamp().as_microsecond() as f64 / 1e6
}

fn ago(text: &str, now: &Zoned) -> Option<Timestamp> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: i64 = number.parse().ok().filter(|number| (0..=100_000).contains(number))?;
    let span = match unit {
        "m" => Span::new().try_minutes(number),
        "h" => Span::new().try_hours(number),
        "d" => Span::new().try_days(number),
        "w" => Span::new().try_weeks(number),
        _ => return None,
    };
    Some(now.checked_sub(span.ok()?).ok()?.timestamp())
}

fn exact(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    let civil = text.parse::<DateTime>().ok().or_else(|| Some(text.parse::<Date>().ok()?.into()))?;
    Some(civil.to_zoned(zone.clone()).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed() {
        let now: Zoned = "2026-11-15T12:00:00+01:00[+01:00]".parse().unwrap();
        for (text, want) in [
            ("2026-11-15", Some(1_794_697_200.0)),
            ("2026-11-15 12:00", Some(1_794_740_400.0)),
            ("2026-11-15T12:00", Some(1_794_740_400.0)),
            ("2026-11-15T11:00:00Z", Some(1_794_740_400.0)),
            ("0h", Some(1_794_740_400.0)),
            ("90m", Some(1_794_735_000.0)),
            (" 2h ", Some(1_794_733_200.0)),
            ("1d", Some(1_794_654_000.0)),
            ("1w", Some(1_794_135_600.0)),
            ("", None),
            ("d", None),
            ("-1d", None),
            ("5é", None),
            ("yesterday", None),
            ("2026-13-01", None),
        ] {
            assert_eq!(moment(text, &now).ok(), want, "{text}");
        }
    }
}
