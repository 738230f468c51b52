//! A stored session that ends with an unanswered user message, as a killed process leaves it, is continued.

use crate::desk;
use hermes_agent::recovery::Limits;
use hermes_agent::{Session, UserInput, run_turn};
use hermes_conversation::{History, Message, Quirks, UserMessage, events};
use hermes_testkit::{MemoryTranscript, ModelStep, ReplyScript, ScriptedModel, lease};
use hermes_tools::ApprovalMode;
use hermes_wire::{ApiMode, EncodedRequest, Model as _, ModelProfile, SingleModel};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The rows that a killed process left.
fn stored() -> Vec<Message> {
    vec![Message::user("first"), Message::assistant("hello"), Message::user("unanswered")]
}

/// Says `inputs` in a session restored from `stored`; returns the requests and the messages recorded for them.
async fn resumed(
    mode: ApiMode,
    stored: Vec<Message>,
    inputs: Vec<UserInput>,
) -> (Vec<EncodedRequest>, Vec<Message>) {
    let folder = tempfile::tempdir().unwrap();
    let steps = inputs.iter().map(|_| ModelStep::Reply(ReplyScript::text("ok")));
    let plain = ScriptedModel::of(steps);
    let profile = ModelProfile { mode, ..plain.profile().clone() };
    let model = Arc::new(plain.with_profile(profile));
    let transcript = Arc::new(MemoryTranscript::new());
    let history = History::restore(stored);
    let mut session =
        Session::new(lease("s"), "Be brief.".into(), history, Quirks::default(), Limits::default());
    for input in inputs {
        let (sink, _stream) = events();
        let route = Arc::new(SingleModel(model.clone()));
        let ports = desk::ports(folder.path(), ApprovalMode::Off, route, transcript.clone(), sink);
        let report = run_turn(&mut session, input, &ports, &CancellationToken::new()).await;
        assert!(report.completed, "{report:?}");
    }
    (model.requests(), transcript.messages())
}

/// The roles and the texts of a request's messages, whatever its format.
fn spoken(request: &EncodedRequest) -> Vec<(String, String)> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let list = body.get("messages").or(body.get("input")).and_then(Value::as_array).unwrap();
    let text = |content: &Value| match content {
        Value::String(text) => text.clone(),
        other => other.as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap()).collect(),
    };
    let role = |message: &Value| message["role"].as_str().unwrap().to_owned();
    let said = list.iter().filter(|message| role(message) != "system");
    said.map(|message| (role(message), text(&message["content"]))).collect()
}

const MODES: [ApiMode; 3] = [ApiMode::ChatCompletions, ApiMode::AnthropicMessages, ApiMode::CodexResponses];

#[tokio::test]
async fn an_unanswered_message_and_the_next_one_go_out_as_one() {
    for mode in MODES {
        let inputs = vec![UserMessage::text("new"), UserMessage::text("more")];
        let (requests, recorded) = resumed(mode, stored(), inputs).await;
        let seam = [("user", "first"), ("assistant", "hello"), ("user", "unanswered\n\nnew")];
        let seam = seam.map(|(role, text)| (role.to_owned(), text.to_owned()));
        assert_eq!(spoken(&requests[0]), seam, "{mode:?}");
        assert!(
            requests[1].segments.starts_with(&requests[0].segments),
            "{mode:?}: the next turn keeps the prefix"
        );
        // The record keeps what the user wrote, and another resume sends the same bytes.
        assert_eq!(recorded[0], Message::user("new"), "{mode:?}");
        let rows = stored().into_iter().chain(recorded).collect();
        let (again, _) = resumed(mode, rows, vec![UserMessage::text("later")]).await;
        assert!(again[0].segments.starts_with(&requests[1].segments), "{mode:?}: so does the next process");
    }
}

#[tokio::test]
async fn additions_for_the_call_survive_the_seam() {
    for mode in MODES {
        let recalled =
            UserMessage { api_content: Some("new\n\nrecalled".into()), ..UserMessage::text("new") };
        let (requests, recorded) = resumed(mode, stored(), vec![recalled]).await;
        assert_eq!(spoken(&requests[0]).last().unwrap().1, "unanswered\n\nnew\n\nrecalled", "{mode:?}");
        let rows = stored().into_iter().chain(recorded).collect();
        let (again, _) = resumed(mode, rows, vec![UserMessage::text("later")]).await;
        assert!(again[0].segments.starts_with(&requests[0].segments), "{mode:?}");
    }
}
