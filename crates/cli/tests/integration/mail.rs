//! A message that is entered while a turn runs reaches the model exactly once, also if the process is killed.

use crate::process;
use crate::pty::Terminal;
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const THREE: [&str; 3] = ["first-word", "second-word", "third-word"];

/// A home whose model runs one command that waits for a file, and then only listens.
struct Scene {
    home: TempHome,
    folder: tempfile::TempDir,
    provider: FakeProvider,
}

impl Scene {
    async fn new(mode: &str) -> Self {
        let (home, folder) = (TempHome::new(), tempfile::tempdir().unwrap());
        let provider = FakeProvider::start().await;
        let model = process::custom_model(&provider.base_url());
        home.write_config(&format!(
            "{model}approvals:\n  mode: \"off\"\ndisplay:\n  busy_input_mode: {mode}\n"
        ));
        provider.answer_with(|request| match request["messages"].as_array().unwrap().len() {
            // It does not let itself be ended at once, so that there is time between what is said and
            // the end of the turn.
            2 => {
                let waits = "trap '' TERM; touch begun; until test -e go; do sleep 0.05; done";
                ReplyScript::call("terminal", json!({ "command": waits }))
            }
            _ => ReplyScript::text("Heard."),
        });
        Self { home, folder, provider }
    }

    fn open(&self, args: &[&str]) -> Terminal {
        Terminal::start(self.home.path(), self.folder.path(), args)
    }

    /// A chat in which the command runs.
    async fn busy(&self) -> Terminal {
        let mut screen = self.open(&[]);
        screen.expect("❯").await;
        screen.type_keys("begin\r");
        eventually(|| self.folder.path().join("begun").exists(), "the command did not begin").await;
        screen
    }

    fn let_go(&self) {
        std::fs::write(self.folder.path().join("go"), "").unwrap();
    }

    /// Waits until the newest request has every message, and checks that none is there twice, in this
    /// request or any other.
    async fn has_heard_all_once(&self) {
        let count = |body: &Value, text: &str| -> usize {
            let messages = body["messages"].as_array().unwrap();
            messages.iter().map(|message| message["content"].to_string().matches(text).count()).sum()
        };
        let newest = || self.provider.requests().last().map(|request| request.json.clone());
        let all = || newest().is_some_and(|body| THREE.iter().all(|text| count(&body, text) > 0));
        eventually(all, "not everything reached the model").await;
        for request in self.provider.requests() {
            for text in THREE {
                assert!(count(&request.json, text) <= 1, "{text} twice in {}", request.json);
            }
        }
    }
}

async fn eventually(is_so: impl Fn() -> bool, otherwise: &str) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{otherwise}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Enters the three messages and waits until each is acknowledged.
async fn say_three(screen: &mut Terminal, word: &str) {
    for text in THREE {
        screen.type_keys(&format!("{text}\r"));
    }
    for text in THREE {
        screen.expect(&format!("↳ {word}: {text}")).await;
    }
}

/// Waits for the line editor's prompt, which looks like no echo of a message.
async fn leaves(screen: &mut Terminal) {
    screen.expect("❯ \r\x1b[2C").await;
    screen.type_keys("/quit\r");
    assert_eq!(screen.ended().await, 0);
}

/// SIGKILL, which cannot be handled.
async fn kill(screen: &mut Terminal) {
    let id = screen.child.process_id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)).unwrap();
    kill_process(id, Signal::KILL).unwrap();
    screen.ended().await;
}

const MODES: [(&str, &str); 3] = [("interrupt", "interrupting"), ("queue", "queued"), ("steer", "steering")];

#[tokio::test(flavor = "multi_thread")]
async fn messages_during_a_turn_reach_the_model_once() {
    for (mode, word) in MODES {
        let scene = Scene::new(mode).await;
        let mut screen = scene.busy().await;
        say_three(&mut screen, word).await;
        scene.let_go();
        scene.has_heard_all_once().await;
        leaves(&mut screen).await;
        let turns = match mode {
            "steer" => 1,
            "queue" => 4,
            // Those that came before the turn was over are one message.
            _ => 2,
        };
        let users = |body: &Value| {
            let messages = body["messages"].as_array().unwrap();
            messages.iter().filter(|message| message["role"] == "user").count()
        };
        let last = scene.provider.requests().pop().unwrap().json.clone();
        assert!(users(&last) >= turns, "{mode}: {last}");
        if mode != "interrupt" {
            assert_eq!(users(&last), turns, "{mode}: {last}");
        }
        // Nothing that was sent is changed by going on in another process.
        let out = process::run(scene.home.path(), &["--continue", "-z", "and now?"]).await;
        assert_eq!(process::code(&out), 0, "{mode}: {}", process::stderr(&out));
        let next = scene.provider.requests().pop().unwrap().json.clone();
        let (sent, now) = (last["messages"].as_array().unwrap(), next["messages"].as_array().unwrap());
        assert_eq!(now[..sent.len()], sent[..], "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_message_survives_a_kill_and_is_sent_once() {
    for (mode, word) in MODES {
        let scene = Scene::new(mode).await;
        let mut screen = scene.busy().await;
        say_three(&mut screen, word).await;
        kill(&mut screen).await;
        // The command outlives the kill, and its result is waited for.
        scene.let_go();
        let mut again = scene.open(&["--continue"]);
        if mode != "interrupt" {
            again.expect("sending 3 queued messages").await;
        }
        scene.has_heard_all_once().await;
        leaves(&mut again).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn oneshot_sends_queued_messages() {
    let scene = Scene::new("queue").await;
    let mut screen = scene.busy().await;
    say_three(&mut screen, "queued").await;
    kill(&mut screen).await;
    scene.let_go();
    let out = process::run(scene.home.path(), &["--continue", "--json", "-z", "and now?"]).await;
    assert_eq!(process::code(&out), 0, "{}", process::stderr(&out));
    let asked = scene.provider.requests().pop().unwrap();
    assert_eq!(
        asked.messages().last().unwrap()["content"],
        "first-word\n\nsecond-word\n\nthird-word\n\nand now?"
    );
    let delivered: Vec<_> = process::json_lines(&out)
        .into_iter()
        .filter(|line| line["type"] == "mail_delivered")
        .map(|line| (line["mode"].clone(), line["text"].clone()))
        .collect();
    assert_eq!(delivered, THREE.map(|text| (json!("queue"), json!(text))));
}

#[tokio::test(flavor = "multi_thread")]
async fn slash_commands_do_not_interrupt_a_turn() {
    let scene = Scene::new("interrupt").await;
    let mut screen = scene.busy().await;
    for (keys, answer) in [
        ("/queue", "/queue needs a message"),
        ("/model other", "/model has to wait"),
        ("/busy", "interrupt (interrupts it"),
        ("/busy steer", "steer (steers it"),
        ("go left", "↳ steering: go left"),
        ("/queue then right", "↳ queued: then right"),
    ] {
        screen.type_keys(&format!("{keys}\r"));
        screen.expect(answer).await;
    }
    scene.let_go();
    screen.expect("↳ steered: go left").await;
    screen.expect("Heard.").await;
    screen.expect("❯ then right").await;
    leaves(&mut screen).await;
    let asked = scene.provider.requests().pop().unwrap();
    assert_eq!(asked.messages().last().unwrap()["content"], "then right");
    assert_eq!(scene.provider.requests().len(), 3);
}
