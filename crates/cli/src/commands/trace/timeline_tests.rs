use super::*;
use hermes_conversation::{SessionId, TurnId, Usage};

pub(crate) fn call(from: f64, to: f64, attempt: u64, outcome: &str, why: &str) -> TracedCall {
    let is_reply = outcome == "replied";
    TracedCall {
        model: "m".into(),
        provider: "p".into(),
        started_at: 1000.0 + from,
        ended_at: 1000.0 + to,
        attempt,
        outcome: outcome.into(),
        why: why.into(),
        first_byte_ms: is_reply.then_some(500),
        usage: is_reply.then(|| Usage { input: 90, output: 7, cache_read: 10, ..Usage::default() }),
        cost_usd: is_reply.then_some(0.0025),
        cost_status: is_reply.then(|| "estimated".into()),
        partial: None,
    }
}

pub(crate) fn tool(
    name: &str,
    state: IntentState,
    planned: f64,
    from: Option<f64>,
    to: Option<f64>,
) -> TracedTool {
    TracedTool {
        tool: name.into(),
        call_id: name.into(),
        state,
        decision: "allowed".into(),
        planned_at: 1000.0 + planned,
        started_at: from.map(|from| 1000.0 + from),
        ended_at: to.map(|to| 1000.0 + to),
    }
}

pub(crate) fn turn(end: TraceEnd, calls: Vec<TracedCall>, tools: Vec<TracedTool>) -> TurnTrace {
    let closed_at = matches!(end, TraceEnd::Closed { .. }).then_some(1010.0);
    let session = SessionId::new("s1");
    TurnTrace {
        session,
        id: TurnId(1),
        number: 2,
        turns: 3,
        started_at: 1000.0,
        closed_at,
        end,
        calls,
        tools,
    }
}

pub(crate) fn busy() -> TurnTrace {
    use IntentState::Done;
    let calls = vec![
        call(0.0, 1.0, 1, "failed", "rate_limit"),
        call(3.0, 5.0, 2, "replied", "tool_calls"),
        call(8.0, 10.0, 1, "replied", "stop"),
    ];
    let tools = vec![
        tool("terminal", Done, 5.0, Some(5.0), Some(8.0)),
        tool("read_file", Done, 5.0, Some(5.0), Some(5.2)),
    ];
    turn(TraceEnd::Closed { exit_reason: "text_response".into() }, calls, tools)
}

fn brief(timeline: &Timeline) -> Vec<String> {
    let brief = |row: &Row| {
        let to = row.to.map_or("?".to_owned(), |to| format!("{to:.1}"));
        format!("{:?} {} {:.1}-{to} {}", row.kind, row.label, row.from, row.note)
    };
    timeline.rows.iter().map(brief).collect()
}

#[test]
fn rows_are_in_order() {
    let timeline = Timeline::of(&busy(), 5000.0);
    assert_eq!(
        brief(&timeline),
        [
            "Failed m 0.0-1.0 rate_limit",
            "Wait waiting 1.0-3.0 after rate_limit",
            "Model m (try 2) 3.0-5.0 100 in, 7 out, 10 cached, $0.0025",
            "Tool terminal 5.0-8.0 ",
            "Tool read_file 5.0-5.2 ",
            "Model m 8.0-10.0 100 in, 7 out, 10 cached, $0.0025",
        ]
    );
    assert_eq!(timeline.length, 10.0);
}

#[test]
fn killed_call_has_no_end() {
    use IntentState::{Done, Planned, Started, Unknown};
    let done = tool("done", Done, 2.0, Some(2.0), Some(3.0));
    let lost = |state| tool("lost", state, 2.0, Some(2.0), None);
    let never = tool("never", Planned, 2.0, None, None);
    for (name, end, state, want, length) in [
        ("recovered", TraceEnd::Killed, Unknown, "Lost lost 2.0-? killed, outcome unknown", 3.3),
        ("not recovered", TraceEnd::Killed, Started, "Lost lost 2.0-? killed, not yet recovered", 3.3),
        ("running", TraceEnd::Running, Started, "Tool lost 2.0-? running", 9.0),
    ] {
        let trace = turn(end, Vec::new(), vec![done.clone(), lost(state), never.clone()]);
        let timeline = Timeline::of(&trace, 1009.0);
        assert_eq!(brief(&timeline)[1], want, "{name}");
        assert!((timeline.length - length).abs() < 1e-9, "{name}: {}", timeline.length);
    }
}

#[test]
fn approval_is_a_wait() {
    use IntentState::{Done, Refused};
    let allowed =
        TracedTool { decision: "approved".into(), ..tool("terminal", Done, 1.0, Some(4.0), Some(5.0)) };
    let denied = TracedTool { decision: "denied".into(), ..tool("patch", Refused, 5.0, None, Some(6.0)) };
    let end = TraceEnd::Closed { exit_reason: "x".into() };
    assert_eq!(
        brief(&Timeline::of(&turn(end, Vec::new(), vec![allowed, denied]), 0.0)),
        [
            "Wait asking: terminal 1.0-4.0 allowed",
            "Tool terminal 4.0-5.0 ",
            "Wait asking: patch 5.0-6.0 denied",
            "Failed patch 5.0-5.0 not run (denied)",
        ]
    );
}
