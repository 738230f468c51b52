use crate::testing::Bench;
use crate::{
    ApprovalMode, KnownProcess, ProcessExit, ProcessStart, ProcessState, Processes, ToolContext,
    ToolSettings, ToolSetup, Verdict,
};
use hermes_conversation::BoxFuture;
use hermes_exec::Input;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const ID: &str = "proc_1";

/// One process, and a list of the requests about it.
struct Fake {
    command: Mutex<String>,
    exit: Mutex<Option<ProcessExit>>,
    output: String,
    requests: Mutex<Vec<String>>,
    delivers: bool,
}

impl Fake {
    fn new(output: &str) -> Arc<Self> {
        Arc::new(Self {
            command: Mutex::new("cat".to_owned()),
            exit: Mutex::default(),
            output: output.to_owned(),
            requests: Mutex::default(),
            delivers: true,
        })
    }

    fn ends(&self, code: i32) {
        *self.exit.lock().unwrap() = Some(ProcessExit { code, reason: "exited".to_owned() });
    }

    fn request(&self, text: impl Into<String>) {
        self.requests.lock().unwrap().push(text.into());
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    fn state(&self) -> ProcessState {
        ProcessState {
            number: 1,
            id: ID.to_owned(),
            command: self.command.lock().unwrap().clone(),
            cwd: "/work".to_owned(),
            pid: 42,
            started_at: 0.0,
            uptime: 7.9,
            has_terminal: false,
            notifies: false,
            patterns: Vec::new(),
            exit: self.exit.lock().unwrap().clone(),
            output: self.output.clone(),
            written: self.output.len() as u64,
        }
    }
}

impl Processes for Fake {
    fn start<'a>(&'a self, start: ProcessStart) -> BoxFuture<'a, Result<ProcessState, String>> {
        Box::pin(async move {
            let ProcessStart { command, input, notifies, patterns, .. } = start;
            let has_terminal = matches!(input, Input::Terminal(_));
            let limit = command.timeout.as_secs();
            self.request(format!("start {} {has_terminal} {notifies} {patterns:?} {limit}", command.script));
            self.command.lock().unwrap().clone_from(&command.script);
            Ok(self.state())
        })
    }

    fn list<'a>(&'a self) -> BoxFuture<'a, Result<Vec<ProcessState>, String>> {
        Box::pin(async { Ok(vec![self.state()]) })
    }

    fn look<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<ProcessState>, String>> {
        Box::pin(async move { Ok((id == ID).then(|| self.state())) })
    }

    fn ended<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async {
            if self.exit.lock().unwrap().is_none() {
                std::future::pending::<()>().await;
            }
            Ok(())
        })
    }

    fn learned<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), String>> {
        self.request("learned");
        Box::pin(async { Ok(()) })
    }

    fn kill<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), String>> {
        self.request("kill");
        Box::pin(async { Ok(()) })
    }

    fn write<'a>(&'a self, _: &'a str, text: &'a str, closes: bool) -> BoxFuture<'a, Result<(), String>> {
        self.request(format!("write {text:?} {closes}"));
        Box::pin(async { Ok(()) })
    }

    fn known(&self, id: &str) -> Option<KnownProcess> {
        let command = self.command.lock().unwrap().clone();
        (id == ID).then_some(KnownProcess { command, has_terminal: false })
    }

    fn delivers_notices(&self) -> bool {
        self.delivers
    }
}

fn bench(fake: &Arc<Fake>, mode: ApprovalMode) -> Bench {
    let mut bench = Bench::new();
    let settings = ToolSettings { timeout: 2, ..ToolSettings::with_approvals(mode) };
    let setup = ToolSetup { processes: Some(fake.clone()), settings, ..Bench::setup(&bench.root()) };
    bench.cx = ToolContext::new(setup);
    bench
}

async fn ask(bench: &Bench, action: &str, more: Value) -> Value {
    let mut arguments = json!({"action": action, "session_id": ID});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    bench.call("process", arguments).await
}

#[tokio::test]
async fn looking_tells_state_and_output() {
    let fake = Fake::new(&(1..=300).map(|line| format!("line {line}\n")).collect::<String>());
    let bench = bench(&fake, ApprovalMode::Off);
    let list = bench.call("process", json!({"action": "list"})).await;
    let first = &list["processes"][0];
    assert_eq!((&first["session_id"], &first["status"]), (&json!(ID), &json!("running")));
    assert_eq!((&first["uptime_seconds"], &first["started_at"]), (&json!(7), &json!("1970-01-01T00:00:00")));
    assert_eq!(first["output_preview"].as_str().unwrap().len(), 200);
    assert!(first.get("exit_code").is_none());
    let poll = ask(&bench, "poll", json!({})).await;
    assert_eq!(poll["output_preview"].as_str().unwrap().len(), 1_000);
    for (arguments, first, last, showing) in [
        (json!({}), "line 101", "line 300", "200 lines"),
        (json!({"limit": 3}), "line 298", "line 300", "3 lines"),
        (json!({"offset": 10, "limit": 2}), "line 11", "line 12", "2 lines"),
        (json!({"offset": 299}), "line 300", "line 300", "1 lines"),
        (json!({"offset": 900}), "", "", "0 lines"),
    ] {
        let log = ask(&bench, "log", arguments.clone()).await;
        let text = log["output"].as_str().unwrap();
        let ends = (text.lines().next().unwrap_or_default(), text.lines().last().unwrap_or_default());
        assert_eq!((ends, &log["showing"]), ((first, last), &json!(showing)), "{arguments}");
        assert_eq!(log["total_lines"], 300);
    }
    assert!(
        fake.requests().is_empty(),
        "looking at a running process tells it nothing: {:?}",
        fake.requests()
    );
}

/// `poll` and `list` do not replace the message about an end; a result that tells of it does.
#[tokio::test]
async fn results_that_tell_of_an_end_withdraw_the_notice() {
    for (action, learned) in [("poll", 0), ("list", 0), ("log", 1), ("wait", 1), ("kill", 0)] {
        let fake = Fake::new("done\n");
        fake.ends(3);
        let bench = bench(&fake, ApprovalMode::Off);
        let value = ask(&bench, action, json!({})).await;
        let told = if action == "list" { &value["processes"][0] } else { &value };
        assert_eq!(
            (&told["exit_code"], &told["completion_reason"]),
            (&json!(3), &json!("exited")),
            "{action}"
        );
        assert_eq!(fake.requests().len(), learned, "{action}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_bounded_and_can_be_interrupted() {
    let fake = Fake::new("so far\n");
    let bench = bench(&fake, ApprovalMode::Off);
    let late = ask(&bench, "wait", json!({"timeout": 900})).await;
    assert_eq!((&late["status"], &late["output"]), (&json!("timeout"), &json!("so far\n")));
    assert_eq!(late["timeout_note"], "It still runs after 2 seconds (at most 2 can be waited for).");
    let cancel = bench.cancel.clone();
    let interrupt = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        cancel.cancel();
    };
    let (waited, ()) = tokio::join!(ask(&bench, "wait", json!({})), interrupt);
    assert_eq!(waited["status"], "interrupted", "{waited}");
    assert!(fake.requests().is_empty());
}

#[tokio::test]
async fn input_reaches_the_process() {
    let fake = Fake::new("");
    let bench = bench(&fake, ApprovalMode::Off);
    for (action, data, want) in [
        ("write", json!({"data": "a"}), r#"write "a" false"#),
        ("submit", json!({"data": "b"}), r#"write "b\n" false"#),
        ("submit", json!({}), r#"write "\n" false"#),
        ("close", json!({}), r#"write "" true"#),
        ("kill", json!({}), "kill"),
    ] {
        ask(&bench, action, data).await;
        assert!(fake.requests().contains(&want.to_owned()), "{action}: {:?}", fake.requests());
    }
}

#[tokio::test]
async fn input_for_a_shell_is_judged_as_a_command() {
    let fake = Fake::new("");
    "bash".clone_into(&mut fake.command.lock().unwrap());
    let bench = bench(&fake, ApprovalMode::Off);
    let judged = |data: &str| {
        let arguments = json!({"action": "submit", "session_id": ID, "data": data});
        bench.prepare("process", arguments).verdict
    };
    assert!(matches!(judged("rm -rf /"), Verdict::Refuse { .. }));
    assert_eq!(judged("ls").decision(), "allowed");
    // A command in two parts is judged as one.
    ask(&bench, "write", json!({"data": "rm -rf "})).await;
    assert!(matches!(judged("/"), Verdict::Refuse { .. }));
    ask(&bench, "submit", json!({"data": "x"})).await;
    assert_eq!(judged("/").decision(), "allowed");
}

#[tokio::test]
async fn mistakes_are_named() {
    let fake = Fake::new("");
    let bench = bench(&fake, ApprovalMode::Off);
    for (arguments, want) in [
        (json!({"action": "poll"}), "`session_id` is missing"),
        (json!({"action": "poll", "session_id": " "}), "`session_id` is missing"),
        (
            json!({"action": "write", "session_id": "proc_2", "data": "x"}),
            "no process with the id proc_2 is known",
        ),
        (json!({"action": "jump", "session_id": ID}), "action"),
        (json!({"action": "poll", "session_id": "proc_2"}), "No process has the id proc_2"),
    ] {
        let value = bench.call("process", arguments.clone()).await;
        let error = value["error"].as_str().unwrap_or_default();
        assert!(error.contains(want), "{arguments}: {value}");
    }
    let without = Bench::new().prepare("process", json!({"action": "list"})).verdict;
    assert!(matches!(without, Verdict::Refuse { text, .. } if text.contains("no background processes")));
}

#[tokio::test]
async fn a_command_starts_in_the_background() {
    for (more, want, hint) in [
        (json!({}), "start make false false [] 18446744073709551615", "No message will tell"),
        (json!({"pty": true, "timeout": 9}), "start make true false [] 9", "No message will tell"),
        (json!({"notify_on_complete": true}), "start make false true [] 18446744073709551615", ""),
        (json!({"watch_patterns": ["up"]}), r#"start make false false ["up"] 18446744073709551615"#, ""),
        (
            json!({"watch_patterns": ["up"], "notify_on_complete": true}),
            "start make false true [] 18446744073709551615",
            "watch_patterns was left out",
        ),
    ] {
        let fake = Fake::new("");
        let bench = bench(&fake, ApprovalMode::Off);
        let mut arguments = json!({"command": "make", "background": true});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let value = bench.call("terminal", &arguments).await;
        assert_eq!((&value["session_id"], &value["exit_code"]), (&json!(ID), &json!(0)), "{value}");
        assert_eq!(fake.requests(), [want], "{arguments}");
        assert!(value["hint"].as_str().unwrap_or_default().starts_with(hint), "{arguments}: {value}");
    }
}

#[tokio::test]
async fn a_session_that_ends_with_its_turn_gets_no_messages() {
    let fake = Arc::new(Fake { delivers: false, ..Arc::into_inner(Fake::new("")).unwrap() });
    let bench = bench(&fake, ApprovalMode::Off);
    let arguments = json!({"command": "make", "background": true, "notify_on_complete": true});
    let value = bench.call("terminal", arguments).await;
    assert!(value["hint"].as_str().unwrap().contains("action wait or poll"), "{value}");
    assert!(fake.requests()[0].contains("make false false []"));
}
