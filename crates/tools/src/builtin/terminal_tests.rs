use crate::testing::Bench;
use crate::{ApprovalMode, ToolSettings};
use hermes_conversation::IntentState;
use serde_json::json;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

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
