//! Turns in which the model asks the user a question: answered, unavailable, unanswered and cancelled.

use crate::desk;
use hermes_agent::recovery::Limits;
use hermes_agent::{Ports, Session, TurnReport, run_turn};
use hermes_conversation::{
    BoxFuture, CallId, History, IntentState, Message, Quirks, TurnEvent, UserMessage, events,
};
use hermes_testkit::{MemoryTranscript, ModelStep, ReplyScript, ScriptedModel, lease};
use hermes_tools::{Approval, ApprovalMode, ApprovalRequest, AskUser, Clarified, NoUser, Question};
use hermes_wire::SingleModel;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The reaction of the user to a question.
enum Person {
    Says(&'static str),
    Stops(CancellationToken),
    SaysNothing,
}

/// A user interface that notes which messages were recorded when the question came.
struct Asked {
    person: Person,
    transcript: Arc<MemoryTranscript>,
    recorded: Mutex<Vec<&'static str>>,
}

impl AskUser for Asked {
    fn approve<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async { Approval::ONCE })
    }

    fn clarify<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Clarified> {
        *self.recorded.lock().unwrap() = self.transcript.names();
        Box::pin(async {
            match &self.person {
                Person::Says(answer) => Clarified::Answered((*answer).to_owned()),
                Person::Stops(turn) => {
                    turn.cancel();
                    std::future::pending().await
                }
                Person::SaysNothing => std::future::pending().await,
            }
        })
    }
}

/// A turn that is over.
struct Held {
    report: TurnReport,
    events: Vec<TurnEvent>,
    transcript: Arc<MemoryTranscript>,
}

impl Held {
    fn results(&self) -> Vec<Value> {
        let result = |message: &Message| match message {
            Message::Tool(tool) => serde_json::from_str(tool.content.as_text()).ok(),
            _ => None,
        };
        self.transcript.messages().iter().filter_map(result).collect()
    }
}

/// Holds a turn whose first reply makes the calls, and whose second says that it is done.
async fn hold(
    calls: ReplyScript,
    transcript: Arc<MemoryTranscript>,
    ask: Arc<dyn AskUser>,
    cancel: CancellationToken,
) -> Held {
    let folder = tempfile::tempdir().unwrap();
    let steps = [ModelStep::Reply(calls), ModelStep::Reply(ReplyScript::text("Done."))];
    let route = Arc::new(SingleModel(Arc::new(ScriptedModel::of(steps))));
    let (sink, mut stream) = events();
    let ports = desk::ports(folder.path(), ApprovalMode::Off, route, transcript.clone(), sink);
    let ports = Ports { ask, ..ports };
    let (history, quirks) = (History::default(), Quirks::default());
    let mut session = Session::new(lease("s"), "Be brief.".into(), history, quirks, Limits::default());
    let report = run_turn(&mut session, UserMessage::text("go"), &ports, &cancel).await;
    drop(ports);
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    Held { report, events, transcript }
}

async fn asked(calls: ReplyScript, person: Person, cancel: CancellationToken) -> (Held, Vec<&'static str>) {
    let transcript = Arc::new(MemoryTranscript::new());
    let asked = Arc::new(Asked { person, transcript: transcript.clone(), recorded: Mutex::default() });
    let held = hold(calls, transcript, asked.clone(), cancel).await;
    let recorded = asked.recorded.lock().unwrap().clone();
    (held, recorded)
}

fn which() -> ReplyScript {
    ReplyScript::call("clarify", json!({ "question": "Which?", "choices": ["red", "blue"] }))
}

#[tokio::test]
async fn the_answer_is_the_result_of_the_call() {
    let (held, _) = asked(which(), Person::Says("blue"), CancellationToken::new()).await;
    assert!(held.report.completed);
    let want = json!({"question": "Which?", "choices_offered": ["red", "blue"], "user_response": "blue"});
    assert_eq!(held.results(), [want]);
    assert_eq!(held.transcript.intent_states(), [IntentState::Done]);
    let shown: Vec<_> = held
        .events
        .iter()
        .filter_map(|event| match event {
            TurnEvent::ClarifyAsked { id, question, choices } => Some((id, question.as_str(), choices)),
            _ => None,
        })
        .collect();
    let TurnEvent::ToolStarted { id, .. } =
        held.events.iter().find(|event| matches!(event, TurnEvent::ToolStarted { .. })).unwrap()
    else {
        unreachable!()
    };
    let id: &CallId = id;
    assert_eq!(shown, [(id, "Which?", &vec!["red".to_owned(), "blue".to_owned()])]);
}

#[tokio::test]
async fn calls_before_the_question_are_recorded_first_and_later_ones_wait() {
    let calls = ReplyScript::call("write_file", json!({ "path": "a.txt", "content": "x" }))
        .and_call("clarify", json!({ "question": "Which?" }))
        .and_call("todo", json!({}));
    let (held, recorded) = asked(calls, Person::Says("blue"), CancellationToken::new()).await;
    assert_eq!(recorded, ["open", "plan", "note_change", "settle"]);
    assert_eq!(held.transcript.intent_states(), [IntentState::Done; 3]);
    let order: Vec<_> = held
        .events
        .iter()
        .filter_map(|event| match event {
            TurnEvent::ToolStarted { name, .. } => Some(format!("{name} begins")),
            TurnEvent::ToolFinished { name, .. } => Some(format!("{name} ends")),
            _ => None,
        })
        .collect();
    let calls = ["write_file", "clarify", "todo"];
    let want: Vec<_> =
        calls.iter().flat_map(|name| [format!("{name} begins"), format!("{name} ends")]).collect();
    assert_eq!(order, want);
}

#[tokio::test]
async fn without_a_user_the_model_gets_the_instruction_to_choose() {
    let transcript = Arc::new(MemoryTranscript::new());
    let held = hold(which(), transcript, Arc::new(NoUser), CancellationToken::new()).await;
    assert!(held.report.completed);
    let response = held.results()[0]["user_response"].as_str().unwrap().to_owned();
    assert!(response.starts_with("Nobody is there to ask.") && response.contains("Choose"), "{response}");
}

#[tokio::test(start_paused = true)]
async fn who_does_not_answer_in_an_hour_is_not_waited_for() {
    let begun = Instant::now();
    let (held, _) = asked(which(), Person::SaysNothing, CancellationToken::new()).await;
    assert_eq!(begun.elapsed().as_secs(), 3600);
    assert!(held.report.completed);
    let response = held.results()[0]["user_response"].as_str().unwrap().to_owned();
    assert!(response.starts_with("No answer came"), "{response}");
}

#[tokio::test]
async fn a_stop_at_the_question_ends_the_turn() {
    let cancel = CancellationToken::new();
    let calls = which().and_call("write_file", json!({ "path": "a.txt", "content": "x" }));
    let (held, _) = asked(calls, Person::Stops(cancel.clone()), cancel).await;
    assert!(held.report.interrupted);
    assert_eq!(held.transcript.intent_states(), [IntentState::Failed, IntentState::Refused]);
    assert_eq!(held.results()[0], json!({"error": "Not answered: the user stopped the turn."}));
}
