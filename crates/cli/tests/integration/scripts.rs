//! Scripts that call tools: crashes, approvals, recordings, and hostile scripts in the sandbox.

use crate::process::{
    assert_identical, code, custom_model, eventually, finished, hermes, json_lines, json_of, run, stderr,
    stdout,
};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns false where there is no Python, which is an error in CI.
fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|out| out.status.success());
    assert!(found || std::env::var_os("CI").is_none(), "these tests need python3");
    if !found {
        let _ = writeln!(std::io::stderr(), "skipped: there is no python3");
    }
    found
}

fn script(text: &str) -> ReplyScript {
    ReplyScript::call("execute_code", json!({ "code": text }))
}

/// A project that commands run in, without a sandbox.
struct Desk {
    home: TempHome,
    project: TempHome,
    provider: FakeProvider,
}

impl Desk {
    async fn new() -> Self {
        let (home, provider) = (TempHome::new(), FakeProvider::start().await);
        home.write_config(&custom_model(&provider.base_url()));
        Self { home, provider, project: TempHome::new() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.project.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        hermes(self.home.path(), self.project.path(), args)
    }

    fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.file("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The result of the newest script that the model got.
    fn told(&self) -> Value {
        let request = self.provider.requests().pop().unwrap();
        let messages = request.messages();
        let message = messages.iter().rfind(|message| message["role"] == "tool").unwrap();
        serde_json::from_str(message["content"].as_str().unwrap()).unwrap()
    }

    /// Resumes the session of a process that was killed, and returns the result of its script.
    async fn resumed(&self) -> Value {
        self.provider.reply(ReplyScript::text("I see."));
        let out = finished(self.command(&["--yolo", "--resume", "latest", "-z", "what happened?"])).await;
        assert_eq!((stdout(&out).as_str(), code(&out)), ("I see.\n", 0), "{}", stderr(&out));
        self.told()
    }

    /// Starts a turn and kills it when `log` has this many lines.
    async fn killed_after(&self, lines: usize) {
        let mut child = self.command(&["--yolo", "-z", "go"]).stdin(Stdio::null()).spawn().unwrap();
        eventually("the calls", || self.log().len() >= lines).await;
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Waits until no process of a script is left.
    async fn script_is_gone(&self) {
        eventually("the end of the script", || !is_script_running(&self.project)).await;
    }
}

/// Returns true while an interpreter runs a script in this directory.
fn is_script_running(project: &TempHome) -> bool {
    let project = project.path().canonicalize().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.into_iter().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let is_script = String::from_utf8_lossy(&line).contains("hermes_sandbox_");
        is_script && std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == project)
    })
}

const FIFTY: &str = "
from hermes_tools import terminal, write_file
for number in range(1, 51):
    if number % 2:
        answer = terminal('echo %d >> log' % number)
        assert answer['exit_code'] == 0, answer
    else:
        answer = write_file('file%d' % number, 'x')
        assert 'error' not in answer, answer
        answer = open('log', 'a').write('%d\\n' % number)
print('all', number)
";

#[tokio::test(flavor = "multi_thread")]
async fn fifty_calls_of_one_script_are_recorded_and_replayed() {
    if !has_python() {
        return;
    }
    let desk = Desk::new().await;
    desk.provider.reply(script(FIFTY)).reply(ReplyScript::text("Done."));
    let file = desk.home.path().join("run.jsonl").display().to_string();
    let out = finished(desk.command(&["--record", &file, "--yolo", "-z", "go"])).await;
    assert_eq!((stdout(&out).as_str(), code(&out)), ("Done.\n", 0), "{}", stderr(&out));
    let told = desk.told();
    let got = (&told["status"], &told["output"], &told["tool_calls_made"]);
    assert_eq!(got, (&json!("success"), &json!("all 50\n"), &json!(50)), "{told}");
    assert_eq!(desk.log(), (1..=50).map(|number| number.to_string()).collect::<Vec<_>>());
    let traced = json_of(desk.home.path(), &["trace", "latest"]).await.to_string();
    for number in [1, 50] {
        assert!(traced.contains(&format!(".{number}\"")), "call {number} is not in the trace: {traced}");
    }
    // A replay has the result of the script, and repeats none of its calls.
    std::fs::remove_file(desk.file("log")).unwrap();
    let Desk { home: _home, project, provider } = desk;
    drop(provider);
    let elsewhere = TempHome::new();
    let replayed = run(elsewhere.path(), &["replay", &file]).await;
    assert_identical(&replayed, 2);
    assert!(!project.path().join("log").exists() && !elsewhere.path().join("log").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_script_is_reported_and_no_call_is_doubled() {
    if !has_python() {
        return;
    }
    for lines in [3, 17, 30] {
        let desk = Desk::new().await;
        desk.provider.reply(script(FIFTY));
        desk.killed_after(lines).await;
        let told = desk.resumed().await;
        desk.script_is_gone().await;
        assert_eq!(told["status"], "interrupted", "{told}");
        let calls = told["calls"].as_array().unwrap();
        assert!(calls.len() >= lines && calls.len() < 50, "{told}");
        // Every line is there once, and every call that ended is known to have ended.
        let log = desk.log();
        let mut once = log.clone();
        once.dedup();
        assert_eq!(log, once);
        assert_eq!(log, (1..=log.len()).map(|number| number.to_string()).collect::<Vec<_>>());
        let ended = calls.iter().filter(|call| call["state"] == "done").count();
        assert!(ended + 1 >= calls.len() && ended + 1 >= log.len(), "{ended} {} {told}", log.len());
        // A second resume finds nothing to recover and runs nothing.
        desk.provider.reply(ReplyScript::text("Yes."));
        let out = finished(desk.command(&["--yolo", "--resume", "latest", "-z", "sure?"])).await;
        assert_eq!(code(&out), 0, "{}", stderr(&out));
        assert_eq!(desk.log(), log);
    }
}

/// The command of a call goes on under the supervisor, so its end is found.
#[tokio::test(flavor = "multi_thread")]
async fn running_command_of_a_killed_script_is_awaited() {
    if !has_python() {
        return;
    }
    let desk = Desk::new().await;
    let code = "
from hermes_tools import terminal
terminal('echo one >> log')
print(terminal('echo two >> log; until [ -e go ]; do sleep 0.02; done; echo three >> log; echo end'))
terminal('echo never >> log')
";
    desk.provider.reply(script(code));
    desk.killed_after(2).await;
    std::fs::write(desk.file("go"), "").unwrap();
    let told = desk.resumed().await;
    assert_eq!(desk.log(), ["one", "two", "three"]);
    let calls = told["calls"].as_array().unwrap();
    let states: Vec<_> = calls.iter().map(|call| call["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["done", "done"], "{told}");
    assert!(calls[1]["result"].as_str().unwrap().contains("end"), "{told}");
    assert!(told["error"].as_str().unwrap().contains("Nothing was run again"));
}

/// A user's home directory with a project and Hermes' own directory, and the sandbox.
struct Machine {
    user: TempHome,
    provider: FakeProvider,
}

impl Machine {
    async fn new(settings: &str) -> Self {
        let (user, provider) = (TempHome::new(), FakeProvider::start().await);
        user.write(".hermes/config.yaml", &format!("{}{settings}", custom_model(&provider.base_url())));
        user.write(".hermes/.env", "OPENAI_API_KEY=sk-very-secret-0123456789\n");
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(user.path().join(".hermes"), private).unwrap();
        user.write("project/a.txt", "hello\n");
        user.write("project/.env", "TOKEN=also-secret-0123456789\n");
        user.write("victim/kept.txt", "kept\n");
        Self { user, provider }
    }

    async fn run(&self, args: &[&str]) -> std::process::Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
        command.args(args).current_dir(self.user.path().join("project")).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("HOME", self.user.path()).env("HERMES_HOME", self.user.path().join(".hermes"));
        finished(command).await
    }

    fn told(&self) -> Value {
        let bodies = self.provider.bodies();
        let mut messages = bodies.iter().flat_map(|body| body["messages"].as_array().unwrap());
        let newest = messages.rfind(|message| message["role"] == "tool").unwrap();
        serde_json::from_str(newest["content"].as_str().unwrap()).unwrap()
    }
}

/// The attempts of a script that runs without questions (`--yolo`): the sandbox and the gate hold all the same.
const HOSTILE: &str = r#"
import os, sys, glob, socket, json
import hermes_tools as t
home = os.path.expanduser('~')
def attempt(name, act):
    try:
        print(name, 'GAINED', str(act())[:200])
    except BaseException as error:
        print(name, 'refused', type(error).__name__)
def write(path):
    open(path, 'a').write('x'); return path
attempt('hermes .env', lambda: open(home + '/.hermes/.env').read())
attempt('hermes config', lambda: write(home + '/.hermes/config.yaml'))
attempt('hermes file', lambda: write(home + '/.hermes/new'))
attempt('state', lambda: open(home + '/.hermes/state.db', 'rb').read(9))
attempt('victim', lambda: write(home + '/victim/kept.txt'))
def others():
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        if int(pid) != os.getpid():
            try:
                env = open('/proc/%s/environ' % pid).read()
            except OSError:
                continue
            if 'HERMES_RPC_TOKEN' in env and os.environ['HERMES_RPC_TOKEN'] not in env:
                found.append(pid)
    assert found, 'nothing'
    return found
attempt('token of another run', others)
def spool():
    paths = glob.glob('/run/user/*/hermes*/*') + glob.glob('/tmp/hermes-*/*sock*') + glob.glob(home + '/.hermes/commands/*')
    for path in paths:
        s = socket.socket(socket.AF_UNIX); s.connect(path); return path
    raise OSError('nothing')
attempt('supervisor', spool)
for tool, args in [
    ('read_file', {'path': home + '/.hermes/.env'}),
    ('read_file', {'path': '.env'}),
    ('write_file', {'path': home + '/.hermes/config.yaml', 'content': 'x'}),
    ('write_file', {'path': '/etc/passwd', 'content': 'x'}),
    ('terminal', {'command': 'rm -rf /'}),
    ('terminal', {'command': 'cat ~/.hermes/.env'}),
    ('terminal', {'command': 'echo x >> ~/victim/kept.txt'}),
    ('execute_code', {'code': 'print(1)'}),
    ('delegate_task', {'goal': 'x'}),
    ('memory', {'target': 'user', 'action': 'add', 'content': 'x'}),
    ('tool_call', {'name': 'memory', 'arguments': {}}),
]:
    answer = t._request(tool, args)
    failed = bool(answer.get('error')) or answer.get('exit_code', 0) != 0
    print(tool, 'refused' if failed else 'GAINED ' + json.dumps(answer)[:200])
print('secret' if '0123456789' in json.dumps(dict(os.environ)) else 'clean')
"#;

#[tokio::test(flavor = "multi_thread")]
async fn hostile_script_gains_nothing() {
    if !has_python() {
        return;
    }
    let machine = Machine::new("").await;
    machine.provider.reply(script(HOSTILE)).reply(ReplyScript::text("Done."));
    let out = machine.run(&["--yolo", "-z", "go"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let told = machine.told();
    let output = told["output"].as_str().unwrap_or_default();
    assert_eq!(told["status"], "success", "{told}");
    assert!(!output.contains("GAINED"), "{output}");
    assert_eq!(output.matches("refused").count(), 18, "{output}");
    assert!(output.ends_with("clean\n"), "{output}");
    let kept = std::fs::read_to_string(machine.user.path().join("victim/kept.txt")).unwrap();
    assert_eq!(kept, "kept\n");
    let sent = machine.provider.bodies().iter().map(Value::to_string).collect::<String>();
    assert!(!sent.contains("very-secret-0123456789") && !sent.contains("also-secret-0123456789"));
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_of_a_script_are_limited() {
    if !has_python() {
        return;
    }
    let machine = Machine::new("code_execution: {timeout: 20}\nsandbox: {max_processes: 64}\n").await;
    let code = "
import os, time, signal
started = []
try:
    for number in range(2000):
        child = os.fork()
        if child == 0:
            time.sleep(60); os._exit(0)
        started.append(child)
    print('unlimited')
except OSError:
    print('limited')
";
    machine.provider.reply(script(code)).reply(ReplyScript::text("Done."));
    let out = machine.run(&["--yolo", "-z", "go"]).await;
    assert_eq!(super::process::code(&out), 0, "{}", stderr(&out));
    let told = machine.told();
    // The limit counts the processes of the user, and root has none.
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|out| out.stdout == b"0\n");
    assert!(told["output"] == "limited\n" || is_root, "{told}");
    let left = Command::new("pgrep").args(["-f", "hermes_sandbox_.*script.py"]).output();
    let mine = machine.user.path().join("project");
    let left = left.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
    let is_mine = |pid: &str| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == mine);
    assert!(!left.lines().any(is_mine), "{left}");
}

/// Without a user, calls that need approval are not run, and each decision is on record.
#[tokio::test(flavor = "multi_thread")]
async fn calls_of_scripts_need_approval_like_others() {
    if !has_python() {
        return;
    }
    let machine = Machine::new("approvals: {mode: manual}\n").await;
    let code = "
from hermes_tools import terminal, read_file, write_file
print(read_file('a.txt')['content'])
print(terminal('rm -rf ../victim'))
print(terminal('echo fine')['output'])
";
    machine.provider.reply(script(code)).reply(ReplyScript::text("Done."));
    let out = machine.run(&["-z", "go", "--json"]).await;
    let told = machine.told();
    let output = told["output"].as_str().unwrap_or_default();
    assert!(output.starts_with("1|hello\n") && output.ends_with("fine\n\n"), "{told} {}", stderr(&out));
    assert!(output.contains("Not run"), "{told}");
    assert!(machine.user.path().join("victim/kept.txt").exists());
    let events = json_lines(&out);
    let decided: Vec<_> =
        events.iter().filter(|event| event.to_string().contains("recursive delete")).collect();
    assert!(!decided.is_empty(), "{events:?}");
}

/// Scripts as a whole need approval where they do more than compute.
#[tokio::test(flavor = "multi_thread")]
async fn scripts_that_start_programs_need_approval() {
    if !has_python() {
        return;
    }
    let machine = Machine::new("approvals: {mode: manual}\n").await;
    machine
        .provider
        .reply(script("import subprocess; subprocess.run(['touch', 'made'])"))
        .reply(ReplyScript::text("Done."));
    machine.run(&["-z", "go"]).await;
    let told = machine.told();
    assert!(told["error"].as_str().unwrap().contains("Not run"), "{told}");
    assert!(!machine.user.path().join("project/made").exists());
}

/// Turns that only run scripts get their iterations back.
#[tokio::test(flavor = "multi_thread")]
async fn scripts_give_their_iteration_back() {
    if !has_python() {
        return;
    }
    for (refunded, calls) in [(true, 4), (false, 2)] {
        let machine = Machine::new("agent: {max_turns: 2}\n").await;
        for _ in 0..6 {
            let call = json!({ "command": "true" });
            machine.provider.reply(if refunded {
                script("print(1)")
            } else {
                ReplyScript::call("terminal", call)
            });
        }
        machine.run(&["--yolo", "-z", "go"]).await;
        // Two iterations, and as many that were given back.
        let with_tools = machine.provider.bodies().iter().filter(|body| body["tools"].is_array()).count();
        assert_eq!(with_tools, calls, "{refunded}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_is_absent_without_python() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&custom_model(&provider.base_url()));
    for (path, is_offered) in
        [("/nonexistent", false), ("/usr/bin:/bin", PathBuf::from("/usr/bin/python3").exists())]
    {
        provider.reply(ReplyScript::text("Hi."));
        let mut command = hermes(home.path(), home.path(), &["-z", "hello"]);
        command.env("PATH", path);
        finished(command).await;
        let body = provider.bodies().pop().unwrap();
        assert_eq!(body["tools"].to_string().contains("\"execute_code\""), is_offered, "{path}");
    }
}
