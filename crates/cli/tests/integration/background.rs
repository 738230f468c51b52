//! Background processes: they outlive Hermes, are listed and ended from everywhere, and their notices arrive once.

use crate::process::{code, custom_model, finished, stderr, stdout};
use crate::pty::Terminal;
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A home whose model starts one command in the background and then only listens.
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
        provider.answer_with(move |request| match request["messages"].as_array().unwrap().len() {
            2 => ReplyScript::call("terminal", arguments.clone()),
            count => ReplyScript::text(format!("Heard of {count}.")),
        });
        Self { home, folder, provider }
    }

    fn terminal(&self, args: &[&str]) -> Terminal {
        Terminal::start(self.home.path(), self.folder.path(), args)
    }

    async fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
        command.args(args).current_dir(self.folder.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HERMES_SANDBOX", "full");
        command.env("HOME", self.home.path()).env("HERMES_HOME", self.home.path());
        finished(command).await
    }

    async fn listed(&self, args: &[&str]) -> Vec<Value> {
        let out = self.run(&[&["ps", "--json"], args].concat()).await;
        serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{}{}", stdout(&out), stderr(&out)))
    }

    fn let_go(&self) {
        std::fs::write(self.folder.path().join("go"), "").unwrap();
    }

    /// The notices in the newest request.
    fn notices(&self) -> usize {
        let newest = self.provider.bodies().pop().unwrap();
        newest["messages"].to_string().matches("[IMPORTANT: Background process").count()
    }
}

/// Runs until the file `go` is there.
const WAITS: &str = "echo serving; until test -e go; do sleep 0.05; done; echo done; exit 3";

fn waiting(notifies: bool) -> Value {
    json!({ "command": WAITS, "background": true, "notify_on_complete": notifies })
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn end_starts_a_turn_of_the_idle_chat() {
    let scene = Scene::new(waiting(true)).await;
    let mut chat = scene.terminal(&[]);
    chat.expect("❯").await;
    chat.type_keys("serve\r");
    chat.expect("Heard of 4.").await;
    chat.expect("❯").await;
    scene.let_go();
    chat.expect("sending 1 queued message").await;
    chat.expect("Heard of 6.").await;
    assert_eq!(scene.notices(), 1);
    let newest = scene.provider.bodies().pop().unwrap()["messages"].to_string();
    assert!(newest.contains("ended with exit code 3") && newest.contains("serving"), "{newest}");
    // Not a second time, neither with a prompt nor after a resumption.
    chat.expect("❯").await;
    chat.type_keys("and?\r");
    chat.expect("Heard of 8.").await;
    chat.expect("❯").await;
    chat.type_keys("\u{4}");
    assert_eq!(chat.ended().await, 0);
    let again = scene.run(&["--continue", "-z", "again"]).await;
    assert_eq!((code(&again), scene.notices()), (0, 1), "{}", stderr(&again));
}

#[tokio::test(flavor = "multi_thread")]
async fn typed_line_is_kept_when_a_process_ends() {
    let scene = Scene::new(waiting(true)).await;
    let mut chat = scene.terminal(&[]);
    chat.expect("❯").await;
    chat.type_keys("serve\r");
    chat.expect("Heard of 4.").await;
    chat.expect("❯").await;
    chat.type_keys("half a li");
    chat.expect("half a li").await;
    scene.let_go();
    chat.expect("a background process has a message").await;
    chat.type_keys("ne\r");
    chat.expect("Heard of").await;
    assert_eq!(scene.notices(), 1);
    let newest = scene.provider.bodies().pop().unwrap()["messages"].to_string();
    assert!(newest.contains("half a line"), "{newest}");
}

#[tokio::test(flavor = "multi_thread")]
async fn process_survives_kill_and_is_listed_read_and_ended() {
    let scene = Scene::new(waiting(true)).await;
    let mut chat = scene.terminal(&[]);
    chat.expect("❯").await;
    chat.type_keys("serve\r");
    chat.expect("Heard of 4.").await;
    let hermes = Pid::from_raw(chat.child.process_id().unwrap() as i32).unwrap();
    kill_process(hermes, Signal::KILL).unwrap();
    chat.ended().await;
    let listed = scene.listed(&[]).await;
    assert_eq!((listed.len(), &listed[0]["status"]), (1, &json!("running")), "{listed:?}");
    let pid = Pid::from_raw(listed[0]["pid"].as_i64().unwrap() as i32).unwrap();
    assert!(test_kill_process(pid).is_ok());
    let shown = scene.run(&["ps", "1"]).await;
    assert!(stdout(&shown).contains("running") && stdout(&shown).contains("serving"), "{}", stdout(&shown));
    let table = stdout(&scene.run(&["ps"]).await);
    assert!(table.contains("running") && table.contains("echo serving"), "{table}");
    let ended = scene.run(&["kill", "1"]).await;
    assert_eq!((code(&ended), stdout(&ended).as_str()), (0, "ended process 1\n"), "{}", stderr(&ended));
    until("the process lives", || test_kill_process(pid).is_err()).await;
    assert_eq!(scene.listed(&[]).await, Vec::<Value>::new());
    let all = scene.listed(&["--all"]).await;
    assert_eq!((&all[0]["status"], &all[0]["completion_reason"]), (&json!("exited"), &json!("killed")));
    assert_eq!(code(&scene.run(&["kill", "1"]).await), 0, "a second kill finds it ended");
    assert_eq!(code(&scene.run(&["kill", "9"]).await), 1);
    // The session learns of it once.
    for _ in 0..2 {
        let again = scene.run(&["--continue", "-z", "again"]).await;
        assert_eq!((code(&again), scene.notices()), (0, 1), "{}", stderr(&again));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn end_without_hermes_is_found_by_the_next_run() {
    let scene = Scene::new(waiting(false)).await;
    let out = scene.run(&["-z", "serve"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let said = stderr(&out);
    assert!(said.contains("background process 1 goes on: echo serving"), "{said}");
    assert_eq!(scene.listed(&[]).await.len(), 1);
    scene.let_go();
    let begun = Instant::now();
    loop {
        let all = scene.listed(&["--all"]).await;
        if all[0]["status"] == "exited" {
            assert_eq!((&all[0]["exit_code"], &all[0]["completion_reason"]), (&json!(3), &json!("exited")));
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{all:?}");
    }
    let shown = scene.run(&["ps", "1", "--json"]).await;
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["output"], "serving\ndone\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_lists_and_ends_its_processes() {
    let scene = Scene::new(waiting(false)).await;
    let mut chat = scene.terminal(&[]);
    chat.expect("❯").await;
    chat.type_keys("/ps\r");
    chat.expect("no background processes of this session").await;
    chat.type_keys("serve\r");
    chat.expect("Heard of 4.").await;
    chat.expect("❯").await;
    chat.type_keys("/ps\r");
    chat.expect("1  running").await;
    chat.type_keys("/kill 7\r");
    chat.expect("no background process `7`").await;
    chat.type_keys("/kill 1\r");
    chat.expect("ended process 1: echo serving").await;
    chat.type_keys("/ps\r");
    chat.expect("1  killed").await;
    chat.type_keys("/stop\r");
    chat.expect("nothing is running").await;
    chat.expect("❯").await;
    chat.type_keys("\u{4}");
    assert_eq!(chat.ended().await, 0);
    assert!(!chat.seen.lock().unwrap().contains("goes on"));
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_ends_the_turn_and_its_background_processes() {
    let scene = Scene::new(waiting(false)).await;
    scene.provider.answer_with(|request| match request["messages"].as_array().unwrap().len() {
        2 => ReplyScript::call("terminal", waiting(false)),
        4 => ReplyScript::call("terminal", json!({ "command": "touch begun; sleep 60" })),
        count => ReplyScript::text(format!("Heard of {count}.")),
    });
    let mut chat = scene.terminal(&[]);
    chat.expect("❯").await;
    chat.type_keys("serve\r");
    let begun = scene.folder.path().join("begun");
    until("the command did not begin", || begun.exists()).await;
    chat.type_keys("/ps\r");
    chat.expect("1  running").await;
    chat.type_keys("/stop\r");
    chat.expect("ended 1 background process").await;
    chat.expect("interrupted; everything so far is saved").await;
    assert_eq!(scene.listed(&[]).await, Vec::<Value>::new());
}
