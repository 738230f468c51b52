use super::*;
use serde_json::json;

fn written(session: Option<&str>, message: &str, fields: &[(&str, &str)]) -> String {
    let now: Zoned = "2026-11-15T15:50:03.007+01:00[+01:00]".parse().unwrap();
    let mut out = String::new();
    head(&mut out, (&clock(&now), 7), LogLevel::Warning, session, "hermes_agent::watching");
    escaped(&mut out, message, false);
    for (name, value) in fields {
        text_field(&mut out, name, value);
    }
    out
}

fn zone() -> TimeZone {
    TimeZone::fixed(jiff::tz::offset(1))
}

#[test]
fn written_lines_are_parsed_back() {
    for (session, message, fields) in [
        (Some("20261115_1"), "model answered", vec![("model", "m"), ("why", "stop")]),
        (None, "a=b is said", vec![("text", "two words"), ("empty", "")]),
        (None, "plain: with a colon", vec![]),
        (Some("t"), "odd", vec![("a", "say \"hi\" = \\ yes"), ("b", "line\nbreak\u{1b}[31m\u{202e}x")]),
        (None, "numbers", vec![("id", "123"), ("word", "true"), ("zero", "007"), ("none", "null")]),
        (None, "emoji", vec![("a", "ü😀\u{85}")]),
    ] {
        let line = written(session, message, &fields);
        assert!(!line.chars().any(|one| one.is_control()), "{line:?}");
        let read = parse_line(&line, &zone()).unwrap_or_else(|| panic!("{line}"));
        let want: Vec<_> = fields.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
        assert_eq!((read.message.as_str(), read.fields), (message, want), "{line}");
        assert_eq!((read.session.as_deref(), read.level), (session, LogLevel::Warning), "{line}");
        assert_eq!(read.time.to_string(), "2026-11-15T14:50:03.007Z", "{line}");
    }
}

#[test]
fn counts_are_written_in_full() {
    for value in [0, 7, 10, 999, 1_000_000, u64::MAX] {
        let mut out = String::new();
        count_field(&mut out, "n", value);
        assert_eq!(out, format!(" n={value}"));
    }
}

#[test]
fn the_head_is_that_of_the_python_release() {
    assert_eq!(
        written(Some("s1"), "hi", &[("a", "b c")]),
        r#"2026-11-15 15:50:03,007 WARNING [s1] hermes_agent.watching: hi a="b c""#
    );
    let theirs = "2026-04-06 12:00:01,123 CRITICAL [abc] run_agent: API call failed: status=500 (try 2)";
    let read = parse_line(theirs, &zone()).unwrap();
    assert_eq!((read.level, read.target.as_str()), (LogLevel::Error, "run_agent"));
    assert_eq!(read.message, "API call failed: status=500 (try 2)");
}

#[test]
fn line_without_head_is_not_parsed() {
    for line in
        ["", "Traceback (most recent call last):", "2026-11-15", "2026-13-15 15:50:03,007 INFO a: b", "ü"]
    {
        assert_eq!(parse_line(line, &zone()), None, "{line}");
    }
}
