//! Crash recovery: resuming a session after Hermes was killed in the middle of a tool call.

use crate::command_log::masked;
use crate::process::{
    code, custom_model, eventually, finished, hermes, is_running, kill_supervisor, stderr, stdout,
    unique_sleep,
};
use hermes_conversation::{
    AssistantMessage, CallId, Content, Effect, Intent, IntentState, Opening, Owner, SessionId, ToolCall,
    Transcript, UserMessage,
};
use hermes_store::{NewSession, SessionDb};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// A session that was killed while its first call ran.
struct Killed {
    home: TempHome,
    provider: FakeProvider,
}

impl Killed {
    /// The call runs `command`, which makes the file `begun` when it may be killed.
    async fn during(command: &str) -> Self {
        let (home, provider) = (TempHome::new(), FakeProvider::start().await);
        home.write_config(&custom_model(&provider.base_url()));
        let killed = Self { home, provider };
        let never = json!({ "command": "echo never >> log" });
        killed
            .provider
            .reply(ReplyScript::call("terminal", json!({ "command": command })).and_call("terminal", never));
        let mut child = killed.command(&["--yolo", "-z", "go"]).stdin(Stdio::null()).spawn().unwrap();
        eventually("the command", || killed.file("begun").exists()).await;
        child.kill().unwrap();
        child.wait().unwrap();
        killed
    }

    fn command(&self, args: &[&str]) -> Command {
        hermes(self.home.path(), self.home.path(), args)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn resume(&self) -> Command {
        self.provider.reply(ReplyScript::text("I see."));
        self.command(&["--yolo", "--resume", "latest", "-z", "what happened?"])
    }

    /// The results that were sent to the model, after checks of their other fields.
    fn results(&self) -> Vec<Value> {
        let request = self.provider.requests().pop().unwrap();
        let messages = request.messages();
        let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "assistant", "user"]);
        let results: Vec<Value> = messages[3..5]
            .iter()
            .map(|message| serde_json::from_str(message["content"].as_str().unwrap()).unwrap())
            .collect();
        assert!(results[1]["error"].as_str().unwrap().contains("was not run"), "{results:?}");
        assert_eq!(std::fs::read_to_string(self.file("log")).unwrap(), "once\n");
        results
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn resume_waits_for_a_running_command() {
    let killed = Killed::during(
        "echo once >> log; touch begun; until [ -e go ]; do sleep 0.02; done; echo end; exit 3",
    )
    .await;
    let mut resume = killed.resume();
    let child = resume.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::fs::write(killed.file("go"), "").unwrap();
    let out = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
    assert_eq!((stdout(&out).as_str(), code(&out)), ("I see.\n", 0), "{}", stderr(&out));
    assert_eq!(killed.results()[0], json!({"output": "end\n", "exit_code": 3, "error": null}));
    // A line before it says that the command still runs, if it does by then.
    insta::assert_snapshot!("result_found", stderr(&out).lines().last().unwrap_or_default());
}

/// A directory outside of the project would be the project of the resumed session.
#[tokio::test(flavor = "multi_thread")]
async fn resumed_session_stays_in_its_project() {
    let killed = Killed::during(
        "h=$PWD; cd /; echo once >> $h/log; touch $h/begun; until [ -e $h/go ]; do sleep 0.02; done; touch $h/done",
    )
    .await;
    std::fs::write(killed.file("go"), "").unwrap();
    eventually("the end", || killed.file("done").exists()).await;
    killed
        .provider
        .reply(ReplyScript::call("terminal", json!({"command": "pwd"})))
        .reply(ReplyScript::text("There."));
    let out = finished(killed.command(&["--yolo", "--resume", "latest", "-z", "where?"])).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let request = killed.provider.requests().pop().unwrap();
    let said = request.messages().last().unwrap()["content"].clone();
    let home = killed.home.path().canonicalize().unwrap();
    assert!(said.as_str().unwrap().contains(&*home.to_string_lossy()), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn resume_returns_result_of_ended_command() {
    let killed =
        Killed::during("mkdir sub; cd sub; echo once >> ../log; touch ../begun; until [ -e ../go ]; do sleep 0.02; done; echo end; touch ../done")
            .await;
    std::fs::write(killed.file("go"), "").unwrap();
    eventually("the end", || killed.file("done").exists()).await;
    let out = finished(killed.resume()).await;
    assert_eq!((stdout(&out).as_str(), code(&out)), ("I see.\n", 0), "{}", stderr(&out));
    assert_eq!(killed.results()[0], json!({"output": "end\n", "exit_code": 0, "error": null}));
    // The session goes on where the command left it.
    killed
        .provider
        .reply(ReplyScript::call("terminal", json!({"command": "pwd"})))
        .reply(ReplyScript::text("There."));
    let out = finished(killed.command(&["--yolo", "--resume", "latest", "-z", "where?"])).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let request = killed.provider.requests().pop().unwrap();
    let said = request.messages().last().unwrap()["content"].clone();
    assert!(said.as_str().unwrap().contains("/sub"), "{said}");
    let records = std::fs::read_dir(killed.file("commands")).unwrap().flatten();
    let left: Vec<_> =
        records.filter(|entry| entry.path().extension().is_some_and(|end| end == "cmd")).collect();
    assert!(left.is_empty(), "what is recorded needs no second record: {left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_a_running_command_can_be_interrupted() {
    let nap = unique_sleep();
    let killed = Killed::during(&format!("echo once >> log; {nap} & touch begun; {nap}")).await;
    assert!(is_running(&nap), "it outlives its owner");
    let mut resume = killed.resume();
    let child = resume.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let log = killed.file("logs/agent.log");
    eventually("the resume", || {
        std::fs::read_to_string(&log).unwrap_or_default().contains("waiting for a command")
    })
    .await;
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let out = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
    assert_eq!((stdout(&out).as_str(), code(&out)), ("I see.\n", 0), "{}", stderr(&out));
    insta::assert_snapshot!("waiting_for_result", masked(&stderr(&out)));
    let results = killed.results();
    assert_eq!(results[0]["exit_code"], 130, "{results:?}");
    assert!(!is_running(&nap), "a process of the killed turn is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn outcome_without_a_supervisor_is_unknown() {
    let nap = unique_sleep();
    let killed = Killed::during(&format!("echo once >> log; echo $PPID > parent; touch begun; {nap}")).await;
    kill_supervisor(&killed.file("parent"));
    let out = finished(killed.resume()).await;
    assert_eq!((stdout(&out).as_str(), code(&out)), ("I see.\n", 0), "{}", stderr(&out));
    assert!(killed.results()[0]["error"].as_str().unwrap().contains("may or may not"));
    assert!(!is_running(&nap), "a process of the killed turn is left");
}

/// A power cut takes the record of a command with it, so that a missing one does not tell that nothing ran.
#[tokio::test(flavor = "multi_thread")]
async fn outcome_after_a_reboot_is_unknown() {
    for (boot, want) in [("an-earlier-boot".to_owned(), "may or may not"), (this_boot(), "was not run")] {
        let (home, provider) = (TempHome::new(), FakeProvider::start().await);
        home.write_config(&custom_model(&provider.base_url()));
        started_by(&home, Owner { pid: 4_000_000, started: 1, boot }).await;
        provider.reply(ReplyScript::text("I see."));
        let args = ["--yolo", "--resume", "cut-off", "-z", "what happened?"];
        let out = finished(hermes(home.path(), home.path(), &args)).await;
        assert_eq!(code(&out), 0, "{}", stderr(&out));
        let told = provider.requests().pop().unwrap().json["messages"].to_string();
        assert!(told.contains(want), "{want}: {told}");
    }
}

fn this_boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned()
}

/// A session whose process went away just after it had started a command.
async fn started_by(home: &TempHome, owner: Owner) {
    let db = SessionDb::open(&home.path().join("state.db"), Arc::new(|| 1_000.0)).unwrap();
    let session = NewSession {
        id: SessionId::new("cut-off"),
        source: "cli".into(),
        model: "m".into(),
        provider: "custom".into(),
        base_url: String::new(),
        system_prompt: "be kind".into(),
        cwd: None,
        parent: None,
        delegating_call: None,
        model_config: serde_json::Map::new(),
    };
    let lease = db.acquire(session, owner).await.unwrap().lease;
    let turn = db
        .open_turn(&lease, Opening::from(UserMessage { content: Content::text("go"), api_content: None }))
        .await
        .unwrap();
    let arguments = r#"{"command":"touch x"}"#;
    let call = ToolCall::new(CallId::new("c"), "terminal", arguments);
    let reply = AssistantMessage { calls: vec![call], ..AssistantMessage::default() };
    let intent = Intent {
        call_id: CallId::new("c"),
        tool: "terminal".into(),
        arguments: arguments.into(),
        effect: Effect::Any,
        state: IntentState::Started,
        decision: "allowed",
    };
    db.plan(&lease, &turn, &reply, None, &[intent]).await.unwrap();
}
