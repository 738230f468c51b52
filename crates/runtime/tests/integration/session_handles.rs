//! Sessions that run as tasks: observers, approvals, queued messages, and many sessions in one map.

use crate::opened::opened;
use hermes_conversation::TurnEvent;
use hermes_runtime::{
    Answer, MapLimits, Observer, Opening, Parting, Prompt, Runtime, RuntimeError, SessionEvent,
    SessionHandle, SessionKey, SessionMap, Submitted, Surface,
};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use hermes_tools::{Approval, NoUser};
use serde_json::json;
use std::sync::Arc;

async fn world(approvals: &str) -> (TempHome, FakeProvider, Runtime) {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&format!(
        "model: {{provider: custom, base_url: '{}', default: m}}\napprovals: {{mode: '{approvals}'}}\n",
        provider.base_url()
    ));
    let runtime = opened(home.path(), home.path());
    (home, provider, runtime)
}

fn started(runtime: &Runtime) -> SessionHandle {
    SessionHandle::spawn(runtime.start(Arc::new(NoUser)).unwrap())
}

/// Everything that an observer gets up to the end of a turn, with joined texts.
async fn turn_of(observer: &mut Observer) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    let mut text = String::new();
    loop {
        let event = observer.next().await.expect("the session is open");
        if let SessionEvent::Turn(TurnEvent::Text(piece)) = &event {
            text.push_str(piece);
            continue;
        }
        if !text.is_empty() {
            seen.push(format!("text {}", std::mem::take(&mut text)));
        }
        match event {
            SessionEvent::TurnEnded { report, .. } => {
                seen.push(format!("ended {}", report.exit_reason));
                return seen;
            }
            SessionEvent::Turn(TurnEvent::ToolFinished { name, result, .. }) => {
                seen.push(format!("{name}: {}", if result.contains("Not run") { "not run" } else { "ran" }));
            }
            SessionEvent::Turn(TurnEvent::StepFinished { .. } | TurnEvent::Status(_)) => {}
            SessionEvent::Turn(event) => {
                let event = format!("{event:?}");
                seen.push(event.split([' ', '{', '(']).next().unwrap_or_default().to_owned());
            }
            SessionEvent::Asked(question) => seen.push(format!("asked {}", question.id.0)),
            SessionEvent::QuestionClosed { id } => seen.push(format!("closed {}", id.0)),
            SessionEvent::TurnStarted { text, .. } => seen.push(format!("started {text}")),
            other => seen.push(format!("{other:?}")),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_observers_and_a_driver_see_one_turn() {
    let (_home, provider, runtime) = world("manual").await;
    provider.reply(ReplyScript::call("terminal", json!({"command": "rm -rf old; echo hi"})));
    provider.reply(ReplyScript::text("Done."));
    let session = started(&runtime);
    let (_, mut one) = session.subscribe();
    let (_, mut two) = session.subscribe();
    // One that never reads.
    let (_, _stalled) = session.subscribe();
    let (_, mut driver) = session.subscribe();
    driver.take_answering();
    let Submitted::Turn(running) = session.submit("say hi").await.unwrap() else { panic!("not busy") };
    let answering = tokio::spawn(async move {
        while let Some(event) = driver.next().await {
            if let SessionEvent::Asked(question) = event {
                assert!(driver.answer(question.id, Answer::Approval(Approval::ONCE)));
            }
        }
    });
    let report = running.report().await.unwrap();
    assert_eq!(report.final_response.as_deref(), Some("Done."));
    let (first, second) = (turn_of(&mut one).await, turn_of(&mut two).await);
    assert_eq!(first, second, "the same events in the same order");
    assert!(first.contains(&"asked 1".to_owned()) && first.contains(&"closed 1".to_owned()), "{first:?}");
    assert!(first.contains(&"terminal: ran".to_owned()), "{first:?}");
    session.close(Parting::Left).await;
    answering.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_answer_nothing_is_approved() {
    let (_home, provider, runtime) = world("manual").await;
    provider.reply(ReplyScript::call("terminal", json!({"command": "rm -rf old; echo hi"})));
    provider.reply(ReplyScript::text("Not allowed."));
    let session = started(&runtime);
    let (_, mut observer) = session.subscribe();
    session.submit("say hi").await.unwrap();
    let seen = turn_of(&mut observer).await;
    assert!(seen.contains(&"terminal: not run".to_owned()), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_for_a_busy_session_is_stored_and_opens_the_next_turn() {
    let (_home, provider, runtime) = world("off").await;
    // The second prompt is submitted while the first turn runs its command.
    provider.reply(ReplyScript::call("terminal", json!({"command": "read line < go; echo $line"})));
    provider.reply(ReplyScript::text("First."));
    provider.reply(ReplyScript::text("Second."));
    let session = started(&runtime);
    let cwd = tempfile::tempdir().unwrap();
    let fifo = cwd.path().join("go");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let (_, mut observer) = session.subscribe();
    let first = Prompt { cwd: Some(cwd.path().to_owned()), ..Prompt::typed("one") };
    assert!(matches!(session.submit(first).await.unwrap(), Submitted::Turn(_)));
    loop {
        if let SessionEvent::Turn(TurnEvent::ToolStarted { .. }) = observer.next().await.unwrap() {
            break;
        }
    }
    let second = Prompt { when_busy: hermes_conversation::MailMode::Queue, ..Prompt::typed("two") };
    assert!(matches!(session.submit(second).await.unwrap(), Submitted::Queued(_)));
    std::fs::write(&fifo, "go\n").unwrap();
    turn_of(&mut observer).await;
    let next = turn_of(&mut observer).await;
    assert_eq!(
        (next[0].as_str(), next.last().unwrap().as_str()),
        ("started two", "ended text_response(finish_reason=stop)")
    );
    assert_eq!(session.subscribe().0.messages.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_with_more_than_text_waits_for_the_end_of_the_turn() {
    let (_home, provider, runtime) = world("off").await;
    provider.reply(ReplyScript::call("terminal", json!({"command": "read line < go; echo $line"})));
    provider.reply(ReplyScript::text("First."));
    provider.reply(ReplyScript::text("Second."));
    let session = started(&runtime);
    let cwd = tempfile::tempdir().unwrap();
    let fifo = cwd.path().join("go");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let (_, mut observer) = session.subscribe();
    let in_directory = |text: &str| Prompt {
        cwd: Some(cwd.path().to_owned()),
        when_busy: hermes_conversation::MailMode::Queue,
        ..Prompt::typed(text)
    };
    session.submit(in_directory("one")).await.unwrap();
    loop {
        if let SessionEvent::Turn(TurnEvent::ToolStarted { .. }) = observer.next().await.unwrap() {
            break;
        }
    }
    let second = tokio::spawn({
        let (session, prompt) = (session.clone(), in_directory("two"));
        async move { session.run(prompt).await }
    });
    // Served while the turn runs, after the prompt.
    assert!(format!("{:?}", session.command("/title x").await.unwrap()).contains("has to wait"));
    std::fs::write(&fifo, "go\n").unwrap();
    assert_eq!(second.await.unwrap().unwrap().unwrap().final_response.as_deref(), Some("Second."));
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_reply_with_values() {
    let (_home, _provider, runtime) = world("off").await;
    let session = started(&runtime);
    let reply = |line: &'static str| {
        let session = session.clone();
        async move { format!("{:?}", session.command(line).await.unwrap()) }
    };
    assert_eq!(reply("/title My work").await, r#"Text("title: My work")"#);
    assert_eq!(reply("/title").await, r#"Text("My work")"#);
    assert_eq!(reply("/quit").await, "Effect(Quit)");
    assert_eq!(reply("/queue hello").await, r#"Effect(Submit("hello"))"#);
    assert!(reply("/context").await.starts_with("Panel(Context("));
    assert!(reply("/ttle").await.contains("did you mean /title?"));
    assert_eq!(session.subscribe().0.title.as_deref(), Some("My work"), "observers see it, too");
}

#[tokio::test(flavor = "multi_thread")]
async fn evicted_sessions_are_resumed_with_everything() {
    let (_home, provider, runtime) = world("off").await;
    let map = SessionMap::new(runtime, MapLimits { resident: 2 });
    let key =
        |number: usize| SessionKey::Chat { platform: "test".into(), chat: number.to_string(), thread: None };
    let opening = || Opening::on(Surface::of("test"));
    let mut ids = Vec::new();
    for number in 0..5 {
        provider.reply(ReplyScript::text(format!("Answer {number}.")));
        let (handle, submitted) = map.submit(&key(number), Prompt::typed("hi"), opening).await.unwrap();
        let Submitted::Turn(running) = submitted else { panic!("not busy") };
        running.report().await.unwrap();
        ids.push(handle.id());
    }
    assert_eq!(map.counts().0, 5);
    assert!(map.counts().1 <= 3, "{:?}", map.counts());
    assert!(map.resident(&key(0)).await.is_none());
    // An observed session stays, however many others are opened.
    let (kept, _, _observer) = map.observe(&key(1), opening).await.unwrap();
    for number in [2, 3, 4] {
        map.open(&key(number), opening).await.unwrap();
    }
    assert!(!kept.is_closed() && map.resident(&key(1)).await.is_some());
    let again = map.open(&key(0), opening).await.unwrap();
    assert_eq!((again.id(), again.subscribe().0.messages.len()), (ids[0].clone(), 2));
    // The same session by its id is the same record.
    drop(again);
    map.close().await;
    let by_id = map.open(&SessionKey::Id(ids[0].clone()), opening).await.unwrap();
    assert_eq!(by_id.subscribe().0.messages.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_session_refuses_requests() {
    let (_home, _provider, runtime) = world("off").await;
    let session = started(&runtime);
    session.close(Parting::Left).await;
    assert!(session.is_closed());
    assert!(matches!(session.submit("hi").await, Err(RuntimeError::SessionClosed)));
}
