//! The model's questions in a real terminal, and where there is none.

use crate::process;
use crate::pty::Terminal;
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::time::Duration;

struct Scene {
    home: TempHome,
    folder: tempfile::TempDir,
    provider: FakeProvider,
}

impl Scene {
    async fn new(settings: &str) -> Self {
        let (home, folder) = (TempHome::new(), tempfile::tempdir().unwrap());
        let provider = FakeProvider::start().await;
        home.write_config(&format!("{}{settings}", process::custom_model(&provider.base_url())));
        Self { home, folder, provider }
    }

    fn open(&self, args: &[&str]) -> Terminal {
        Terminal::start(self.home.path(), self.folder.path(), args)
    }

    /// The result of the newest call, as sent to the model.
    fn newest_result(&self) -> Value {
        let request = self.provider.requests().pop().unwrap();
        let messages = request.messages();
        let result = messages.iter().rev().find(|message| message["role"] == "tool").unwrap();
        serde_json::from_str(result["content"].as_str().unwrap()).unwrap()
    }
}

fn which() -> ReplyScript {
    ReplyScript::call("clarify", json!({ "question": "Which colour?", "choices": ["red", "blue"] }))
}

#[tokio::test(flavor = "multi_thread")]
async fn question_is_answered_by_number_or_text() {
    let scene = Scene::new("").await;
    let mut screen = scene.open(&[]);
    for (keys, want) in [
        (&["2\r"][..], "blue"),
        (&["green, please\r"], "green, please"),
        (&["3\r", "2\r"], "2"),
        (&["\r", " \r", "rex\x7fd\r"], "red"),
    ] {
        scene.provider.reply(which()).reply(ReplyScript::text(format!("So it is {want}.")));
        screen.expect("❯ \r\x1b[2C").await;
        screen.type_keys("paint it\r");
        for line in
            ["❓ ", "Which colour?", "1. red", "2. blue", "3. other: type your own answer", "Your answer: "]
        {
            screen.expect(line).await;
        }
        for (place, line) in keys.iter().enumerate() {
            if keys.len() == 2 && place == 1 {
                screen.expect("Your own answer: ").await;
            }
            screen.type_keys(line);
        }
        screen.expect(&format!("Which colour? → {want}")).await;
        screen.expect(&format!("So it is {want}.")).await;
        let result =
            json!({ "question": "Which colour?", "choices_offered": ["red", "blue"], "user_response": want });
        assert_eq!(scene.newest_result(), result);
    }
    // Answers are not what was said: the newest line in the history is a message.
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("\x1b[A");
    screen.expect("paint it").await;
    screen.type_keys("\x15/quit\r");
    assert_eq!(screen.ended().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn draft_does_not_answer_a_question_and_is_kept() {
    let scene = Scene::new("display: {busy_input_mode: queue}\napprovals: {mode: manual}\n").await;
    let mut screen = scene.open(&[]);
    let slow = which().with_text("Let me think about it.").streamed_in(5);
    scene.provider.reply(slow.with_delay(Duration::from_millis(40)));
    scene
        .provider
        .reply(ReplyScript::call("terminal", json!({ "command": "rm -rf old; touch painted" })))
        .reply(ReplyScript::text("Painted."));
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("paint it\r");
    screen.expect("Let").await;
    screen.type_keys("a draft");
    screen.expect("❯ a draft").await;
    screen.expect("Your answer: ").await;
    screen.type_keys("1\r");
    screen.expect("Which colour? → red").await;
    // An approval after the question, and the draft after both.
    screen.expect("Run it? ").await;
    screen.type_keys("y\r");
    screen.expect("Painted.").await;
    screen.expect("❯ a draft\r\x1b[9C").await;
    assert_eq!(scene.newest_result()["exit_code"], 0);
    assert_eq!(scene.provider.requests().len(), 3, "the draft was not said");
    screen.type_keys("\x15/quit\r");
    assert_eq!(screen.ended().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_at_a_question_stops_the_turn() {
    let scene = Scene::new("agent: {clarify_timeout: 1}\n").await;
    let mut screen = scene.open(&[]);
    scene.provider.reply(which()).reply(ReplyScript::text("I took red."));
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("paint it\r");
    screen.expect("Your answer: ").await;
    screen.type_keys("hm");
    screen.expect("No answer came within 1 s.").await;
    screen.expect("I took red.").await;
    // What was begun at the question is not lost.
    screen.expect("❯ hm\r\x1b[4C").await;
    screen.type_keys("\x15/quit\r");
    assert_eq!(screen.ended().await, 0);

    let set = process::run(scene.home.path(), &["config", "set", "agent.clarify_timeout", "0"]).await;
    assert_eq!(process::code(&set), 0, "{}", process::stderr(&set));
    let mut screen = scene.open(&[]);
    scene.provider.reply(which());
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("paint it\r");
    screen.expect("Your answer: ").await;
    screen.type_keys("\x03");
    screen.expect("[not answered]").await;
    screen.expect("interrupted; everything so far is saved").await;
    scene.provider.reply(ReplyScript::text("Never mind."));
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("forget it\r");
    screen.expect("Never mind.").await;
    assert_eq!(scene.newest_result(), json!({ "error": "Not answered: the user stopped the turn." }));
}

#[tokio::test(flavor = "multi_thread")]
async fn question_without_a_user_is_unanswered() {
    let scene = Scene::new("").await;
    let unanswered = "Nobody is there to ask.";
    for args in [&["-z", "paint it"][..], &["chat", "-q", "paint it"], &["--json", "-z", "paint it"]] {
        scene.provider.reply(which()).reply(ReplyScript::text("Red it is."));
        let output = process::stdout(&process::run(scene.home.path(), args).await);
        assert!(output.contains("Red it is."), "{args:?}: {output}");
        let response = scene.newest_result()["user_response"].to_string();
        assert!(response.contains(unanswered), "{args:?}: {response}");
        let asked = r#"{"v":1,"type":"clarify_asked","id":"#;
        assert_eq!(output.contains(asked), args.contains(&"--json"), "{args:?}: {output}");
    }
    // A one-shot in a terminal: approvals are asked, but no line can be entered while it runs.
    scene.provider.reply(which()).reply(ReplyScript::text("Red it is."));
    let mut screen = scene.open(&["chat", "-q", "paint it"]);
    screen.expect("Which colour? → Nobody is there to ask.").await;
    screen.expect("Red it is.").await;
    assert_eq!(screen.ended().await, 0);
    assert!(!screen.seen.lock().unwrap().contains("1. red"), "there is no user to choose");
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_answer_is_replayed() {
    let scene = Scene::new("").await;
    let recording = scene.folder.path().join("run.jsonl");
    let mut screen = scene.open(&["--record", recording.to_str().unwrap()]);
    scene.provider.reply(which()).reply(ReplyScript::text("Blue."));
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("paint it\r");
    screen.expect("Your answer: ").await;
    screen.type_keys("2\r");
    screen.expect("Blue.").await;
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("/quit\r");
    assert_eq!(screen.ended().await, 0);
    let replayed = process::run(scene.home.path(), &["replay", recording.to_str().unwrap()]).await;
    process::assert_identical(&replayed, 2);
}
