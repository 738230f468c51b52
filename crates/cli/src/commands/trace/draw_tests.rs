use super::super::timeline::tests::{busy, call, tool, turn};
use super::*;
use hermes_conversation::IntentState;

fn screen(trace: &TurnTrace, width: usize) -> Vec<String> {
    let look = Look { width, style: Style::PLAIN, is_plain: true };
    draw(trace, &Timeline::of(trace, 0.0), look)
}

#[test]
fn turn_is_drawn_as_a_waterfall() {
    let lines = screen(&busy(), 90);
    assert_eq!(
        lines[1..],
        [
            "3 model calls, 2 tool calls, 1 failed, 200 tokens in, 14 out, $0.0050",
            "ended with text_response",
            "",
            "           0                             10.0 s",
            "m          !!!                                   1.00 s  rate_limit",
            "waiting       .......                            2.00 s  after rate_limit",
            "m (try 2)            --######                    2.00 s  100 in, 7 out, 10 cached, $0.0025",
            "terminal                     ==========          3.00 s",
            "read_file                    =                   200 ms",
            "m                                      --######  2.00 s  100 in, 7 out, 10 cached, $0.0025",
        ]
    );
}

#[test]
fn lines_fit_any_width() {
    let mut trace = busy();
    trace.calls.push(call(9.0, 9.5, 1, "failed", "a_very_long_word_for_a_fault_that_nobody_knows"));
    trace.calls[0].model = "a/very-long-name-of-a-model-with-中文-in-it".into();
    for width in [40, 60, 80, 120, 200] {
        for line in screen(&trace, width) {
            assert!(line.width() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn killed_turn_shows_its_last_event() {
    let lost = tool("terminal", IntentState::Unknown, 2.0, Some(2.0), None);
    let lines =
        screen(&turn(TraceEnd::Killed, vec![call(0.0, 2.0, 1, "replied", "tool_calls")], vec![lost]), 80);
    assert!(lines[0].starts_with("turn 2 of 3 of s1: killed, started "), "{}", lines[0]);
    assert!(lines[5].contains("??") && lines[5].ends_with("killed, outcome unknown"), "{}", lines[5]);
    assert_eq!(lines[6], "the process was killed; last event at 2.00 s");
}

#[test]
fn durations_are_short() {
    for (time, want) in [
        (0.0, "0 ms"),
        (0.0004, "0 ms"),
        (0.9996, "1.00 s"),
        (9.996, "10.0 s"),
        (59.97, "1m 00s"),
        (61.0, "1m 01s"),
        (3599.0, "59m 59s"),
        (7260.0, "2h 01m"),
    ] {
        assert_eq!(seconds(time), want, "{time}");
    }
}
