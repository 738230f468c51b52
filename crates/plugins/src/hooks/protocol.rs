//! The JSON that a hook reads on standard input, and the meaning of its standard output.

use hermes_conversation::{HookCall, HookEvent, HookPoint, HookVerdict};
use serde_json::{Map, Value, json};

/// The version of the fields in `extra`.
const SCHEMA: &str = "hermes.observer.v1";
/// The reason of a hook that blocks without one.
const BLOCKED: &str = "Not run: a hook of the user blocked this call.";

/// The JSON that a hook reads. `platform` is the front end of the session, for example `cli`.
pub(crate) fn input(call: &HookCall, platform: &str) -> Value {
    let (tool, input) = match &call.point {
        HookPoint::BeforeTool { name, arguments, .. } | HookPoint::AfterTool { name, arguments, .. } => {
            let input = serde_json::from_str(arguments).ok().filter(Value::is_object);
            (Some(name), input)
        }
        _ => (None, None),
    };
    json!({
        "hook_event_name": call.point.event().as_str(),
        "tool_name": tool,
        "tool_input": input,
        "session_id": call.session.as_str(),
        "cwd": call.cwd.display().to_string(),
        "extra": extra(&call.point, platform),
    })
}

fn extra(point: &HookPoint, platform: &str) -> Value {
    let own = match point {
        HookPoint::BeforeTool { id, .. } => json!({ "tool_call_id": id.as_str() }),
        HookPoint::AfterTool { id, result, status, millis, .. } => json!({
            "tool_call_id": id.as_str(),
            "result": result,
            "status": status.as_str(),
            "duration_ms": millis,
        }),
        HookPoint::BeforeModel { user_message, is_first_turn, model } => {
            json!({ "user_message": user_message, "is_first_turn": is_first_turn, "model": model })
        }
        HookPoint::AfterModel { user_message, answer, model } => {
            json!({ "user_message": user_message, "assistant_response": answer, "model": model })
        }
        HookPoint::SessionStarted { model } => json!({ "model": model }),
        HookPoint::SessionEnded { model, completed, interrupted, reason } => json!({
            "model": model,
            "completed": completed,
            "interrupted": interrupted,
            "reason": reason,
        }),
    };
    let mut extra = match own {
        Value::Object(extra) => extra,
        _ => Map::new(),
    };
    extra.insert("platform".to_owned(), platform.into());
    extra.insert("telemetry_schema_version".to_owned(), SCHEMA.into());
    Value::Object(extra)
}

/// Parses a hook's output. `None` if it is not a JSON object; empty output and an object without a field for
/// this event continue.
pub(crate) fn verdict(event: HookEvent, stdout: &str) -> Option<HookVerdict> {
    let stdout = stdout.trim();
    if stdout.is_empty() {
        return Some(HookVerdict::Continue);
    }
    let answer: Map<String, Value> = serde_json::from_str(stdout).ok()?;
    let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::trim).filter(|t| !t.is_empty());
    Some(match event {
        HookEvent::PreToolCall if text("decision") == Some("block") || text("action") == Some("block") => {
            let first = if text("decision") == Some("block") { "reason" } else { "message" };
            let reason = text(first).or(text("reason")).or(text("message")).unwrap_or(BLOCKED);
            HookVerdict::Block { reason: reason.to_owned() }
        }
        HookEvent::PreLlmCall => match text("context") {
            Some(text) => HookVerdict::Context { text: text.to_owned() },
            None => HookVerdict::Continue,
        },
        _ => HookVerdict::Continue,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::{CallId, SessionId, ToolStatus};

    fn input_for(point: HookPoint) -> String {
        let call = HookCall { session: SessionId::new("s1"), cwd: "/w".into(), point };
        input(&call, "cli").to_string()
    }

    #[test]
    fn input_describes_the_event() {
        let (id, name) = (CallId::new("c1"), "terminal".to_owned());
        let before = HookPoint::BeforeTool {
            id: id.clone(),
            name: name.clone(),
            arguments: r#"{"command":"ls"}"#.into(),
        };
        assert_eq!(
            input_for(before),
            r#"{"hook_event_name":"pre_tool_call","tool_name":"terminal","tool_input":{"command":"ls"},"session_id":"s1","cwd":"/w","extra":{"tool_call_id":"c1","platform":"cli","telemetry_schema_version":"hermes.observer.v1"}}"#
        );
        let after = HookPoint::AfterTool {
            id,
            name,
            arguments: "[".into(),
            result: "r".into(),
            status: ToolStatus::Blocked,
            millis: 3,
        };
        assert_eq!(
            input_for(after),
            r#"{"hook_event_name":"post_tool_call","tool_name":"terminal","tool_input":null,"session_id":"s1","cwd":"/w","extra":{"tool_call_id":"c1","result":"r","status":"blocked","duration_ms":3,"platform":"cli","telemetry_schema_version":"hermes.observer.v1"}}"#
        );
        let model =
            HookPoint::BeforeModel { user_message: "hi".into(), is_first_turn: true, model: "m".into() };
        assert_eq!(
            input_for(model),
            r#"{"hook_event_name":"pre_llm_call","tool_name":null,"tool_input":null,"session_id":"s1","cwd":"/w","extra":{"user_message":"hi","is_first_turn":true,"model":"m","platform":"cli","telemetry_schema_version":"hermes.observer.v1"}}"#
        );
    }

    #[test]
    fn verdict_follows_known_fields_of_output() {
        use HookEvent::{PostToolCall, PreLlmCall, PreToolCall};
        let block = |reason: &str| Some(HookVerdict::Block { reason: reason.to_owned() });
        let context = |text: &str| Some(HookVerdict::Context { text: text.to_owned() });
        for (event, stdout, want) in [
            (PreToolCall, "", Some(HookVerdict::Continue)),
            (PreToolCall, " \n", Some(HookVerdict::Continue)),
            (PreToolCall, "{}", Some(HookVerdict::Continue)),
            (PreToolCall, r#"{"decision":"block","reason":"no"}"#, block("no")),
            (PreToolCall, "\n{\"action\":\"block\",\"message\":\"no\"}\n", block("no")),
            (PreToolCall, r#"{"decision":"block","message":"no"}"#, block("no")),
            (PreToolCall, r#"{"decision":"block","message":"m","reason":"r"}"#, block("r")),
            (PreToolCall, r#"{"action":"block","message":"m","reason":"r"}"#, block("m")),
            (PreToolCall, r#"{"decision":"block"}"#, block(BLOCKED)),
            (PreToolCall, r#"{"decision":"block","reason":7}"#, block(BLOCKED)),
            (PreToolCall, r#"{"decision":"approve"}"#, Some(HookVerdict::Continue)),
            (PreToolCall, r#"{"context":"x"}"#, Some(HookVerdict::Continue)),
            (PreToolCall, "checked, fine", None),
            (PreToolCall, "[1]", None),
            (PostToolCall, r#"{"decision":"block","reason":"no"}"#, Some(HookVerdict::Continue)),
            (PreLlmCall, r#"{"context":" it rains "}"#, context("it rains")),
            (PreLlmCall, r#"{"context":""}"#, Some(HookVerdict::Continue)),
            (PreLlmCall, r#"{"context":["x"]}"#, Some(HookVerdict::Continue)),
            (PreLlmCall, r#"{"decision":"block"}"#, Some(HookVerdict::Continue)),
        ] {
            assert_eq!(verdict(event, stdout), want, "{event:?} {stdout}");
        }
    }
}
