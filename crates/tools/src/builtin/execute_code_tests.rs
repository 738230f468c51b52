use super::*;
use crate::testing::Bench;
use crate::{
    ApprovalMode, DecidedBy, InnerCalls, InnerReply, Origin, ScriptSettings, ToolSettings, ToolSetup, Verdict,
};
use hermes_conversation::{IntentId, RecordError, StartPermit, ToolCall};
use serde_json::json;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// A session that answers each call with its arguments.
#[derive(Default)]
struct Echo {
    tools: Vec<String>,
    seen: Mutex<Vec<(u64, ToolCall)>>,
    /// Calls that returned after a cancellation.
    cancelled: Mutex<Vec<u64>>,
    origin: Option<Origin>,
}

impl InnerCalls for Echo {
    fn tools(&self) -> Vec<String> {
        self.tools.clone()
    }

    fn call<'a>(
        &'a self,
        number: u64,
        call: ToolCall,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<InnerReply, RecordError>> {
        Box::pin(async move {
            self.seen.lock().unwrap().push((number, call.clone()));
            if call.arguments.contains("unrecorded") {
                return Err(RecordError::Store { cause: "disk full".into() });
            }
            if call.arguments.contains("wait for the end") {
                cancel.cancelled().await;
                self.cancelled.lock().unwrap().push(number);
            }
            // Later calls overtake this one.
            for _ in 0..number % 7 {
                tokio::task::yield_now().await;
            }
            let origin = self.origin.unwrap_or_default();
            Ok(InnerReply { text: json!({ "tool": call.name, "echo": call.arguments }).to_string(), origin })
        })
    }
}

/// A session with these tools. `None` where there is no Python, which is an error in CI.
fn bench(tools: &[&str], settings: ScriptSettings) -> Option<(Bench, Arc<Echo>)> {
    if !has_python([("PATH", "/usr/bin:/bin")]) {
        assert!(std::env::var_os("CI").is_none(), "these tests need python3");
        eprintln!("skipped: there is no python3");
        return None;
    }
    let settings = ToolSettings { scripts: settings, ..ToolSettings::with_approvals(ApprovalMode::Off) };
    let mut bench = Bench::with(settings);
    let tools = tools.iter().map(|name| (*name).to_owned()).collect();
    let echo = Arc::new(Echo { tools, ..Echo::default() });
    bench.caller = Caller::Model(Some(echo.clone()));
    Some((bench, echo))
}

const ALL: &[&str] =
    &["read_file", "write_file", "search_files", "patch", "terminal", "web_search", "memory"];

async fn run(bench: &Bench, code: &str) -> serde_json::Value {
    bench.call("execute_code", json!({ "code": code })).await
}

fn left_over(bench: &Bench) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(bench.root().join("scratch")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().contains(FOLDER)).collect()
}

#[tokio::test]
async fn script_makes_fifty_calls_and_not_one_more() {
    let Some((bench, echo)) = bench(ALL, ScriptSettings::default()) else { return };
    let code = "
from hermes_tools import read_file, terminal, json_parse, shell_quote, retry
for number in range(49):
    assert json_parse(read_file('f', number)['echo']) == {'path': 'f', 'offset': number}
print(terminal(command=shell_quote(\"it's\"), background=True, timeout=None))
print(read_file(path='late'))
tries = []
def fails():
    tries.append(1)
    raise KeyError('x')
try:
    retry(fails, 3, 0)
except KeyError:
    print(len(tries), json_parse('\"a\\tb\"'))
";
    let result = run(&bench, code).await;
    assert_eq!(result["status"], "success", "{result}");
    let want = r#"{'tool': 'terminal', 'echo': '{"command":"\'it\'\"\'\"\'s\'"}'}"#;
    let printed = result["output"].as_str().unwrap();
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0].replace('\\', ""), want.replace('\\', ""), "{result}");
    assert!(lines[1].contains("the most that code_execution.max_tool_calls allows"), "{result}");
    assert_eq!(lines[2], "3 a\tb");
    assert_eq!((&result["tool_calls_made"], &result["exit_code"]), (&json!(50), &json!(0)));
    let seen = echo.seen.lock().unwrap();
    let ids: Vec<String> = seen.iter().map(|(_, call)| call.id.to_string()).collect();
    assert_eq!((ids.len(), ids[0].as_str(), ids[49].as_str()), (50, "call/1.1", "call/1.50"));
    assert_eq!(left_over(&bench), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn replies_of_two_hundred_threads_are_not_crossed() {
    let Some((bench, echo)) = bench(ALL, ScriptSettings { max_calls: 1000, ..ScriptSettings::default() })
    else {
        return;
    };
    let code = "
import threading, json
from hermes_tools import read_file
wrong, start = [], threading.Barrier(200)
def work(number):
    start.wait()
    for turn in range(3):
        path = '%d-%d' % (number, turn)
        answer = read_file(path)
        if json.loads(answer['echo'])['path'] != path:
            wrong.append((path, answer))
threads = [threading.Thread(target=work, args=(number,)) for number in range(200)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print('wrong', wrong)
";
    let result = run(&bench, code).await;
    assert_eq!((&result["status"], &result["output"]), (&json!("success"), &json!("wrong []\n")), "{result}");
    assert_eq!(result["tool_calls_made"], 600);
    let mut numbers: Vec<u64> = echo.seen.lock().unwrap().iter().map(|(number, _)| *number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=600).collect::<Vec<u64>>());
}

#[tokio::test]
async fn forked_processes_have_connections_of_their_own() {
    let Some((bench, _)) = bench(ALL, ScriptSettings::default()) else { return };
    let code = "
import os, json
from hermes_tools import read_file
read_file('parent')
child = os.fork()
mine = 'child' if child == 0 else 'parent'
right = all(json.loads(read_file(mine + str(n))['echo'])['path'] == mine + str(n) for n in range(10))
if child == 0:
    os._exit(0 if right else 1)
print(right, os.waitpid(child, 0)[1])
";
    let result = run(&bench, code).await;
    assert_eq!(result["output"], "True 0\n", "{result}");
}

#[tokio::test]
async fn only_tools_of_the_session_can_be_called() {
    for (tools, module) in [(&["memory", "delegate_task"][..], "[]"), (&["memory", "patch"], "['patch']")] {
        let Some((bench, echo)) = bench(tools, ScriptSettings::default()) else { return };
        let code = "
import hermes_tools
tools = ['web_search', 'web_extract', 'read_file', 'write_file', 'search_files', 'patch', 'terminal']
print([tool for tool in tools if hasattr(hermes_tools, tool)])
for tool in ['read_file', 'memory', 'execute_code', 'delegate_task', 'tool_call', '../patch', '']:
    print(hermes_tools._request(tool, {})['error'][:20])
";
        let result = run(&bench, code).await;
        let output = result["output"].as_str().unwrap();
        assert_eq!(output.lines().next(), Some(module), "{result}");
        assert_eq!(output.matches("Scripts cannot call").count(), 7, "{result}");
        assert!(echo.seen.lock().unwrap().is_empty());
        assert_eq!(result["tool_calls_made"], 0);
    }
}

#[tokio::test]
async fn failures_are_distinguished() {
    let Some((mut bench, _)) = bench(ALL, ScriptSettings { timeout: 1, ..ScriptSettings::default() }) else {
        return;
    };
    let failed = run(&bench, "import sys\nprint('out')\nprint('why', file=sys.stderr)\nsys.exit(3)").await;
    let got = (&failed["status"], &failed["output"], &failed["error"], &failed["exit_code"]);
    assert_eq!(got, (&json!("error"), &json!("out\n"), &json!("why\n"), &json!(3)));
    let raised = run(&bench, "raise ValueError('because')").await;
    assert!(raised["error"].as_str().unwrap().contains("ValueError: because"), "{raised}");
    let silent = run(&bench, "import os; os._exit(4)").await;
    assert_eq!(silent["error"], "exit code 4");
    let warned = run(&bench, "import sys; print('careful', file=sys.stderr)").await;
    assert_eq!((&warned["status"], &warned["stderr"]), (&json!("success"), &json!("careful\n")));
    let late = run(&bench, "import time; print('x'); time.sleep(60)").await;
    let got = (&late["status"], &late["output"], &late["exit_code"]);
    assert_eq!(got, (&json!("timeout"), &json!("x\n"), &json!(124)), "{late}");
    assert!(late["error"].as_str().unwrap().starts_with("The script was ended after 1 seconds."));
    bench.cancel = CancellationToken::new();
    bench.cancel.cancel();
    let stopped = run(&bench, "import time; time.sleep(60)").await;
    assert_eq!((&stopped["status"], &stopped["exit_code"]), (&json!("interrupted"), &json!(130)));
    assert!(left_over(&bench).is_empty());
}

#[tokio::test]
async fn output_that_is_not_text_is_made_text() {
    let Some((bench, _)) = bench(ALL, ScriptSettings::default()) else { return };
    let code = "
import os
os.write(1, b'a\\xff\\xfeb\\x1b[31mred\\x1b[0m\\n')
os.write(2, b'\\xc3(')
";
    let result = run(&bench, code).await;
    assert_eq!(
        (&result["output"], &result["stderr"]),
        (&json!("a\u{fffd}\u{fffd}bred\n"), &json!("\u{fffd}("))
    );
    let long = run(
        &bench,
        "import sys\nfor n in range(40000): print('%09d' % n); print('%09d' % n, file=sys.stderr)",
    )
    .await;
    let (output, errors) =
        (long["output"].as_str().unwrap_or_default(), long["stderr"].as_str().unwrap_or_default());
    assert!(output.starts_with("000000000\n") && output.ends_with("000039999\n"), "{}", output.len());
    assert!(output.chars().count() < 51_000 && errors.len() < 10_200, "{} {}", output.len(), errors.len());
    assert!(errors.starts_with("000000000\n") && errors.ends_with("000039999\n"));
    assert_eq!(long["stdout_truncated"], true);
}

#[tokio::test]
async fn calls_that_run_at_the_end_are_ended_and_awaited() {
    let Some((bench, echo)) = bench(ALL, ScriptSettings::default()) else { return };
    let code = "
import os, threading, time
from hermes_tools import read_file, terminal
threading.Thread(target=terminal, args=('wait for the end',), daemon=True).start()
while read_file('x') and len(os.listdir('.')) == 0:
    time.sleep(0.01)
    break
os._exit(0)
";
    let result = run(&bench, code).await;
    assert_eq!(result["status"], "success", "{result}");
    let waiting: Vec<u64> = echo
        .seen
        .lock()
        .unwrap()
        .iter()
        .filter(|(_, call)| call.name == "terminal")
        .map(|(n, _)| *n)
        .collect();
    assert_eq!(*echo.cancelled.lock().unwrap(), waiting);
}

#[tokio::test]
async fn script_ends_when_its_calls_cannot_be_recorded() {
    let Some((bench, _)) = bench(ALL, ScriptSettings::default()) else { return };
    let code = "
import time
from hermes_tools import terminal
print(terminal('unrecorded'))
time.sleep(60)
";
    let result = run(&bench, code).await;
    assert_eq!(result["status"], "error");
    assert_eq!(result["error"], "The script was ended: the session store failed: disk full.", "{result}");
}

#[tokio::test]
async fn untrusted_results_make_the_output_untrusted() {
    let Some((mut bench, _)) = bench(ALL, ScriptSettings::default()) else { return };
    let code = "from hermes_tools import web_search\nprint('a long line of output ' + str(web_search('x')))";
    for (origin, is_marked) in [(Origin::Here, false), (Origin::Outside, true)] {
        let echo = Echo { tools: vec!["web_search".into()], origin: Some(origin), ..Echo::default() };
        bench.caller = Caller::Model(Some(Arc::new(echo)));
        let finished = bench.finish("execute_code", json!({ "code": code })).await;
        let sent = finished.message.api_content.unwrap_or_default();
        assert_eq!(sent.starts_with("<untrusted_tool_result"), is_marked, "{sent}");
    }
}

#[tokio::test]
async fn shell_scripts_call_tools_with_a_command() {
    let Some((bench, echo)) = bench(ALL, ScriptSettings::default()) else { return };
    let code = "#!/usr/bin/env bash
hermes-tool read_file '{\"path\": \"a b\"}'
hermes-tool memory '{}' || echo refused
bash -c 'hermes-tool search_files \"{\\\"pattern\\\": \\\"x\\\"}\"'
";
    let result = run(&bench, code).await;
    assert_eq!(result["status"], "success", "{result}");
    assert!(result["output"].as_str().unwrap().contains("refused\n"), "{result}");
    let seen: Vec<String> = echo.seen.lock().unwrap().iter().map(|(_, call)| call.name.clone()).collect();
    assert_eq!(seen, ["read_file", "search_files"]);
    for (code, want) in
        [("", "is empty"), ("print('\0')", "NUL"), ("#!/usr/bin/perl\nprint 1", "`perl` is not")]
    {
        let refused = run(&bench, code).await;
        assert!(refused["error"].as_str().unwrap().contains(want), "{refused}");
    }
}

#[tokio::test]
async fn socket_works_below_a_very_long_directory() {
    let Some((short, _)) = bench(ALL, ScriptSettings::default()) else { return };
    let temporary = short.root().join("t".repeat(120)).join("u".repeat(60));
    let safety = crate::Safety { temporary: Some(temporary.clone()), ..crate::Safety::default() };
    let cx = ToolContext::new(ToolSetup { safety, ..Bench::setup(&short.root()) });
    let bench = Bench { cx, ..short };
    let result = run(&bench, "from hermes_tools import read_file\nprint(read_file('x')['tool'])").await;
    assert_eq!(result["output"], "read_file\n", "{result}");
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

#[tokio::test]
async fn modes_differ_in_directory() {
    for strict in [false, true] {
        let Some((bench, _)) = bench(ALL, ScriptSettings { strict, ..ScriptSettings::default() }) else {
            return;
        };
        let result = run(&bench, "import os; print(os.getcwd())").await;
        let cwd = result["output"].as_str().unwrap().trim();
        let is_project = cwd == bench.path("").to_str().unwrap().trim_end_matches('/');
        assert_eq!((is_project, cwd.contains(FOLDER)), (!strict, strict), "{cwd}");
    }
}

#[tokio::test]
async fn strangers_are_not_served() {
    let Some((bench, echo)) = bench(ALL, ScriptSettings::default()) else { return };
    let (told, mine) = (bench.path("told"), bench.path("done"));
    let code = format!(
        "
import os, time
os.umask(0)
open('{0}.new', 'w').write(os.environ['HERMES_RPC_SOCKET'] + ' ' + os.environ['HERMES_RPC_TOKEN'])
os.rename('{0}.new', '{0}')
while not os.path.exists('{1}'): time.sleep(0.01)
import hermes_tools, socket, json
def ask(line):
    one = socket.socket(socket.AF_UNIX); one.connect(os.environ['HERMES_RPC_SOCKET'])
    one.sendall(line); return one.makefile('rb').readline()
for line in [b'{{\\n', b'null\\n', json.dumps({{'tool': 'read_file', 'args': {{}}, 'token': 'x' * 64}}).encode() + b'\\n']:
    print(ask(line))
print(oct(os.stat(os.environ['HERMES_RPC_SOCKET']).st_mode)[-3:], oct(os.stat(os.path.dirname(os.environ['HERMES_RPC_SOCKET'])).st_mode)[-3:])
",
        told.display(),
        mine.display()
    );
    let stranger = async {
        while !told.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let text = std::fs::read_to_string(&told).unwrap();
        let (socket, token) = text.split_once(' ').unwrap();
        let (socket, token) = (PathBuf::from(socket), token.to_owned());
        // The right token, from a process that is not of the script.
        let answer = tokio::task::spawn_blocking(move || {
            use std::io::{Read, Write};
            let mut stream = UnixStream::connect(socket).unwrap();
            let line =
                json!({ "tool": "terminal", "args": { "command": "id" }, "token": token }).to_string() + "\n";
            let _ = stream.write_all(line.as_bytes());
            let mut answer = String::new();
            let _ = stream.read_to_string(&mut answer);
            answer
        });
        let answer = answer.await.unwrap();
        std::fs::write(&mine, "").unwrap();
        answer
    };
    let (result, answer) = tokio::join!(run(&bench, &code), stranger);
    assert_eq!(answer, "");
    let refused = r#"b'{"error":"This is not a request of the script."}\n'"#;
    assert_eq!(result["output"], format!("{refused}\n{refused}\n{refused}\n600 700\n"), "{result}");
    assert!(echo.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn hostile_scripts_gain_nothing() {
    let Some((bench, echo)) = bench(ALL, ScriptSettings { timeout: 20, ..ScriptSettings::default() }) else {
        return;
    };
    for (name, code, want) in [
        (
            "a huge line",
            "import hermes_tools as t; own = t._own()
try:
    own.stream.write(b'x' * (5 << 20))
    own.stream.write(b'\\n'); own.stream.flush(); print(own.stream.readline()[:45])
except OSError as error: print('closed')",
            &["b'{\"error\":\"The request is longer than", "closed"][..],
        ),
        (
            "deep nesting",
            "import hermes_tools as t; own = t._own(); own.stream.write(b'[' * 100000 + b'\\n'); own.stream.flush(); print(own.stream.readline()[:20])",
            &["b'{\"error\":\"This is no"],
        ),
        (
            "a closed socket",
            "import os, hermes_tools as t; t._own(); os.unlink(os.environ['HERMES_RPC_SOCKET']); print(t.read_file('a')['tool'])",
            &["read_file"],
        ),
        (
            "a removed directory",
            "import os, shutil, hermes_tools as t; shutil.rmtree(os.path.dirname(os.environ['HERMES_RPC_SOCKET'])); print('gone')",
            &["gone"],
        ),
        (
            "an unread reply",
            "import hermes_tools as t, json, os; own = t._own(); line = json.dumps({'tool': 'read_file', 'args': {'path': 'y' * 60000}, 'token': os.environ['HERMES_RPC_TOKEN']}).encode() + b'\\n'; [own.stream.write(line) for n in range(3)]; own.stream.flush(); print('ok')",
            &["ok"],
        ),
        (
            "many connections",
            "import hermes_tools as t; all = [t._connect() for n in range(400)]; print(len(all))",
            &["400"],
        ),
        (
            "an own token",
            "import os, hermes_tools as t; os.environ['HERMES_RPC_TOKEN'] = '0' * 64\ntry: t.read_file('a')\nexcept Exception as error: print(type(error).__name__)",
            &["KeyError", "AttributeError", "ConnectionError"],
        ),
        (
            "a replaced module",
            "import sys, os; open(os.path.join(os.path.dirname(os.environ['HERMES_RPC_SOCKET']), 'hermes_tools.py'), 'w').write('x = 1'); import hermes_tools; print(hermes_tools.x)",
            &["1"],
        ),
    ] {
        let result = run(&bench, code).await;
        let output = result["output"].as_str().unwrap_or_default();
        assert!(want.iter().any(|want| output.starts_with(want)), "{name}: {result}");
        assert!(left_over(&bench).is_empty(), "{name}");
    }
    assert!(echo.seen.lock().unwrap().iter().all(|(_, call)| call.name == "read_file"));
}

#[tokio::test]
async fn processes_of_a_script_end_with_it() {
    let Some((bench, echo)) = bench(ALL, ScriptSettings::default()) else { return };
    let code = "
import os, time
if os.fork() == 0:
    import hermes_tools
    open('pid', 'w').write(str(os.getpid()))
    while True:
        time.sleep(0.05)
        try: hermes_tools.read_file('late')
        except Exception: pass
while not os.path.exists('pid') or not open('pid').read(): time.sleep(0.01)
";
    let result = run(&bench, code).await;
    assert_eq!(result["status"], "success", "{result}");
    let pid = std::fs::read_to_string(bench.path("pid")).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z"), "{stat}");
    let before = echo.seen.lock().unwrap().len();
    tokio::task::yield_now().await;
    assert_eq!(echo.seen.lock().unwrap().len(), before);
}

#[tokio::test]
async fn endless_output_is_bounded() {
    let Some((bench, _)) = bench(ALL, ScriptSettings { timeout: 1, ..ScriptSettings::default() }) else {
        return;
    };
    let result =
        run(&bench, "import sys\nwhile True: sys.stdout.write('x' * 65536); sys.stderr.write('y' * 65536)")
            .await;
    assert_eq!(result["status"], "timeout", "{:.300}", result.to_string());
    assert!(result.to_string().len() < 100_000);
}

/// The token is in the environment of the script and nowhere else.
#[tokio::test]
async fn token_is_in_no_file_and_no_argument() {
    let Some((bench, _)) = bench(ALL, ScriptSettings::default()) else { return };
    let code = "
import os, glob
token = os.environ['HERMES_RPC_TOKEN']
folder = os.path.dirname(os.environ['HERMES_RPC_SOCKET'])
texts = [open(path).read() for path in glob.glob(folder + '/*.py')]
lines = [open('/proc/%s/cmdline' % pid).read() for pid in (os.getpid(), os.getppid())]
print(len(token), len(texts), any(token in text for text in texts + lines))
print(sorted(name for name in os.environ if 'KEY' in name or 'SECRET' in name))
";
    let result = run(&bench, code).await;
    assert_eq!(result["output"], "64 2 False\n[]\n", "{result}");
}

#[test]
fn script_as_a_whole_passes_the_gate() {
    let bench = Bench::with(ToolSettings::default());
    let judged = |code: &str| bench.prepare("execute_code", json!({ "code": code }));
    for (code, rule) in [
        ("import subprocess; subprocess.run(['ls'])", "execute_code"),
        ("import shutil; shutil.rmtree('/home')", "execute_code"),
        ("#!/bin/bash\nrm -rf ../other", "recursive delete"),
    ] {
        let prepared = judged(code);
        assert!(matches!(prepared.verdict, Verdict::Ask(_) | Verdict::Refuse { .. }), "{code}");
        let rules = prepared.rules();
        assert!(
            rules.contains(&rule) || matches!(prepared.verdict, Verdict::Refuse { .. }),
            "{code}: {rules:?}"
        );
    }
    assert!(matches!(judged("#!/bin/sh\nrm -rf /").verdict, Verdict::Refuse { .. }));
    let allowed = ToolSettings {
        approvals: crate::ApprovalPolicy {
            allow: crate::AllowList(vec!["execute_code".to_owned()]),
            ..crate::ApprovalPolicy::default()
        },
        ..ToolSettings::default()
    };
    let bench = Bench::with(allowed);
    let prepared = bench.prepare("execute_code", json!({ "code": "import threading" }));
    assert_eq!((prepared.verdict.clone(), prepared.decided_by()), (Verdict::Run, DecidedBy::AllowList));
}

#[tokio::test]
async fn sessions_without_calls_run_no_script() {
    let bench = Bench::new();
    let result = run(&bench, "print(1)").await;
    assert_eq!(result["error"], "Scripts cannot be run here.");
    let permit = StartPermit::issue(IntentId(7));
    let scope = crate::RunScope { caller: Caller::Script, ..bench.run_scope() };
    let prepared = bench.prepare("execute_code", json!({ "code": "print(1)" }));
    let finished = prepared.run(permit, &bench.cx, scope).await;
    assert!(finished.failed, "a script does not run scripts");
}
