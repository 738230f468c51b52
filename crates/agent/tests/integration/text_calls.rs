//! Whole turns with a model that writes its tool calls as text.

use crate::desk;
use hermes_agent::recovery::Limits;
use hermes_agent::{Session, TurnReport, run_turn};
use hermes_conversation::{History, Quirks, TurnEvent, UserMessage, events};
use hermes_testkit::{MemoryTranscript, ModelStep, ReplyScript, ScriptedModel, lease};
use hermes_tools::ApprovalMode;
use hermes_wire::{Model as _, ModelProfile, SingleModel};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

struct Outcome {
    report: TurnReport,
    events: Vec<TurnEvent>,
    bodies: Vec<Value>,
}

/// One turn in which the model replies with these texts, each streamed in two pieces.
async fn turn(
    text_tool_calls: bool,
    approvals: ApprovalMode,
    texts: &[&str],
) -> (Outcome, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "seventeen\n").unwrap();
    let steps = texts.iter().map(|text| {
        let (first, second) = text.split_at(text.len() / 2);
        ModelStep::Reply(ReplyScript { text: vec![first.into(), second.into()], ..ReplyScript::text("") })
    });
    let model = ScriptedModel::of(steps);
    let profile = ModelProfile { text_tool_calls, ..model.profile().clone() };
    let model = Arc::new(model.with_profile(profile));
    let (sink, mut stream) = events();
    let transcript = Arc::new(MemoryTranscript::new());
    let ports = desk::ports(folder.path(), approvals, Arc::new(SingleModel(model.clone())), transcript, sink);
    let listening = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(event) = stream.next().await {
            seen.push(event);
        }
        seen
    });
    let mut session =
        Session::new(lease("s"), "".into(), History::default(), Quirks::default(), Limits::default());
    let input = UserMessage::text("What is in a.txt?");
    let report = run_turn(&mut session, input, &ports, &CancellationToken::new()).await;
    drop(ports);
    (Outcome { report, events: listening.await.unwrap(), bodies: model.bodies() }, folder)
}

fn shown(events: &[TurnEvent]) -> String {
    let text = |event: &TurnEvent| match event {
        TurnEvent::Text(text) => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

const CALL: &str = "```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}\n```";

#[tokio::test]
async fn call_written_as_text_runs_and_is_replayed_as_a_call() {
    let (outcome, _folder) = turn(true, ApprovalMode::Off, &[CALL, "It says seventeen."]).await;
    assert_eq!(outcome.report.final_response.as_deref(), Some("It says seventeen."));
    assert_eq!(shown(&outcome.events), "It says seventeen.", "nothing of the call is shown");
    let messages = outcome.bodies[1]["messages"].as_array().unwrap();
    let [_, called, result] = &messages[..] else { panic!("{messages:?}") };
    assert_eq!(called["content"], Value::Null);
    let call = &called["tool_calls"][0];
    assert_eq!(call["function"], json!({"name": "read_file", "arguments": "{\"path\": \"a.txt\"}"}));
    assert_eq!((&result["role"], &result["tool_call_id"]), (&json!("tool"), &call["id"]));
    assert!(result["content"].as_str().unwrap().contains("seventeen"));
}

#[tokio::test]
async fn call_written_as_text_is_the_answer_where_the_setting_is_off() {
    let (outcome, _folder) = turn(false, ApprovalMode::Off, &[CALL]).await;
    assert_eq!(outcome.report.final_response.as_deref(), Some(CALL));
    assert_eq!(shown(&outcome.events), CALL);
}

#[tokio::test]
async fn call_written_as_text_needs_the_same_approval() {
    let remove = r#"<tool_call>{"name":"terminal","arguments":{"command":"rm -rf sub"}}</tool_call>"#;
    let (outcome, folder) = turn(true, ApprovalMode::Manual, &[remove, "It was refused."]).await;
    assert_eq!(outcome.report.final_response.as_deref(), Some("It was refused."));
    assert!(folder.path().join("a.txt").exists());
    let asked = outcome.events.iter().any(|event| matches!(event, TurnEvent::ApprovalAsked { .. }));
    assert!(asked, "{:?}", outcome.events);
}

#[tokio::test]
async fn answer_that_quotes_a_call_stays_an_answer() {
    let quoting = format!("Write it like this:\n{CALL}");
    let (outcome, _folder) = turn(true, ApprovalMode::Off, &[&quoting]).await;
    assert_eq!(outcome.report.final_response.as_deref(), Some(quoting.as_str()));
    assert_eq!(shown(&outcome.events), quoting);
    // One that begins like a call is shown once it is known not to be one.
    let data = r#"{"name": "Alice", "arguments": "none"}"#;
    let (outcome, _folder) = turn(true, ApprovalMode::Off, &[data]).await;
    assert_eq!(
        (shown(&outcome.events).as_str(), outcome.report.final_response.as_deref()),
        (data, Some(data))
    );
}
