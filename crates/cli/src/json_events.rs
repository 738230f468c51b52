//! Turn events as JSON lines. docs/json-events.md documents the format.

use hermes_conversation::{
    CallId, CompactionReport, Content, MailId, MailMode, Message, Money, SessionId, SubagentEvent, SummaryBy,
    TokenCount, ToolCall, TurnEvent, Usage,
};
use hermes_runtime::{NotCompacted, StandIn, TurnReport};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The version of the format; it increases when a field changes its meaning.
pub(crate) const VERSION: u32 = 1;

/// The first line: the session and its model.
pub(crate) fn session(id: &str, model: &str, provider: &str, is_resumed: bool) -> Value {
    json!({ "v": VERSION, "type": "session", "session_id": id, "model": model, "provider": provider,
        "resumed": is_resumed })
}

/// A line for an event.
pub(crate) fn event(event: &TurnEvent) -> Value {
    match event {
        TurnEvent::Accepted => json!({ "v": VERSION, "type": "accepted" }),
        TurnEvent::Text(text) => json!({ "v": VERSION, "type": "text", "text": text }),
        TurnEvent::Reasoning(text) => json!({ "v": VERSION, "type": "reasoning", "text": text }),
        TurnEvent::Retracted => json!({ "v": VERSION, "type": "retracted" }),
        TurnEvent::ToolPreparing { name } => json!({ "v": VERSION, "type": "tool_preparing", "name": name }),
        TurnEvent::Thinking { active } => json!({ "v": VERSION, "type": "thinking", "active": active }),
        TurnEvent::ApprovalAsked { id, what, cwd, effects, rules } => {
            json!({ "v": VERSION, "type": "approval_asked", "id": id, "what": what, "cwd": cwd,
                "effects": effects, "rules": rules })
        }
        TurnEvent::BatchAsked { calls } => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|call| json!({ "id": call.id, "what": call.what, "cwd": call.cwd, "effects": call.effects }))
                .collect();
            json!({ "v": VERSION, "type": "approvals_asked", "calls": calls })
        }
        TurnEvent::CallDecided { id, decision, by, scope, rules } => {
            json!({ "v": VERSION, "type": "call_decided", "id": id, "decision": decision, "by": by,
                "scope": scope, "rules": rules })
        }
        TurnEvent::ClarifyAsked { id, question, choices } => {
            json!({ "v": VERSION, "type": "clarify_asked", "id": id, "question": question,
                "choices": choices })
        }
        // With JSON no approver is present, so these events do not occur.
        TurnEvent::HookAsked { event, command, .. } => {
            json!({ "v": VERSION, "type": "hook_asked", "event": event.as_str(), "command": command })
        }
        TurnEvent::ToolStarted { id, name, arguments } => {
            json!({ "v": VERSION, "type": "tool_started", "id": id, "name": name, "arguments": arguments })
        }
        TurnEvent::ToolFinished { id, name, result, failed, millis, .. } => {
            json!({ "v": VERSION, "type": "tool_finished", "id": id, "name": name, "result": result,
                "failed": failed, "millis": millis })
        }
        TurnEvent::StepFinished { usage } => {
            json!({ "v": VERSION, "type": "step_finished", "usage": usage.as_ref().map(tokens) })
        }
        TurnEvent::Subagent { call, session, task, event } => subagent(call, session, *task, event),
        TurnEvent::MailAccepted { id, mode, text } => mail("mail_accepted", *id, *mode, text),
        TurnEvent::MailDelivered { id, mode, text } => mail("mail_delivered", *id, *mode, text),
        TurnEvent::Compacted(report) => {
            json!({ "v": VERSION, "type": "compacted", "report": compaction(report) })
        }
        TurnEvent::Status(text) => json!({ "v": VERSION, "type": "status", "text": text }),
    }
}

/// A compaction as JSON.
pub(crate) fn compaction(report: &CompactionReport) -> Value {
    let (by, model, why) = match &report.by {
        SummaryBy::Model(model) => ("model", Some(model), None),
        SummaryBy::Excerpts => ("excerpts", None, None),
        SummaryBy::Fallback { why } => ("fallback", None, Some(why)),
    };
    let is_measured = |count: TokenCount| matches!(count, TokenCount::Measured(_));
    json!({ "engine": report.engine, "trigger": report.trigger.as_str(), "by": by, "model": model, "why": why,
        "messages_before": report.messages_before, "messages_after": report.messages_after,
        "tokens_before": report.tokens_before.value(), "tokens_before_measured": is_measured(report.tokens_before),
        "tokens_after": report.tokens_after.value(), "tokens_after_measured": is_measured(report.tokens_after),
        "seconds": report.seconds, "cost_usd": report.cost_usd,
        "kept": { "tail": report.kept.tail, "pins": report.kept.pins, "todos": report.kept.todos,
            "files": report.kept.files } })
}

fn subagent(call: &CallId, session: &SessionId, task: usize, event: &SubagentEvent) -> Value {
    let (kind, more) = match event {
        SubagentEvent::Started { goal } => ("helper_started", json!({ "goal": goal })),
        SubagentEvent::ToolStarted { name, arguments } => {
            ("helper_tool_started", json!({ "name": name, "arguments": arguments }))
        }
        SubagentEvent::ToolFinished { name, failed, millis, .. } => {
            ("helper_tool_finished", json!({ "name": name, "failed": failed, "millis": millis }))
        }
        SubagentEvent::Status(text) => ("helper_status", json!({ "text": text })),
        SubagentEvent::Ended { status, millis } => {
            ("helper_finished", json!({ "status": status, "millis": millis }))
        }
    };
    let mut value = json!({ "v": VERSION, "type": kind, "call_id": call, "session_id": session,
        "task_index": task });
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}

fn mail(kind: &str, id: MailId, mode: MailMode, text: &str) -> Value {
    json!({ "v": VERSION, "type": kind, "id": id, "mode": mode.as_str(), "text": text })
}

/// The last line: the outcome of the turn, with the names of the result object.
pub(crate) fn result(report: &TurnReport, about: &About<'_>, messages: &[Arc<Message>]) -> Value {
    let mut value = json!({
        "v": VERSION,
        "type": "result",
        "final_response": report.final_response,
        "turn_exit_reason": report.exit_reason,
        "completed": report.completed,
        "failed": report.failed,
        "partial": report.partial,
        "interrupted": report.interrupted,
        "api_calls": report.api_calls,
        "model": about.model,
        "provider": about.provider,
        "base_url": about.base_url,
        "session_id": about.session_id,
        "error": report.error,
        "failure_reason": report.fault.map(|fault| fault.as_str()),
        "last_prompt_tokens": report.last_prompt_tokens,
        "last_reasoning": report.last_reasoning,
        "response_transformed": false,
        // Every reply is streamed.
        "response_previewed": report.final_response.is_some(),
        "service_tier": null,
        "messages": messages.iter().map(|message| shown_message(message)).collect::<Vec<_>>(),
    });
    if let (Value::Object(value), Value::Object(counts)) = (&mut value, tokens(&report.usage)) {
        value.extend(counts);
        value.extend(cost(Some(report)));
        if report.exit_reason == "guardrail_halt" {
            value.insert("guardrail".to_owned(), json!({ "reason": report.error }));
        }
        match report.not_compacted {
            Some(NotCompacted::Exhausted) => value.insert("compression_exhausted".to_owned(), json!(true)),
            Some(NotCompacted::Disabled) => value.insert("compaction_disabled".to_owned(), json!(true)),
            None => None,
        };
        if let Some(text) = &report.pending_steer {
            value.insert("pending_steer".to_owned(), json!(text));
        }
    }
    value
}

/// A message as JSON.
fn shown_message(message: &Message) -> Value {
    let content = |content: &Content| match content {
        Content::Text(text) => json!(text),
        Content::Parts(parts) => json!(parts),
    };
    match message {
        Message::User(said) => json!({ "role": "user", "content": content(&said.content) }),
        Message::Assistant(said) => {
            let mut value = json!({ "role": "assistant", "content": said.text });
            if !said.calls.is_empty() {
                let call = |call: &ToolCall| {
                    let function = json!({ "name": call.name, "arguments": call.arguments });
                    json!({ "id": call.id, "type": "function", "function": function })
                };
                value["tool_calls"] = said.calls.iter().map(call).collect();
            }
            if let Some(thought) = &said.reasoning.text {
                value["reasoning"] = json!(thought);
            }
            value
        }
        Message::Tool(result) => json!({ "role": "tool", "name": result.tool_name,
            "tool_call_id": result.call_id, "content": content(&result.content) }),
    }
}

/// Facts that are not in the report of a turn.
pub(crate) struct About<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) model: &'a str,
    pub(crate) provider: &'a str,
    pub(crate) base_url: &'a str,
}

impl<'a> About<'a> {
    /// The same session, with the fallback model that answered.
    pub(crate) fn answered_by(self, stand_in: Option<&'a StandIn>) -> Self {
        match stand_in {
            Some(StandIn { model, provider, base_url }) => Self { model, provider, base_url, ..self },
            None => self,
        }
    }
}

impl About<'static> {
    /// The facts of a run without a session.
    pub(crate) fn none() -> Self {
        Self { session_id: "", model: "", provider: "", base_url: "" }
    }
}

/// The last line of a run without a turn.
pub(crate) fn no_result(about: &About<'_>, error: &str) -> Value {
    json!({ "v": VERSION, "type": "result", "final_response": null, "completed": false, "failed": true,
        "partial": false, "interrupted": false, "api_calls": 0, "error": error, "model": about.model,
        "provider": about.provider, "base_url": about.base_url, "session_id": about.session_id })
}

/// Token counts as JSON.
pub(crate) fn tokens(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write,
        "reasoning_tokens": usage.reasoning,
        "prompt_tokens": usage.prompt(),
        "completion_tokens": usage.output,
        "total_tokens": usage.total(),
    })
}

/// The cost of a turn as JSON.
fn cost(report: Option<&TurnReport>) -> Map<String, Value> {
    let cost = report.and_then(|report| report.cost).unwrap_or_default();
    let source = if cost.source.is_empty() { "none" } else { cost.source };
    let fields = [
        ("estimated_cost_usd", json!(cost.estimated.map(Money::dollars))),
        ("actual_cost_usd", json!(cost.actual.map(Money::dollars))),
        ("cost_status", json!(cost.status.as_str())),
        ("cost_source", json!(source)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The report of `--usage-file`.
pub(crate) fn usage_file(report: Option<&TurnReport>, about: &About<'_>, failure: Option<&str>) -> Value {
    let usage = report.map(|report| report.usage).unwrap_or_default();
    let mut value = json!({
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write,
        "reasoning_tokens": usage.reasoning,
        "total_tokens": usage.total(),
        "api_calls": report.map_or(0, |report| report.api_calls),
        "model": about.model,
        "provider": about.provider,
        "session_id": about.session_id,
        "completed": report.is_some_and(|report| report.completed),
        "failed": report.is_none_or(|report| report.failed),
        "service_tier": null,
    });
    let failure = failure.or_else(|| report.and_then(|report| report.error.as_deref()));
    if let Value::Object(value) = &mut value {
        value.extend(cost(report));
        value.extend(failure.map(|failure| ("failure".to_owned(), json!(failure))));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_terminal::term;
    use hermes_testkit::hostile_events::{HOSTILE, events, is_hostile};

    #[test]
    fn json_lines_escape_control_characters_and_keep_every_string() {
        for hostile in events(HOSTILE) {
            let value = event(&hostile);
            let line = term::escaped(&value.to_string(), false).into_owned();
            assert!(!line.contains(is_hostile) && !line.contains(['\n', '\t']), "{line:?}");
            let read: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!(read, value);
        }
    }
}
