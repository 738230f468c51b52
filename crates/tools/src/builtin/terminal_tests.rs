use crate::testing::Bench;
use crate::{ApprovalMode, Scope, ToolContext, ToolSettings, Verdict};
use hermes_conversation::{IntentId, IntentState, StartPermit};
use hermes_guard::Secrets;
use serde_json::json;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

#[tokio::test]
async fn output_exit_code_and_meaning_are_reported() {
    let bench = Bench::new();
    bench.write("file", "hay\n");
    for (command, want) in [
        ("echo a; echo b >&2", json!({"output": "a\nb\n", "exit_code": 0, "error": null})),
        ("exit 3", json!({"output": "", "exit_code": 3, "error": null})),
        ("printf '\\033[31mred\\033[0m'", json!({"output": "red", "exit_code": 0, "error": null})),
        (
            "grep needle file",
            json!({"output": "", "exit_code": 1, "error": null,
                "exit_code_meaning": "nothing matched; not an error"}),
        ),
    ] {
        assert_eq!(bench.call("terminal", json!({"command": command})).await, want, "{command}");
    }
    let failed = bench.finish("terminal", json!({"command": "false"})).await;
    assert_eq!((failed.failed, failed.state), (true, IntentState::Done));
}

#[tokio::test]
async fn the_directory_is_kept_and_workdir_is_not() {
    let bench = Bench::new();
    bench.call("terminal", json!({"command": "mkdir -p a/b && cd a"})).await;
    assert_eq!(bench.cx.cwd(), bench.path("a"));
    let inside = bench.call("terminal", json!({"command": "pwd; cd /", "workdir": "b"})).await;
    assert_eq!(inside["output"], format!("{}\n", bench.path("a/b").display()));
    assert_eq!(bench.cx.cwd(), bench.path("a"));
    bench.write("a/here.txt", "found\n");
    assert_eq!(bench.call("read_file", json!({"path": "here.txt"})).await["content"], "1|found");
}

#[tokio::test]
async fn a_deleted_directory_does_not_end_the_session() {
    let bench = Bench::new();
    bench.call("terminal", json!({"command": "mkdir gone && cd gone"})).await;
    std::fs::remove_dir(bench.path("gone")).unwrap();
    let result = bench.call("terminal", json!({"command": "pwd"})).await;
    assert_eq!(result["output"], format!("{}\n", bench.root().join("work").display()));
    assert!(result["warning"].as_str().unwrap().contains("no longer exists"));
    let missing = bench.call("terminal", json!({"command": "pwd", "workdir": "nowhere"})).await;
    assert!(missing["error"].as_str().unwrap().contains("is not a directory"), "{missing}");
}

#[tokio::test]
async fn timeout_and_interruption_have_different_results() {
    let bench = Bench::new();
    let late = bench.call("terminal", json!({"command": "echo x; sleep 99", "timeout": 1})).await;
    assert_eq!((late["exit_code"].as_i64(), late["output"].as_str()), (Some(124), Some("x\n")));
    assert!(late["error"].as_str().unwrap().contains("after 1 seconds"));
    bench.cancel.cancel();
    let stopped = bench.call("terminal", json!({"command": "sleep 99"})).await;
    assert_eq!(stopped["exit_code"], 130);
    assert!(stopped["error"].as_str().unwrap().contains("interrupted"));
}

#[tokio::test]
async fn working_files_are_private() {
    let bench = Bench::new();
    let scratch = bench.root().join("scratch");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let listing = format!("stat -c %a {}/cwd-7", scratch.display());
    let result = bench.call("terminal", json!({"command": listing})).await;
    assert_eq!((mode(&scratch), &result["output"]), (0o700, &json!("600\n")));
    std::fs::set_permissions(&scratch, Permissions::from_mode(0o755)).unwrap();
    bench.call("terminal", json!({"command": "true"})).await;
    assert_eq!(mode(&scratch), 0o700);
    let left: Vec<_> = std::fs::read_dir(&scratch).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["hermes-results"]);
}

#[tokio::test]
async fn long_output_is_cut_and_can_be_read_in_full() {
    let bench = Bench::with(ToolSettings { output: 1000, ..ToolSettings::with_approvals(ApprovalMode::Off) });
    let result = bench.call("terminal", json!({"command": "seq 1 2000"})).await;
    let output = result["output"].as_str().unwrap();
    assert!(output.starts_with("1\n2\n") && output.ends_with("1999\n2000\n"));
    let path = bench.result_file();
    assert!(output.contains(path.to_str().unwrap()), "{output}");
    let page = bench.call("read_file", json!({"path": path, "offset": 1000, "limit": 1})).await;
    assert_eq!(page["content"], "1000|1000");
}

/// Runs a command and returns its output and its warning.
async fn run(bench: &Bench, command: &str) -> (String, Option<String>) {
    let result = bench.call("terminal", json!({"command": command})).await;
    let text = |key: &str| result[key].as_str().map(str::to_owned);
    (text("output").unwrap_or_else(|| panic!("{command}: {result}")), text("warning"))
}

#[tokio::test]
async fn exported_variables_are_kept() {
    let bench = Bench::new();
    bench.write("bin/tool", "#!/bin/sh\necho tool of the project\n");
    bench.write("sub/x", "");
    for (command, want) in [
        ("export A=1 B=$'two\\nlines \\'$(touch ran)`'; C=3", ""),
        ("echo \"$A,$B,$C\"", "1,two\nlines '$(touch ran)`,\n"),
        ("printenv A", "1\n"),
        ("unset A; export -n B", ""),
        ("echo \"$A,$B,\"", ",,\n"),
        ("f() { :; }; export -f f; alias ll=ls", ""),
        ("type f ll 2>&1 | grep -c 'not found'", "2\n"),
        ("chmod +x bin/tool; export PATH=$PWD/bin:$PATH VIRTUAL_ENV=$PWD PS1='(venv) '", ""),
        ("cd sub; tool; basename $VIRTUAL_ENV", "tool of the project\nwork\n"),
        ("unset PATH", ""),
        (
            "case $(export -p) in *PATH=*) echo kept;; *) echo unset;; esac; export PATH=/usr/bin:/bin",
            "unset\n",
        ),
        ("export A=$(false); exit 3", ""),
        ("export -p | grep -c A=", "1\n"),
    ] {
        let (output, warning) = run(&bench, command).await;
        assert_eq!((output.as_str(), warning), (want, None), "{command}");
    }
    assert!(!bench.path("ran").exists() && !bench.path("sub/ran").exists());
    assert!(!bench.cx.environment().changes().set.contains_key("PATH"));
    // With a directory of its own, too.
    bench.call("terminal", json!({"command": "export W=1; cd /", "workdir": "/"})).await;
    assert_eq!(run(&bench, "echo $W; basename $PWD").await.0, "1\nsub\n");
    // Another session starts without them.
    assert_eq!(run(&Bench::new(), "echo \"$W\"").await.0, "\n");
}

#[tokio::test]
async fn variables_that_run_code_are_not_kept() {
    let bench = Bench::new();
    let (_, warning) =
        run(&bench, "export LD_PRELOAD=/x.so BASH_ENV=$PWD/e EDITOR=vi OK=1; unset HERMES_X").await;
    let warning = warning.unwrap();
    for name in ["LD_PRELOAD", "BASH_ENV", "EDITOR"] {
        assert!(warning.contains(name), "{warning}");
    }
    bench.write("e", "echo sourced\n");
    let (output, warning) = run(&bench, "echo \"$LD_PRELOAD$BASH_ENV$EDITOR,$OK\"").await;
    assert_eq!((output.as_str(), warning), (",1\n", None));
}

#[tokio::test]
async fn secrets_are_neither_kept_nor_written_to_the_report() {
    let secret = "canary-0123456789";
    let mut bench = Bench::new();
    let root = bench.root();
    let mut setup = Bench::setup(&root);
    setup.secrets = Arc::new(Secrets::default().with("KEY", &secret.to_owned().into()));
    setup.child_env.push(("PASSED".into(), secret.into()));
    bench.cx = ToolContext::new(setup);
    let report = root.join("scratch/cwd-7");
    let script = format!("ln {} copy; export COPY=x$PASSED PASSED=changed OK=1", report.display());
    let warning = run(&bench, &script).await.1.unwrap();
    assert!(warning.contains("COPY (holds a secret)") && !warning.contains("PASSED"), "{warning}");
    let changes = bench.cx.environment().changes().clone();
    assert_eq!(changes.set, [("OK".to_owned(), "1".to_owned())].into());
    // The variable that the user passes to commands is as before.
    assert_eq!(run(&bench, "echo ${#PASSED} $COPY").await.0, format!("{}\n", secret.len()));
    let written = std::fs::read_to_string(bench.path("copy")).unwrap();
    assert!(written.contains("OK=\"1\"") && !written.contains("PASSED"), "{written}");
}

#[tokio::test]
async fn flood_of_exports_is_bounded_and_reported() {
    let bench = Bench::new();
    let flood = "x=$(head -c 40000 /dev/zero | tr '\\0' x); export BIG=$x; \
                 for i in {10..40}; do export V$i=${x:0:30000}; done; export SMALL=1";
    let (_, warning) = run(&bench, flood).await;
    let warning = warning.unwrap();
    assert!(warning.contains("BIG (too long)") && warning.contains("V20 (too long)"), "{warning}");
    assert!(bench.cx.environment().changes().bytes() <= hermes_exec::LONGEST_CHANGES);
    // Commands still run, with the first of them.
    assert_eq!(run(&bench, "echo ${#V10} ${#BIG}").await.0, "30000 0\n");
}

#[tokio::test]
async fn calls_at_the_same_time_keep_the_changes_of_each() {
    let bench = Bench::new();
    run(&bench, "export SHARED=old GONE=1").await;
    let scripts: Vec<String> =
        (0..8).map(|number| format!("sleep 0.0{number}; export V{number}={number}")).collect();
    let calls = scripts.iter().enumerate().map(|(number, script)| {
        let prepared = bench.prepare("terminal", json!({"command": script}));
        let permit = StartPermit::issue(IntentId(100 + i64::try_from(number).unwrap()));
        prepared.run(permit, &bench.cx, bench.run_scope())
    });
    let unset = async {
        run(&bench, "unset GONE; export SHARED=new").await;
    };
    futures::join!(futures::future::join_all(calls), unset);
    let (output, _) = run(&bench, "echo $V0$V1$V2$V3$V4$V5$V6$V7 $SHARED $GONE").await;
    assert_eq!(output, "01234567 new\n");
}

#[tokio::test]
async fn exported_values_are_literal_for_the_gate() {
    let bench = Bench::with(ToolSettings::with_approvals(ApprovalMode::Manual));
    let decided = |command: &str| bench.prepare("terminal", json!({"command": command})).verdict.decision();
    assert_eq!(decided("rm $FOO/x"), "asked");
    let (_, warning) = run(&bench, "export FOO=$PWD ROOT=/").await;
    assert_eq!(warning, None);
    assert_eq!(decided("rm $FOO/x"), "allowed");
    assert_eq!(decided("rm -rf $ROOT"), "denied");
}

#[tokio::test]
async fn approval_is_bound_to_the_environment() {
    let bench = Bench::with(ToolSettings::with_approvals(ApprovalMode::Manual));
    let request = || match bench.prepare("terminal", json!({"command": "rm -r old"})).verdict {
        Verdict::Ask(request) => request,
        other => panic!("{other:?}"),
    };
    let first = request();
    assert!(!first.effects.iter().any(|effect| effect.starts_with("environment")), "{:?}", first.effects);
    run(&bench, "export FOO=1").await;
    assert_ne!(request(), first);
    run(&bench, "unset FOO").await;
    assert_eq!(request(), first);
    let mut prepared = bench.prepare("terminal", json!({"command": "rm -r old; export PATH=$PWD/bin:$PATH"}));
    prepared.approve(Scope::Session, &bench.cx);
    prepared.run(StartPermit::issue(IntentId(7)), &bench.cx, bench.run_scope()).await;
    // The answer for the session does not hold for programs of another PATH, and the request shows it.
    let changed = request();
    let note = format!("environment: PATH starts with {}", bench.path("bin").display());
    assert_eq!(changed.effects.last(), Some(&note));
    let mut prepared = bench.prepare("terminal", json!({"command": "rm -r old"}));
    prepared.approve(Scope::Session, &bench.cx);
    assert_eq!(bench.prepare("terminal", json!({"command": "rm -r old"})).verdict, Verdict::Run);
}

/// A call that waited for its answer runs with the environment that the answer was given for.
#[tokio::test]
async fn call_runs_with_the_environment_that_was_judged() {
    let bench = Bench::new();
    let waiting = bench.prepare("terminal", json!({"command": "echo \"$FOO\""}));
    run(&bench, "export FOO=1").await;
    let finished = waiting.run(StartPermit::issue(IntentId(7)), &bench.cx, bench.run_scope()).await;
    assert!(finished.message.content.as_text().contains(r#""output":"\n""#), "{finished:?}");
}
