use super::*;
use hermes_tools::{Approval, ApprovalRequest};

fn hub() -> Arc<Hub> {
    Hub::new(Snapshot {
        session: SessionId::new("s"),
        title: None,
        model: "m".into(),
        provider: "p".into(),
        messages: Arc::default(),
        running: None,
        questions: Vec::new(),
    })
}

fn text(piece: &str) -> SessionEvent {
    SessionEvent::Turn(TurnEvent::Text(piece.into()))
}

fn status(number: usize) -> SessionEvent {
    SessionEvent::Turn(TurnEvent::Status(number.to_string()))
}

/// The unread events of an observer in a form that can be compared.
fn unread(observer: &mut Observer) -> Vec<String> {
    std::iter::from_fn(|| observer.try_next())
        .map(|event| match event {
            SessionEvent::Turn(event) => format!("{event:?}"),
            SessionEvent::Resynced(snapshot) => {
                format!("resynced {:?}", snapshot.running.map(|turn| turn.text))
            }
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn observers_get_the_same_events_in_the_same_order() {
    let hub = hub();
    let ((_, mut one), (_, mut two)) = (hub.subscribe(), hub.subscribe());
    hub.publish(text("a"));
    // Pieces that are unread are joined; the text is the same.
    assert_eq!(unread(&mut one), [r#"Text("a")"#]);
    hub.publish(text("b"));
    hub.publish(status(1));
    hub.publish(text("c"));
    assert_eq!(unread(&mut one), [r#"Text("b")"#, r#"Status("1")"#, r#"Text("c")"#]);
    assert_eq!(unread(&mut two), [r#"Text("ab")"#, r#"Status("1")"#, r#"Text("c")"#]);
}

#[test]
fn stalled_observer_is_resynchronised_and_bounded() {
    let hub = hub();
    let (_, mut stalled) = hub.subscribe();
    hub.publish(SessionEvent::TurnStarted { turn: TurnId(1), text: "hi".into() });
    hub.publish(text("so far"));
    for number in 0..10 * MAX_UNREAD {
        hub.publish(status(number));
        assert!(stalled.queue.lock().events.len() <= MAX_UNREAD);
    }
    let seen = unread(&mut stalled);
    assert_eq!(seen[0], r#"resynced Some("so far")"#);
    assert_eq!(seen.last().unwrap(), &format!(r#"Status("{}")"#, 10 * MAX_UNREAD - 1));
}

#[test]
fn observer_that_keeps_all_loses_nothing() {
    let hub = hub();
    let (_, mut observer) = hub.subscribe();
    observer.keep_all();
    let mut want = String::new();
    for number in 0..2 * MAX_UNREAD {
        // Reasoning between pieces of text keeps them from being joined.
        hub.publish(SessionEvent::Turn(TurnEvent::Reasoning("r".into())));
        hub.publish(text(&number.to_string()));
        want.push_str(&number.to_string());
    }
    let mut got = String::new();
    while let Some(event) = observer.try_next() {
        if let SessionEvent::Turn(TurnEvent::Text(piece)) = event {
            got.push_str(&piece);
        }
    }
    assert_eq!(got, want);
}

#[test]
fn late_observer_starts_from_a_snapshot_of_the_running_turn() {
    let hub = hub();
    hub.publish(SessionEvent::TurnStarted { turn: TurnId(7), text: "hi".into() });
    hub.publish(text("The answer "));
    let (snapshot, mut late) = hub.subscribe();
    let running = snapshot.running.unwrap();
    assert_eq!(
        (running.turn, running.prompt.as_str(), running.text.as_str()),
        (TurnId(7), "hi", "The answer ")
    );
    hub.publish(text("is 4."));
    assert_eq!(unread(&mut late), [r#"Text("is 4.")"#]);
}

#[test]
fn only_the_holder_of_the_right_answers_and_can_hand_it_over() {
    let hub = hub();
    let ((_, one), (_, two)) = (hub.subscribe(), hub.subscribe());
    one.take_answering();
    let request =
        ApprovalRequest::once(hermes_conversation::CallId::new("c1"), "terminal", "ls", "/tmp".into());
    let (id, mut answer) = hub.ask(QuestionKind::Approval(request));
    let yes = || Answer::Approval(Approval::ONCE);
    assert!(!two.answer(id, yes()), "without the right");
    assert!(!two.hand_answering_to(two.id()) && one.hand_answering_to(two.id()));
    assert!(!one.answer(id, yes()), "the right was handed over");
    assert!(two.answer(id, yes()) && !two.answer(id, yes()), "a question is answered once");
    assert_eq!(answer.try_recv().unwrap(), yes());
    drop(two);
    assert!(!hub.has_answerer(), "the right ends with its holder");
}

#[tokio::test]
async fn closed_session_ends_every_observation() {
    let hub = hub();
    let (_, mut observer) = hub.subscribe();
    hub.close();
    assert!(matches!(observer.next().await, Some(SessionEvent::Closed)));
    assert!(observer.next().await.is_none());
    assert!(hub.subscribe().1.next().await.is_none(), "also one that begins later");
}
