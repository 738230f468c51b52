//! Sub-agents in the background: their reports arrive once, on every surface.

use crate::process::{code, custom_model, finished, stderr, stdout};
use crate::pty::Terminal;
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::process::{Command, Output};
use std::time::Duration;

/// A home whose model starts sub-agents in the background. Each of them waits for the file `go`.
struct Scene {
    home: TempHome,
    folder: tempfile::TempDir,
    provider: FakeProvider,
}

impl Scene {
    async fn new(arguments: Value) -> Self {
        let (home, folder) = (TempHome::new(), tempfile::tempdir().unwrap());
        let provider = FakeProvider::start().await;
        home.write_config(&format!("{}approvals:\n  mode: \"off\"\n", custom_model(&provider.base_url())));
        provider.answer_with(move |request| {
            let messages = request["messages"].as_array().unwrap();
            let first = messages.iter().find(|message| message["role"] == "user").unwrap();
            if first["content"].as_str().unwrap().starts_with("Task: ") {
                return match messages.len() {
                    2 => ReplyScript::call("terminal", json!({ "command": WAITS })).with_text("Looking."),
                    _ => ReplyScript::text("There are 12 files."),
                };
            }
            match messages.len() {
                2 => ReplyScript::call("delegate_task", arguments.clone()),
                count => ReplyScript::text(format!("Heard of {count}.")),
            }
        });
        Self { home, folder, provider }
    }

    async fn chat(&self) -> Terminal {
        let mut chat = Terminal::start(self.home.path(), self.folder.path(), &[]);
        chat.expect("❯").await;
        chat.type_keys("delegate\r");
        chat.expect("Heard of 4.").await;
        chat.expect("❯").await;
        chat
    }

    async fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
        command.args(args).current_dir(self.folder.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HERMES_SANDBOX", "full");
        command.env("HOME", self.home.path()).env("HERMES_HOME", self.home.path());
        finished(command).await
    }

    fn let_go(&self) {
        std::fs::write(self.folder.path().join("go"), "").unwrap();
    }

    /// The messages of the newest request of the user's session.
    fn newest(&self) -> String {
        let bodies = self.provider.bodies();
        let own = |body: &&Value| !body["messages"].to_string().contains("\"Task: ");
        bodies.iter().rfind(own).unwrap()["messages"].to_string()
    }

    fn notices(&self) -> usize {
        self.newest().matches("[IMPORTANT: Background sub-agent").count()
    }
}

const WAITS: &str = "touch begun; until test -e go; do sleep 0.05; done; echo counted";

fn one() -> Value {
    json!({ "goal": "count files", "background": true })
}

#[tokio::test(flavor = "multi_thread")]
async fn report_starts_a_turn_of_the_idle_chat_once() {
    let scene = Scene::new(one()).await;
    let mut chat = scene.chat().await;
    assert!(scene.newest().contains("\\\"status\\\":\\\"running\\\""), "{}", scene.newest());
    scene.let_go();
    chat.expect("sending 1 queued message").await;
    chat.expect("Heard of 6.").await;
    assert_eq!(scene.notices(), 1);
    assert!(scene.newest().contains("has completed its task. Task: count files"), "{}", scene.newest());
    assert!(scene.newest().contains("There are 12 files."));
    chat.expect("❯").await;
    chat.type_keys("\u{4}");
    assert_eq!(chat.ended().await, 0);
    let again = scene.run(&["--continue", "-z", "again"]).await;
    assert_eq!((code(&again), scene.notices()), (0, 1), "{}", stderr(&again));
}

#[tokio::test(flavor = "multi_thread")]
async fn sub_agents_are_listed_and_stopped_by_number() {
    let tasks = json!([{ "goal": "count files" }, { "goal": "count lines" }]);
    let scene = Scene::new(json!({ "tasks": tasks, "background": true })).await;
    let mut chat = scene.chat().await;
    chat.type_keys("/agents\r");
    chat.expect("count lines").await;
    chat.type_keys("/agents stop 7\r");
    chat.expect("no sub-agent 7 is running").await;
    chat.type_keys("/agents stop 2\r");
    chat.expect("stopping sub-agent 2: count lines").await;
    chat.expect("Heard of 6.").await;
    assert!(scene.newest().contains("was stopped before its task was complete. Task: count lines"));
    assert_eq!(scene.notices(), 1, "the other one still works");
    scene.let_go();
    chat.expect("Heard of 8.").await;
    assert_eq!(scene.notices(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_off_sub_agent_is_reported_once() {
    let scene = Scene::new(one()).await;
    let mut chat = scene.chat().await;
    // The first reply of the sub-agent is stored before its command begins.
    let begun = scene.folder.path().join("begun");
    while !begun.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let hermes = Pid::from_raw(chat.child.process_id().unwrap() as i32).unwrap();
    kill_process(hermes, Signal::KILL).unwrap();
    chat.ended().await;
    scene.let_go();
    for _ in 0..2 {
        let out = scene.run(&["--continue", "-z", "what now?"]).await;
        assert_eq!(code(&out), 0, "{}", stderr(&out));
        assert_eq!(scene.notices(), 1, "{}", scene.newest());
        assert!(scene.newest().contains("was cut off when Hermes ended"), "{}", scene.newest());
        assert!(scene.newest().contains("Looking."), "its last reply is in the report: {}", scene.newest());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_without_a_later_turn_waits_for_its_sub_agents() {
    let scene = Scene::new(one()).await;
    scene.let_go();
    let out = scene.run(&["-z", "delegate"]).await;
    assert_eq!((code(&out), stdout(&out).trim()), (0, "Heard of 4."), "{}", stderr(&out));
    assert!(scene.newest().contains("There are 12 files.") && scene.newest().contains("waited for"));
    assert_eq!(scene.notices(), 0);
}
