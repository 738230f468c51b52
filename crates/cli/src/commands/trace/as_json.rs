//! A turn as JSON: the record, and the rows of the timeline.

use super::timeline::{Kind, Timeline};
use hermes_store::{TraceEnd, TurnTrace};
use serde_json::{Value, json};

pub(super) fn trace(trace: &TurnTrace, timeline: &Timeline) -> Value {
    let (state, exit_reason) = match &trace.end {
        TraceEnd::Closed { exit_reason } => ("closed", Some(exit_reason.as_str())),
        TraceEnd::Killed => ("killed", None),
        TraceEnd::Running => ("running", None),
    };
    let calls = trace.calls.iter().map(|call| {
        json!({
            "provider": call.provider, "model": call.model, "attempt": call.attempt,
            "started_at": call.started_at, "ended_at": call.ended_at, "outcome": call.outcome,
            "why": call.why, "first_byte_ms": call.first_byte_ms, "usage": call.usage,
            "cost_usd": call.cost_usd, "cost_status": call.cost_status,
            "partial": call.partial,
        })
    });
    let tools = trace.tools.iter().map(|tool| {
        json!({
            "tool": tool.tool, "call_id": tool.call_id, "state": tool.state.as_str(),
            "decision": tool.decision, "planned_at": tool.planned_at, "started_at": tool.started_at,
            "ended_at": tool.ended_at,
        })
    });
    let rows = timeline.rows.iter().map(|row| {
        json!({
            "kind": kind(row.kind), "label": row.label, "from_s": row.from, "to_s": row.to, "note": row.note,
        })
    });
    json!({
        "session": trace.session.as_str(), "turn": trace.number, "turn_id": trace.id, "turns": trace.turns, "state": state,
        "exit_reason": exit_reason, "started_at": trace.started_at, "closed_at": trace.closed_at,
        "length_s": timeline.length, "model_calls": calls.collect::<Vec<_>>(),
        "tool_calls": tools.collect::<Vec<_>>(), "rows": rows.collect::<Vec<_>>(),
    })
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Model => "model",
        Kind::Tool => "tool",
        Kind::Failed => "failed",
        Kind::Wait => "wait",
        Kind::Lost => "lost",
    }
}
