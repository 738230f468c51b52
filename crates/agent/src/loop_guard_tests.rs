use super::*;
use Loop::*;

const STOPS: LoopLimits = LoopLimits {
    warnings_enabled: true,
    hard_stop_enabled: true,
    warn_after: Repeats { exact_failure: 2, same_tool_failure: 3, idempotent_no_progress: 2 },
    hard_stop_after: Repeats { exact_failure: 5, same_tool_failure: 8, idempotent_no_progress: 5 },
};

fn call<'a>(tool: &'a str, arguments: &'a str) -> Observation<'a> {
    Observation {
        tool,
        arguments,
        result: "r",
        failed: false,
        is_read_only: false,
        changed_file: false,
        cwd: Path::new("/p"),
    }
}

fn failing<'a>(tool: &'a str, arguments: &'a str) -> Observation<'a> {
    Observation { failed: true, ..call(tool, arguments) }
}

fn reading<'a>(arguments: &'a str, result: &'a str) -> Observation<'a> {
    Observation { is_read_only: true, result, ..call("read_file", arguments) }
}

/// Every call in a reply of its own; in the answer 0 is for nothing, negative numbers are stops.
fn verdicts(calls: &[Observation<'_>], limits: &LoopLimits) -> Vec<(i64, Option<Loop>)> {
    let mut guard = LoopGuard::default();
    let verdict = |seen: &Observation<'_>| {
        guard.next_reply();
        match guard.observe(*seen, limits) {
            Repetition::None => (0, None),
            Repetition::Warn { kind, times } => (i64::from(times), Some(kind)),
            Repetition::Stop { kind, times } => (-i64::from(times), Some(kind)),
        }
    };
    calls.iter().map(verdict).collect()
}

#[test]
fn default_limits_warn_and_never_stop() {
    let limits = LoopLimits::default();
    let got = verdicts(&[failing("terminal", "{}"); 12], &limits);
    assert!(got.iter().all(|(times, _)| *times >= 0), "{got:?}");
    assert_eq!(got[..3], [(0, None), (2, Some(ExactFailure)), (3, Some(ExactFailure))]);
}

#[test]
fn each_kind_of_loop_has_its_numbers() {
    let same_failure = [failing("terminal", r#"{"command":"make"}"#); 5];
    let texts: Vec<String> = (0..8).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let any_failure: Vec<_> = texts.iter().map(|text| failing("patch", text)).collect();
    let same_result = [reading(r#"{"path":"a"}"#, "x"); 5];
    for (calls, warns_at, stops_at, kind) in [
        (&same_failure[..], 2, 5, ExactFailure),
        (&any_failure[..], 3, 8, SameToolFailure),
        (&same_result[..], 2, 5, NoProgress),
    ] {
        let want: Vec<_> = (1..=stops_at)
            .map(|time: i64| match time {
                _ if time < warns_at => (0, None),
                _ if time < stops_at => (time, Some(kind)),
                _ => (-time, Some(kind)),
            })
            .collect();
        assert_eq!(verdicts(calls, &STOPS), want, "{kind:?}");
    }
}

#[test]
fn a_break_in_the_sequence_starts_the_count_again() {
    let tests = failing("terminal", r#"{"command":"cargo test"}"#);
    let read = reading(r#"{"path":"a"}"#, "x");
    for (what, calls) in [
        ("another call", vec![tests, call("patch", "{}"), tests, call("patch", "{}"), tests]),
        ("another tool", vec![tests, failing("patch", "{}"), tests, failing("patch", "{}"), tests]),
        ("a success", vec![tests, Observation { failed: false, ..tests }, tests]),
        ("another directory", vec![tests, Observation { cwd: Path::new("/q"), ..tests }, tests]),
        ("a changed file", vec![tests, Observation { changed_file: true, ..tests }]),
        ("another result", vec![read, reading(r#"{"path":"a"}"#, "y"), read]),
        ("another file", vec![read, reading(r#"{"path":"b"}"#, "x"), read]),
        ("work that succeeds", vec![call("terminal", "{}"); 9]),
    ] {
        let got = verdicts(&calls, &STOPS);
        assert!(got.iter().all(|(times, _)| *times == 0), "{what}: {got:?}");
    }
}

#[test]
fn arguments_are_compared_by_value() {
    let calls = [failing("t", r#"{"a":1,"b":2}"#), failing("t", r#" { "b":2, "a":1 } "#)];
    assert_eq!(verdicts(&calls, &STOPS)[1], (2, Some(ExactFailure)));
    let unreadable = [failing("t", "nope"), failing("t", " nope ")];
    assert_eq!(verdicts(&unreadable, &STOPS)[1], (2, Some(ExactFailure)));
}

#[test]
fn duplicates_in_one_reply_count_once() {
    let mut guard = LoopGuard::default();
    for want in [Repetition::None, Repetition::Warn { kind: ExactFailure, times: 2 }] {
        guard.next_reply();
        assert_eq!(guard.observe(failing("t", "{}"), &STOPS), want);
        for _ in 0..5 {
            assert_eq!(guard.observe(failing("t", "{}"), &STOPS), Repetition::None);
        }
    }
}

#[test]
fn warnings_and_stops_are_separate_switches() {
    let calls = [failing("t", "{}"); 5];
    let silent = LoopLimits { warnings_enabled: false, ..STOPS };
    let got = verdicts(&calls, &silent);
    assert_eq!(got, [(0, None), (0, None), (0, None), (0, None), (-5, Some(ExactFailure))]);
    let off = LoopLimits { warnings_enabled: false, hard_stop_enabled: false, ..STOPS };
    assert!(verdicts(&calls, &off).iter().all(|verdict| *verdict == (0, None)));
}
