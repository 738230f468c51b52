//! Events and questions that hooks get in whole turns, and the effect of their answers.

use crate::desk;
use hermes_agent::recovery::Limits;
use hermes_agent::{Ports, Session, TurnReport, run_turn};
use hermes_conversation::{
    BoxFuture, History, HookCall, HookEvent, HookPoint, HookVerdict, Hooks, IntentState, Message, Quirks,
    ToolStatus, UserMessage, events,
};
use hermes_testkit::{MemoryTranscript, ModelStep, ReplyScript, ScriptedModel, lease};
use hermes_tools::ApprovalMode;
use hermes_wire::SingleModel;
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

type Answer = dyn Fn(&HookPoint) -> HookVerdict + Send + Sync;

/// Records the events it gets and the messages that were stored by then.
struct Listener {
    transcript: Arc<MemoryTranscript>,
    heard: Mutex<Vec<(HookPoint, Vec<&'static str>)>>,
    answer: Box<Answer>,
}

impl Hooks for Listener {
    fn wants(&self, _: HookEvent) -> bool {
        true
    }

    fn fire(&self, call: HookCall) -> BoxFuture<'_, HookVerdict> {
        assert_eq!(call.session.as_str(), "s");
        let verdict = (self.answer)(&call.point);
        self.heard.lock().unwrap().push((call.point, self.transcript.names()));
        Box::pin(async move { verdict })
    }
}

/// One turn, and everything that came of it.
struct Ran {
    report: TurnReport,
    transcript: Arc<MemoryTranscript>,
    heard: Vec<(HookPoint, Vec<&'static str>)>,
    folder: tempfile::TempDir,
}

async fn turn(replies: Vec<ReplyScript>, answer: Box<Answer>, cancel: CancellationToken) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let transcript = Arc::new(MemoryTranscript::new());
    let model = Arc::new(ScriptedModel::of(replies.into_iter().map(ModelStep::Reply)));
    let listener = Arc::new(Listener { transcript: transcript.clone(), heard: Mutex::default(), answer });
    let (sink, stream) = events();
    drop(stream);
    let route = Arc::new(SingleModel(model));
    let ports = desk::ports(folder.path(), ApprovalMode::Off, route, transcript.clone(), sink);
    let ports = Ports { hooks: listener.clone(), ..ports };
    let (history, limits) = (History::default(), Limits::default());
    let mut session = Session::new(lease("s"), "Be brief.".into(), history, Quirks::default(), limits);
    let report = run_turn(&mut session, UserMessage::text("hi"), &ports, &cancel).await;
    // What is in memory is what is on record.
    let live: Vec<Message> = session.history.messages().iter().map(|message| (**message).clone()).collect();
    assert_eq!(live, transcript.messages());
    let heard = std::mem::take(&mut *listener.heard.lock().unwrap());
    Ran { report, transcript, heard, folder }
}

fn terminal(command: &str) -> ReplyScript {
    ReplyScript::call("terminal", json!({ "command": command }))
}

fn is(event: HookEvent) -> impl Fn(&&(HookPoint, Vec<&'static str>)) -> bool {
    move |(point, _)| point.event() == event
}

#[tokio::test]
async fn outside_code_is_asked_about_what_is_on_record_already() {
    let replies = vec![terminal("true"), ReplyScript::text("Done.")];
    let ran = turn(replies, Box::new(|_| HookVerdict::Continue), CancellationToken::new()).await;
    assert!(ran.report.completed);
    let seen: Vec<_> =
        ran.heard.iter().map(|(point, recorded)| (point.event(), recorded.join(" "))).collect();
    let want = [
        (HookEvent::SessionStart, "open"),
        (HookEvent::PreLlmCall, "open"),
        (HookEvent::PreToolCall, "open plan"),
        (HookEvent::PostToolCall, "open plan settle note_process"),
        (HookEvent::PostLlmCall, "open plan settle note_process settle close"),
        (HookEvent::SessionEnd, "open plan settle note_process settle close"),
    ];
    assert_eq!(seen, want.map(|(event, recorded)| (event, recorded.to_owned())));
}

#[tokio::test]
async fn a_blocked_call_is_never_started() {
    let answer = |point: &HookPoint| match point {
        HookPoint::BeforeTool { arguments, .. } if arguments.contains("bad") => {
            HookVerdict::Block { reason: "not that".to_owned() }
        }
        _ => HookVerdict::Continue,
    };
    let both = terminal("touch bad").and_call("terminal", json!({ "command": "touch good" }));
    let ran = turn(vec![both, ReplyScript::text("Done.")], Box::new(answer), CancellationToken::new()).await;
    assert_eq!(ran.transcript.intent_states(), [IntentState::Refused, IntentState::Done]);
    assert_eq!(
        (ran.folder.path().join("bad").exists(), ran.folder.path().join("good").exists()),
        (false, true)
    );
    let statuses: Vec<_> = ran.heard.iter().filter(is(HookEvent::PostToolCall)).collect();
    let [
        (HookPoint::AfterTool { status: first, result, .. }, _),
        (HookPoint::AfterTool { status: second, .. }, _),
    ] = statuses[..]
    else {
        panic!("{statuses:?}")
    };
    assert_eq!((*first, *second), (ToolStatus::Blocked, ToolStatus::Ok));
    assert_eq!(result, r#"{"error":"not that"}"#);
}

#[tokio::test]
async fn hook_text_is_stored_with_the_message() {
    let answer = |point: &HookPoint| match point {
        HookPoint::BeforeModel { .. } => HookVerdict::Context { text: "It rains.".to_owned() },
        _ => HookVerdict::Continue,
    };
    let ran = turn(vec![ReplyScript::text("Stay in.")], Box::new(answer), CancellationToken::new()).await;
    let Message::User(said) = &ran.transcript.messages()[0] else { panic!() };
    assert_eq!(said.content.as_text(), "hi");
    assert_eq!(said.api_content.as_deref(), Some("hi\n\nIt rains."));
}

#[tokio::test]
async fn hooks_see_calls_before_a_stop_as_cancelled() {
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let answer = move |point: &HookPoint| {
        if matches!(point, HookPoint::BeforeTool { .. }) {
            stop.cancel();
        }
        HookVerdict::Continue
    };
    let ran = turn(vec![terminal("touch ran")], Box::new(answer), cancel).await;
    assert!(ran.report.interrupted && !ran.folder.path().join("ran").exists());
    let after = ran.heard.iter().find(is(HookEvent::PostToolCall)).unwrap();
    let HookPoint::AfterTool { status, .. } = &after.0 else { panic!() };
    assert_eq!(*status, ToolStatus::Cancelled);
    let Some((HookPoint::SessionEnded { interrupted, completed, .. }, _)) = ran.heard.last() else {
        panic!()
    };
    assert!(*interrupted && !completed);
}
