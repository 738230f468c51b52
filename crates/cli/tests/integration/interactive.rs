//! Interactive programs in a terminal of their own, driven by the calls of a model: the model reads the screen as text.

use crate::process::{code, custom_model, finished, stderr};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Command;
use std::sync::Mutex;

/// A step of the model.
enum Act {
    /// Types these keys.
    Keys(&'static str),
    /// Types a line and Enter.
    Line(&'static str),
    /// Looks at the screen until it has this text.
    See(&'static str),
    Close,
    /// Looks until the program has ended with this exit code.
    Ended(i32),
}

/// Looks at a screen that never shows what is waited for.
const MOST_LOOKS: usize = 60;

struct Dialogue {
    command: String,
    acts: Vec<Act>,
    next: usize,
    looks: usize,
    id: Option<String>,
    /// Every screen that the model was shown.
    screens: Vec<String>,
}

impl Dialogue {
    /// The reply to a request.
    fn reply(&mut self, body: &Value) -> ReplyScript {
        let newest = body["messages"].as_array().unwrap().last().unwrap();
        if newest["role"] != "tool" {
            let start = json!({ "command": self.command, "background": true, "pty": true });
            return ReplyScript::call("terminal", start);
        }
        let result: Value = serde_json::from_str(newest["content"].as_str().unwrap()).unwrap();
        if self.id.is_none() {
            self.id = Some(result["session_id"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned());
        }
        for field in ["output_preview", "output"] {
            self.screens.extend(result[field].as_str().map(str::to_owned));
        }
        if self.is_done(&result) {
            self.next += 1;
            self.looks = 0;
        }
        let Some(act) = self.acts.get(self.next) else { return ReplyScript::text("Done.") };
        let id = self.id.clone();
        let call = |action: &str, data: Option<&str>| {
            let mut arguments = json!({ "action": action, "session_id": id });
            if let Some(data) = data {
                arguments["data"] = data.into();
            }
            ReplyScript::call("process", arguments)
        };
        let reply = match act {
            Act::Keys(keys) => call("write", Some(keys)),
            Act::Line(line) => call("submit", Some(line)),
            Act::Close => call("close", None),
            Act::See(_) | Act::Ended(_) => {
                self.looks += 1;
                assert!(self.looks < MOST_LOOKS, "it never came: {:?}", self.screens.last());
                let wait = json!({ "action": "wait", "session_id": id, "timeout": 1 });
                return ReplyScript::call("process", wait);
            }
        };
        self.next += 1;
        reply
    }

    /// Returns true if a result is what was waited for.
    fn is_done(&self, result: &Value) -> bool {
        match self.acts.get(self.next) {
            Some(Act::See(text)) => self.looks > 0 && result.to_string().contains(text),
            Some(Act::Ended(code)) => self.looks > 0 && result["exit_code"] == *code,
            _ => false,
        }
    }
}

/// Runs a dialogue in a new folder, and returns the screens that the model saw. `None` if the program is missing here.
async fn talk(program: &str, command: &str, acts: Vec<Act>) -> Option<(TempHome, Vec<String>)> {
    if !is_installed(program) {
        assert!(std::env::var_os("CI").is_none(), "this test needs {program}");
        let _ = writeln!(std::io::stderr(), "skipped: there is no {program}");
        return None;
    }
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let settings = "approvals: {mode: \"off\"}\nagent: {max_turns: 200}\n";
    home.write_config(&format!("{}{settings}", custom_model(&provider.base_url())));
    home.write("work/beside", "");
    let dialogue =
        Dialogue { command: command.to_owned(), acts, next: 0, looks: 0, id: None, screens: Vec::new() };
    let dialogue = std::sync::Arc::new(Mutex::new(dialogue));
    let shared = dialogue.clone();
    provider.answer_with(move |body| shared.lock().unwrap().reply(body));
    let mut hermes = Command::new(env!("CARGO_BIN_EXE_hermes"));
    hermes.args(["-z", "talk to it"]).current_dir(home.path().join("work")).env_clear();
    hermes.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HERMES_SANDBOX", "full");
    hermes.env("HOME", home.path()).env("HERMES_HOME", home.path());
    let out = finished(hermes).await;
    let dialogue = std::mem::take(&mut dialogue.lock().unwrap().screens);
    assert_eq!(code(&out), 0, "{}\n{:?}", stderr(&out), dialogue.last());
    for screen in &dialogue {
        let is_control = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
        assert!(!screen.contains(is_control), "control characters: {screen:?}");
    }
    Some((home, dialogue))
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

#[tokio::test(flavor = "multi_thread")]
async fn python_is_asked_line_by_line() {
    let acts = vec![
        Act::See(">>>"),
        Act::Line("answer = 6 * 7"),
        Act::Line("print('it is', answer)"),
        Act::See("it is 42"),
        Act::Close,
        Act::Ended(0),
    ];
    talk("python3", "PYTHON_BASIC_REPL=1 python3 -q -i", acts).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn vim_edits_a_file_by_its_screen() {
    let acts = vec![
        Act::See("beside"),
        Act::Keys("ione\ntwo words\u{1b}"),
        Act::See("two words"),
        Act::Keys("kdd"),
        Act::Line(":wq"),
        Act::Ended(0),
    ];
    if let Some((home, screens)) = talk("vim", "vim -u NONE -N beside", acts).await {
        assert_eq!(home.read("work/beside"), "two words\n");
        // The model saw the rendered screen: the empty rows of an editor, and each line once.
        let shown = screens.iter().find(|screen| screen.contains("two words")).unwrap();
        assert!(shown.contains("\n~") && shown.matches("two words").count() == 1, "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn top_is_read_and_left() {
    let acts = vec![Act::See("PID"), Act::Keys("q"), Act::Ended(0)];
    if let Some((_, screens)) = talk("top", "top", acts).await {
        let shown = screens.iter().find(|screen| screen.contains("PID")).unwrap();
        assert!(shown.contains("COMMAND") && shown.contains("Tasks:"), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_of_ssh_is_answered() {
    let Some((port, key)) =
        std::env::var("HERMES_TEST_SSH_PORT").ok().zip(std::env::var("HERMES_TEST_SSH_KEY").ok())
    else {
        assert!(std::env::var_os("CI").is_none(), "this test needs the servers of .ci/servers");
        let _ = writeln!(std::io::stderr(), "skipped: no sshd is named by HERMES_TEST_SSH_PORT");
        return;
    };
    let user = std::env::var("HERMES_TEST_SSH_USER").unwrap_or_else(|_| "root".to_owned());
    let command = format!(
        "ssh -F none -o UserKnownHostsFile=known -o StrictHostKeyChecking=ask -o IdentitiesOnly=yes -i {key} -p {port} \
         {user}@127.0.0.1 'read -p \"name? \" name; echo \"hello $name\"; exit 7'"
    );
    let acts = vec![
        Act::See("(yes/no"),
        Act::Line("yes"),
        Act::See("Permanently added"),
        Act::Line("Ada"),
        Act::See("hello Ada"),
        Act::Ended(7),
    ];
    let (home, _) = talk("ssh", &command, acts).await.unwrap();
    assert!(home.read("work/known").contains("127.0.0.1"));
}
