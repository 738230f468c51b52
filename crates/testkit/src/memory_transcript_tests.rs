use super::*;
use hermes_conversation::{CallId, Effect, Settled, ToolCall, ToolMessage, UserMessage};

fn opening() -> Opening {
    Opening::from(UserMessage::default())
}

fn reply() -> AssistantMessage {
    let calls = ["a", "b"].map(|id| ToolCall::new(CallId::new(id), "terminal", "{}"));
    AssistantMessage { calls: calls.to_vec(), ..AssistantMessage::default() }
}

fn intent(id: &str, state: IntentState) -> Intent {
    Intent {
        call_id: CallId::new(id),
        tool: "terminal".into(),
        arguments: "{}".into(),
        effect: Effect::Any,
        state,
        decision: "allowed",
    }
}

fn done(intent: IntentId, call: &str) -> Settled {
    let message = ToolMessage::new(CallId::new(call), "terminal", "ok");
    Settled { intent, state: IntentState::Done, message }
}

fn closing() -> Closing {
    Closing { message: Some(AssistantMessage::default()), spent: None, exit_reason: "done".into() }
}

/// A turn with one call that starts at once and one that starts later.
async fn planned(transcript: &MemoryTranscript, lease: &Lease) -> (OpenTurn, Permits) {
    let turn = transcript.open_turn(lease, opening()).await.unwrap();
    let intents = [intent("a", IntentState::Started), intent("b", IntentState::Planned)];
    let permits = transcript.plan(lease, &turn, &reply(), None, &intents).await.unwrap();
    (turn, permits)
}

#[tokio::test]
async fn operations_of_a_turn_are_recorded_in_order() {
    let (transcript, lease) = (MemoryTranscript::new(), lease("s"));
    let (turn, permits) = planned(&transcript, &lease).await;
    let (first, second) = (permits.ids[0], permits.ids[1]);
    assert_eq!(permits.started[0].as_ref().map(StartPermit::intent), Some(first));
    assert!(permits.started[1].is_none());

    let mark = ProcessMark { group: 1, started: 2, boot: "b".into() };
    transcript.note_process(first, &mark).await.unwrap();
    let settlement =
        Settlement { results: vec![done(first, "a")], start: vec![second], ..Settlement::default() };
    let started = transcript.settle(&lease, &turn, settlement).await.unwrap();
    assert_eq!(started.iter().map(StartPermit::intent).collect::<Vec<_>>(), [second]);
    assert_eq!(transcript.intent_states(), [IntentState::Done, IntentState::Started]);

    let rest = Settlement { results: vec![done(second, "b")], ..Settlement::default() };
    transcript.settle(&lease, &turn, rest).await.unwrap();
    transcript.extend(&lease, &turn, &[Message::assistant("x"), Message::user("y")], None).await.unwrap();
    transcript.close(&lease, turn, closing()).await.unwrap();

    let want = ["open", "plan", "note_process", "settle", "settle", "extend", "close"];
    assert_eq!(transcript.names(), want);
    let roles: Vec<_> = transcript.messages().iter().map(Message::role).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "assistant", "user", "assistant"]);
}

#[tokio::test]
async fn chosen_operation_fails_without_effect() {
    let (transcript, lease) = (MemoryTranscript::new(), lease("s"));
    transcript.fail_at(2);
    let turn = transcript.open_turn(&lease, opening()).await.unwrap();
    let failed = transcript.close(&lease, turn.clone(), closing()).await;
    assert!(matches!(failed, Err(RecordError::Store { .. })), "{failed:?}");
    transcript.close(&lease, turn, closing()).await.unwrap();
    assert_eq!(transcript.names(), ["open", "close"]);
}

#[tokio::test]
async fn fenced_transcript_rejects_operations() {
    let (transcript, lease) = (MemoryTranscript::new(), lease("s"));
    transcript.fence();
    let refused = transcript.open_turn(&lease, opening()).await;
    assert_eq!(refused, Err(RecordError::Fenced { session: lease.session.clone() }));
    assert_eq!(transcript.operations(), []);
}

#[tokio::test]
#[should_panic(expected = "intent 1 cannot be started")]
async fn call_cannot_be_started_twice() {
    let (transcript, lease) = (MemoryTranscript::new(), lease("s"));
    let (turn, permits) = planned(&transcript, &lease).await;
    let again = Settlement { start: vec![permits.ids[0]], ..Settlement::default() };
    let _ = transcript.settle(&lease, &turn, again).await;
}

#[tokio::test]
#[should_panic(expected = "intent 1 is settled twice")]
async fn call_cannot_be_settled_twice() {
    let (transcript, lease) = (MemoryTranscript::new(), lease("s"));
    let (turn, permits) = planned(&transcript, &lease).await;
    let twice = vec![done(permits.ids[0], "a"), done(permits.ids[0], "a")];
    let _ = transcript.settle(&lease, &turn, Settlement { results: twice, ..Settlement::default() }).await;
}

#[tokio::test]
#[should_panic(expected = "turn 1 is not open")]
async fn closed_turn_rejects_operations() {
    let (transcript, lease) = (MemoryTranscript::new(), lease("s"));
    let turn = transcript.open_turn(&lease, opening()).await.unwrap();
    transcript.close(&lease, turn.clone(), closing()).await.unwrap();
    let _ = transcript.extend(&lease, &turn, &[], None).await;
}
