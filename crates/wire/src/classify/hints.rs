//! Reads the delay that a provider asks for from headers and bodies.

use serde_json::Value;
use std::time::Duration;

/// A delay in a header: seconds, `1.5s`, `6m0s`, milliseconds if the name says so, or a date. `now` is in
/// seconds since 1970, for headers with a point in time.
pub fn retry_after_header(name: &str, value: &str, now: f64) -> Option<Duration> {
    let value = value.trim();
    if name.ends_with("-ms") {
        return seconds(value.parse::<f64>().ok()? / 1000.0);
    }
    if let Ok(number) = value.parse::<f64>() {
        return moment_or_wait(number, now);
    }
    spelt(value).or_else(|| seconds((http_date(value)? - now).max(0.0)))
}

/// `Wed, 21 Oct 2026 07:28:00 GMT` in seconds since 1970.
fn http_date(text: &str) -> Option<f64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut parts = text.split_once(", ")?.1.split(' ');
    let day: i64 = parts.next()?.parse().ok()?;
    let month = parts.next()?;
    let month = MONTHS.iter().position(|name| *name == month)?;
    let year: i64 = parts.next()?.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut clock = parts.next()?.split(':').map(str::parse::<i64>);
    let (hours, minutes, secs) = (clock.next()?.ok()?, clock.next()?.ok()?, clock.next()?.ok()?);
    // Days before a year that begins in March, so that a leap day is its last.
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let month = i64::try_from(month).ok()?;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    Some((days * 86_400 + hours * 3_600 + minutes * 60 + secs) as f64)
}

/// A delay in the body of an error: a field, or a sentence.
pub(super) fn in_body(body: &str) -> Option<Duration> {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let error = &value["error"];
    let numbers = [&error["retry_after"], &value["retry_after"], &error["metadata"]["retry_after"]];
    if let Some(wait) = numbers.into_iter().find_map(Value::as_f64) {
        return seconds(wait);
    }
    if let Some(wait) =
        error["details"].as_array().into_iter().flatten().find_map(|it| it["retryDelay"].as_str())
    {
        return spelt(wait);
    }
    in_sentence(&body.to_lowercase())
}

/// The time at which a limit ends, if a field of the body has it.
pub(super) fn moment_in_body(body: &str) -> Option<String> {
    let value: Value = serde_json::from_str(body).ok()?;
    let fields = ["resets_at", "reset_at"].iter().flat_map(|name| [&value["error"][*name], &value[*name]]);
    fields.into_iter().find_map(|field| match field {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    })
}

/// `try again in 5 minutes`, `resets in 3h 5m`, `retry after 20s`.
fn in_sentence(text: &str) -> Option<Duration> {
    ["try again in ", "retry after ", "retry in ", "resets in ", "reset in ", "wait "].iter().find_map(
        |lead| {
            let (_, rest) = text.split_once(lead)?;
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | ' ')))
                .unwrap_or(rest.len());
            spelt(&rest[..end])
        },
    )
}

/// Numbers with units in sequence; stops at anything else.
fn spelt(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text.trim_start();
    let mut found = false;
    while let Some(end) = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')) {
        let Ok(number) = rest[..end].parse::<f64>() else { break };
        let word = rest[end..].trim_start();
        let length = word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len());
        let Some(unit) = unit(&word[..length]) else { break };
        total += number * unit;
        found = true;
        rest = word[length..].trim_start();
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    found.then(|| seconds(total)).flatten()
}

fn unit(word: &str) -> Option<f64> {
    Some(match word {
        "ms" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

/// Numbers this large are points in time, not delays.
fn moment_or_wait(number: f64, now: f64) -> Option<Duration> {
    const EARLIEST_MOMENT: f64 = 1e9;
    const MILLISECONDS: f64 = 1e12;
    match number {
        moment if moment >= MILLISECONDS => seconds((moment / 1000.0 - now).max(0.0)),
        moment if moment >= EARLIEST_MOMENT => seconds((moment - now).max(0.0)),
        wait => seconds(wait),
    }
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_in_every_spelling() {
        let now = 1_800_000_000.0;
        for (name, value, want) in [
            ("retry-after", "7", Some(7.0)),
            ("retry-after", " 2.5 ", Some(2.5)),
            ("retry-after-ms", "1500", Some(1.5)),
            ("x-ratelimit-reset-requests", "6m0s", Some(360.0)),
            ("x-ratelimit-reset-tokens", "250ms", Some(0.25)),
            ("x-ratelimit-reset", "1800000030", Some(30.0)),
            ("x-ratelimit-reset", "1800000030000", Some(30.0)),
            ("x-ratelimit-reset", "1700000000", Some(0.0)),
            ("retry-after", "Fri, 15 Jan 2027 08:00:30 GMT", Some(30.0)),
            ("retry-after", "Wed, 29 Feb 2040 00:00:00 GMT", Some(2_214_086_400.0 - 1_800_000_000.0)),
            ("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT", Some(0.0)),
            ("retry-after", "Fri, 99 Foo 2027 08:00:30 GMT", None),
            ("retry-after", "-3", None),
            ("retry-after", "soon", None),
            ("retry-after", "", None),
        ] {
            let read = retry_after_header(name, value, now).map(|wait| wait.as_secs_f64());
            assert_eq!(read, want, "{name}: {value}");
        }
    }

    #[test]
    fn a_moment_is_taken_as_it_is_written() {
        for (body, want) in [
            (r#"{"error":{"resets_at":1800000030}}"#, Some("1800000030")),
            (r#"{"reset_at":" 2026-11-15T16:00:00Z "}"#, Some("2026-11-15T16:00:00Z")),
            (r#"{"error":{"resets_at":null,"reset_at":5.5}}"#, Some("5.5")),
            (r#"{"error":{"resets_at":""}}"#, None),
            ("resets_at 5", None),
        ] {
            assert_eq!(moment_in_body(body).as_deref(), want, "{body}");
        }
    }

    #[test]
    fn bodies_say_it_in_fields_and_sentences() {
        for (body, want) in [
            (r#"{"error":{"retry_after":2.5}}"#, Some(2.5)),
            (r#"{"retry_after":3}"#, Some(3.0)),
            (r#"{"error":{"details":[{"@type":"x"},{"retryDelay":"20s"}]}}"#, Some(20.0)),
            ("Usage limit reached, try again in 5 minutes", Some(300.0)),
            ("Please try again in 1.2s. Visit", Some(1.2)),
            ("quota resets in 3h 5m", Some(11_100.0)),
            ("resets in 1 hour and 30 minutes", Some(5_400.0)),
            ("Retry after 20s", Some(20.0)),
            ("try again in a while", None),
            ("nothing", None),
        ] {
            assert_eq!(in_body(body).map(|wait| wait.as_secs_f64()), want, "{body}");
        }
    }
}
