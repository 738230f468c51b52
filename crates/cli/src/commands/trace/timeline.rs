//! A turn as rows on one time axis, from its record. `draw` draws them.

use hermes_conversation::{IntentState, Money};
use hermes_store::{TraceEnd, TracedCall, TracedTool, TurnTrace};

/// Shorter waits get no row.
const SHORTEST_WAIT: f64 = 0.05;

/// Rows in the order of their starts. Times are seconds since the start of the turn.
#[derive(Debug, PartialEq)]
pub(super) struct Timeline {
    pub(super) rows: Vec<Row>,
    /// The end of the axis.
    pub(super) length: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) label: String,
    pub(super) from: f64,
    /// The time of the first output, for model calls.
    pub(super) first_byte: Option<f64>,
    /// `None` if the end is unknown.
    pub(super) to: Option<f64>,
    pub(super) note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Model,
    Tool,
    /// A failed model call or tool call.
    Failed,
    /// A wait for a retry or for the user's answer.
    Wait,
    /// A call that was running when the process was killed.
    Lost,
}

impl Timeline {
    /// `now` is the end of running calls.
    pub(super) fn of(trace: &TurnTrace, now: f64) -> Self {
        let zero = trace.started_at;
        let mut rows: Vec<Row> = trace.calls.iter().map(|call| of_call(call, zero)).collect();
        rows.extend(waits(&trace.calls, zero));
        for tool in &trace.tools {
            rows.extend(of_asking(tool, zero));
            rows.extend(of_tool(tool, zero, &trace.end));
        }
        rows.sort_by(|one, other| one.from.total_cmp(&other.from));
        let last = rows.iter().flat_map(|row| [Some(row.from), row.to]).flatten().fold(0.0, f64::max);
        let length = match (&trace.end, trace.closed_at) {
            (TraceEnd::Closed { .. }, Some(closed)) => last.max(closed - zero),
            (TraceEnd::Running, _) => last.max(now - zero),
            // The end is unknown; the axis ends a little after the last known event.
            _ => last * 1.1,
        };
        Self { rows, length: length.max(0.001) }
    }
}

fn of_call(call: &TracedCall, zero: f64) -> Row {
    let attempt = if call.attempt > 1 { format!(" (try {})", call.attempt) } else { String::new() };
    let from = (call.started_at - zero).max(0.0);
    Row {
        kind: if call.outcome == "replied" { Kind::Model } else { Kind::Failed },
        label: format!("{}{attempt}", call.model),
        from,
        first_byte: call.first_byte_ms.map(|ms| from + ms as f64 / 1000.0),
        to: Some((call.ended_at - zero).max(from)),
        note: call_note(call),
    }
}

fn call_note(call: &TracedCall) -> String {
    let mut parts = Vec::new();
    match call.outcome.as_str() {
        "replied" if matches!(call.why.as_str(), "stop" | "tool_calls") => {}
        "replied" | "failed" => parts.push(call.why.clone()),
        other => parts.push(other.to_owned()),
    }
    if let Some(usage) = call.usage {
        parts.push(format!("{} in, {} out", usage.prompt(), usage.output));
        if usage.cache_read > 0 {
            parts.push(format!("{} cached", usage.cache_read));
        }
    }
    parts.extend(call.cost_usd.and_then(dollars));
    parts.join(", ")
}

/// An amount in dollars.
pub(super) fn dollars(amount: f64) -> Option<String> {
    Money::parse(&format!("{amount:.12}")).map(|money| money.to_string())
}

/// The waits between a failed call and the next one.
fn waits(calls: &[TracedCall], zero: f64) -> impl Iterator<Item = Row> {
    calls.windows(2).filter_map(move |pair| {
        let (from, to) = (pair[0].ended_at - zero, pair[1].started_at - zero);
        (pair[0].outcome == "failed" && to - from >= SHORTEST_WAIT).then(|| Row {
            kind: Kind::Wait,
            label: "waiting".to_owned(),
            from,
            first_byte: None,
            to: Some(to),
            note: format!("after {}", pair[0].why),
        })
    })
}

/// The wait for the user's approval.
fn of_asking(tool: &TracedTool, zero: f64) -> Option<Row> {
    let answer = match tool.decision.as_str() {
        "approved" => "allowed",
        "denied" => "denied",
        "cancelled" => "stopped",
        "asked" => "not answered",
        _ => return None,
    };
    let (from, to) = (tool.planned_at - zero, tool.started_at.or(tool.ended_at).map(|to| to - zero));
    let is_worth = to.is_none_or(|to| to - from >= SHORTEST_WAIT);
    is_worth.then(|| Row {
        kind: Kind::Wait,
        label: format!("asking: {}", tool.tool),
        from,
        first_byte: None,
        to,
        note: answer.to_owned(),
    })
}

fn of_tool(tool: &TracedTool, zero: f64, end: &TraceEnd) -> Option<Row> {
    let row = |kind, note: &str, from: f64, to: Option<f64>| {
        let to = to.map(|to| (to - zero).max(from - zero));
        Some(Row {
            kind,
            label: tool.tool.clone(),
            from: from - zero,
            first_byte: None,
            to,
            note: note.to_owned(),
        })
    };
    let is_killed = *end == TraceEnd::Killed;
    match (tool.state, tool.started_at) {
        (IntentState::Done, Some(from)) => row(Kind::Tool, "", from, tool.ended_at),
        (IntentState::Failed, Some(from)) => row(Kind::Failed, "failed", from, tool.ended_at),
        (IntentState::Unknown, Some(from)) => row(Kind::Lost, "killed, outcome unknown", from, None),
        (IntentState::Started, Some(from)) if is_killed => {
            row(Kind::Lost, "killed, not yet recovered", from, None)
        }
        (IntentState::Started, Some(from)) => row(Kind::Tool, "running", from, None),
        (IntentState::Planned, _) if !is_killed => row(Kind::Wait, "not started yet", tool.planned_at, None),
        _ => {
            row(Kind::Failed, &format!("not run ({})", tool.decision), tool.planned_at, Some(tool.planned_at))
        }
    }
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
pub(super) mod tests;
