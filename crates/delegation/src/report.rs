//! The result of a sub-agent, as the tool result states it.

use hermes_agent::TurnReport;
use hermes_conversation::{CallId, SessionId};
use hermes_tools::HelperReport;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The one turn of a sub-agent.
pub struct Turn {
    /// The error is a message.
    pub ended: Result<TurnReport, String>,
    /// True if it was stopped by its time limit.
    pub is_late: bool,
}

/// A sub-agent that has ended.
pub struct SubAgentEnd {
    pub turn: Turn,
    pub trace: Trace,
    pub took: Duration,
    /// Its last reply, even if the turn failed afterwards.
    pub last_reply: Option<String>,
}

impl SubAgentEnd {
    /// The report for the session that it worked for.
    pub fn report(self, session: SessionId, model: String) -> HelperReport {
        let seconds = (self.took.as_secs_f64() * 100.0).round() / 100.0;
        let turn = match self.turn.ended {
            Ok(turn) => turn,
            Err(error) => {
                let details = fields([("error", json!(error)), ("duration_seconds", json!(seconds))]);
                return HelperReport {
                    session,
                    status: "error",
                    summary: self.last_reply,
                    details,
                    cost: None,
                };
            }
        };
        let (status, exit_reason) = outcome(&turn, self.turn.is_late);
        let mut details = fields([
            ("api_calls", json!(turn.api_calls)),
            ("duration_seconds", json!(seconds)),
            ("model", json!(model)),
            ("exit_reason", json!(exit_reason)),
            ("tokens", json!({ "input": turn.usage.prompt(), "output": turn.usage.output })),
            ("tool_trace", Value::Array(self.trace.rows)),
        ]);
        if let Some(error) = &turn.error {
            details.insert("error".to_owned(), json!(error));
        }
        let summary = turn.final_response.filter(|text| !text.trim().is_empty()).or(self.last_reply);
        HelperReport { session, status, summary, details, cost: turn.cost }
    }
}

/// Status and reason of a turn for the tool result.
fn outcome(turn: &TurnReport, is_late: bool) -> (&'static str, &'static str) {
    let has_answer = turn.final_response.as_deref().is_some_and(|text| !text.trim().is_empty());
    let is_spent = turn.exit_reason.starts_with("max_iterations") || turn.exit_reason == "budget_exhausted";
    match turn {
        _ if is_late && !turn.completed => ("timeout", "timeout"),
        turn if turn.interrupted => ("interrupted", "interrupted"),
        turn if turn.failed || !has_answer => ("failed", if is_spent { "max_iterations" } else { "error" }),
        _ if is_spent => ("completed", "max_iterations"),
        _ => ("completed", "completed"),
    }
}

/// The result of a sub-agent that could not be started.
pub fn not_begun(error: &str) -> HelperReport {
    let details = fields([("error", json!(error)), ("api_calls", json!(0))]);
    HelperReport { session: SessionId::new(""), status: "error", summary: None, details, cost: None }
}

/// The result of a sub-agent that was cut off together with the session it worked for.
pub fn interrupted(session: SessionId, last_reply: Option<String>) -> HelperReport {
    let error = "Hermes was stopped while this helper worked. What it did until then is done.";
    let details = fields([("exit_reason", json!("interrupted")), ("error", json!(error))]);
    HelperReport { session, status: "interrupted", summary: last_reply, details, cost: None }
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The names of the tools that a sub-agent used, without their arguments.
#[derive(Debug, Default)]
pub struct Trace {
    rows: Vec<Value>,
    open: Vec<(CallId, usize)>,
}

impl Trace {
    pub fn started(&mut self, id: &CallId, arguments: &str) {
        self.open.push((id.clone(), arguments.len()));
    }

    pub fn finished(&mut self, id: &CallId, name: &str, result: &str, failed: bool) {
        let found = self.open.iter().position(|(open, _)| open == id);
        let bytes = found.map_or(0, |place| self.open.swap_remove(place).1);
        let status = if failed { "error" } else { "ok" };
        self.rows.push(
            json!({ "tool": name, "args_bytes": bytes, "result_bytes": result.len(), "status": status }),
        );
    }
}
