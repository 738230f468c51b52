use crate::testing::Bench;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

async fn patch(bench: &Bench, body: &str) -> Value {
    bench.call("patch", arguments(body)).await
}

fn arguments(body: &str) -> Value {
    json!({"mode": "patch", "patch": format!("*** Begin Patch\n{body}\n*** End Patch")})
}

fn error(result: &Value) -> &str {
    result["error"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[tokio::test]
async fn several_files_are_changed_at_once() {
    let bench = Bench::new();
    let a = bench.write("a.txt", "\u{feff}one\r\ntwo\r\n");
    bench.write("b.txt", "gone\n");
    bench.write("c.bin", "moved");
    let result = patch(
        &bench,
        "*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Add File: new/d.txt\n+x\n+y\n*** Delete File: b.txt\n\
         *** Move File: c.bin -> new/e.bin",
    )
    .await;
    assert_eq!(result["success"], true, "{result}");
    assert_eq!(result["files_modified"], json!([a, bench.path("new/e.bin")]));
    assert_eq!(result["files_created"], json!([bench.path("new/d.txt")]));
    assert_eq!(result["files_deleted"], json!([bench.path("b.txt")]));
    let diff = result["diff"].as_str().unwrap();
    assert!(
        ["-two\n+2\n", "+x\n+y\n", "-gone\n", "rename to "].iter().all(|part| diff.contains(part)),
        "{diff}"
    );
    assert_eq!(std::fs::read_to_string(a).unwrap(), "\u{feff}one\r\n2\r\n");
    assert_eq!(std::fs::read_to_string(bench.path("new/d.txt")).unwrap(), "x\ny\n");
    assert_eq!(std::fs::read_to_string(bench.path("new/e.bin")).unwrap(), "moved");
    assert!(!bench.path("b.txt").exists() && !bench.path("c.bin").exists());
}

#[tokio::test]
async fn nothing_is_changed_if_one_operation_does_not_work() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    bench.write("b.txt", "b\n");
    bench.write("c.json", "{\"a\": 1}\n");
    for (body, part) in [
        ("*** Update File: none.txt\n-x\n+y", "none.txt does not exist"),
        ("*** Update File: b.txt\n-nothing like it\n+y", "hunk 1"),
        ("*** Add File: b.txt\n+y", "b.txt exists already"),
        ("*** Delete File: none.txt", "none.txt does not exist"),
        ("*** Move File: b.txt -> c.json", "c.json exists already"),
        ("*** Update File: c.json\n-{\"a\": 1}\n+{\"a\": }", "not valid JSON"),
        ("*** Add File: d.yaml\n+a: [1", "not valid YAML"),
        ("*** Update File: ../work/b.txt\n-b\n+c", "has `..`"),
        ("*** Update File: b.txt\n-b\n+c\n*** Delete File: ./b.txt", "named twice"),
        ("*** Add File: ~/.ssh/config\n+x", "place for keys"),
        ("*** Delete File: /etc/passwd", "belongs to the system"),
        ("*** Move File: b.txt -> .env", "credentials"),
        ("*** Update File: b.txt\n b", "changes nothing"),
    ] {
        let result = patch(&bench, &format!("*** Update File: a.txt\n-one\n+1\n{body}")).await;
        assert!(error(&result).contains(part), "{body}: {result}");
        assert_eq!(std::fs::read_to_string(bench.path("a.txt")).unwrap(), "one\n", "{body}");
        assert_eq!(std::fs::read_to_string(bench.path("b.txt")).unwrap(), "b\n", "{body}");
    }
}

#[tokio::test]
async fn arguments_fit_the_mode() {
    let bench = Bench::new();
    bench.write("a.txt", "x\n");
    for (arguments, part) in [
        (json!({"mode": "patch"}), "mode patch needs `patch`"),
        (json!({"mode": "patch", "patch": "diff --git"}), "*** Begin Patch"),
        (json!({"mode": "replace", "old_string": "a", "new_string": "b"}), "needs `path`"),
        (json!({"mode": "replace", "path": "a.txt", "new_string": "b"}), "needs `old_string`"),
        (json!({"path": "a.txt", "old_string": "b"}), "needs `new_string`"),
    ] {
        let result = bench.call("patch", &arguments).await;
        assert!(error(&result).contains(part), "{arguments}: {result}");
        assert_eq!(bench.prepare("patch", &arguments).verdict.decision(), "invalid", "{arguments}");
    }
    let by_default =
        bench.call("patch", json!({"path": "a.txt", "old_string": "x", "new_string": "y"})).await;
    assert_eq!(by_default["success"], true, "{by_default}");
}

#[tokio::test]
async fn a_failure_on_the_way_says_what_was_done() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    bench.write("dir", "a file where a directory is needed");
    let result = patch(
        &bench,
        "*** Update File: a.txt\n-one\n+1\n*** Add File: dir/b.txt\n+x\n*** Add File: c.txt\n+y",
    )
    .await;
    // A path below a file is found out while validating or while writing; either way it is told.
    if result["applied"].is_null() {
        assert!(error(&result).contains("no file was changed"), "{result}");
        assert_eq!(std::fs::read_to_string(bench.path("a.txt")).unwrap(), "one\n");
        return;
    }
    assert!(error(&result).contains("applied in part"), "{result}");
    assert_eq!(result["applied"].as_array().unwrap().len(), 1, "{result}");
    assert_eq!(result["not_applied"].as_array().unwrap().len(), 1, "{result}");
    assert!(!bench.path("c.txt").exists());
}

#[tokio::test]
async fn each_step_is_noted_before_it_is_made() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    let result = patch(&bench, "*** Update File: a.txt\n-one\n+1\n*** Add File: b.txt\n+x").await;
    let changes: Vec<_> =
        bench.transcript.changes.lock().unwrap().iter().map(|(_, change)| change.clone()).collect();
    assert_eq!(changes.len(), 2);
    assert!(changes[0].result.contains("interrupted") && changes[0].result.contains("not_applied"));
    assert_eq!(changes[1].result, result.to_string());
    // After the first step no state of a file means that the call was not made.
    assert_eq!(changes[1].was_made(None), None);
    *bench.transcript.fails.lock().unwrap() = true;
    let refused = patch(&bench, "*** Delete File: b.txt").await;
    assert!(error(&refused).contains("could not be recorded"), "{refused}");
    assert!(bench.path("b.txt").exists());
}

#[tokio::test]
async fn repeated_failures_of_a_file_bring_an_advice() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    let wrong = json!({"mode": "replace", "path": "a.txt", "old_string": "some text", "new_string": "x"});
    for count in 1..=3 {
        let result = bench.call("patch", &wrong).await;
        assert_eq!(result.get("advice").is_some(), count == 3, "{count}: {result}");
    }
    patch(&bench, "*** Update File: a.txt\n-one\n+1").await;
    assert_eq!(bench.call("patch", &wrong).await.get("advice"), None);
}

#[tokio::test]
async fn links_to_protected_files_are_not_followed() {
    let bench = Bench::new();
    bench.write(".env", "PIN=4711\n");
    symlink(".env", bench.path("settings")).unwrap();
    symlink(bench.root().join("user"), bench.path("alias")).unwrap();
    for body in [
        "*** Update File: settings\n-PIN=4711\n+PIN=1",
        "*** Delete File: settings",
        "*** Move File: settings -> x",
        "*** Add File: alias/.ssh/config\n+x",
    ] {
        let finished = bench.finish("patch", arguments(body)).await;
        assert!(finished.failed, "{body}");
        assert!(!finished.message.content.as_text().contains("4711"), "{body}");
    }
    assert_eq!(std::fs::read_to_string(bench.path(".env")).unwrap(), "PIN=4711\n");
}

#[tokio::test]
async fn patches_of_other_sessions_take_turns() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    let held = bench.cx.locks().lock(&bench.path("b.txt")).await;
    bench.cancel.cancel();
    let result = patch(&bench, "*** Update File: a.txt\n-one\n+1\n*** Add File: b.txt\n+x").await;
    assert!(error(&result).contains("interrupted"), "{result}");
    assert_eq!(std::fs::read_to_string(bench.path("a.txt")).unwrap(), "one\n");
    drop(held);
}
