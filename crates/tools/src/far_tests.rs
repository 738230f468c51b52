//! Hostile files, broken connections and approvals, at a place that is this machine under another name.

use super::testing::{Fault, Loopback};
use crate::ToolContext;
use crate::testing::Bench;
use crate::{ApprovalMode, Registry, ToolSettings, Verdict};
use hermes_conversation::FileChange;
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

fn far() -> (Bench, Arc<Loopback>) {
    Bench::far(ToolSettings::with_approvals(ApprovalMode::Off))
}

/// Does something before the next script that has this text in it.
fn before(place: &Loopback, text: &'static str, act: impl FnOnce() + Send + 'static) {
    *place.before.lock().unwrap() = Some((text, Box::new(act)));
}

fn write(path: &str) -> Value {
    json!({"path": path, "content": "new\n"})
}

/// The names in a directory.
fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn error(result: &Value) -> &str {
    result["error"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[tokio::test]
async fn link_that_is_put_in_place_is_not_followed() {
    let (bench, place) = far();
    std::fs::create_dir_all(bench.root().join("user/.ssh")).unwrap();
    let key = bench.root().join("user/.ssh/id_ed25519");
    std::fs::write(&key, "secret\n").unwrap();
    for (tool, script, arguments) in [
        ("read_file", "page", json!({"path": "a"})),
        ("write_file", "Reads a whole file", write("a")),
        ("write_file", "Replaces a file", write("a")),
        (
            "patch",
            "Reads a whole file",
            json!({"mode": "replace", "path": "a", "old_string": "plain", "new_string": "x"}),
        ),
    ] {
        let script = if script == "page" { "Reads lines of a text" } else { script };
        let path = bench.write("a", "plain\n");
        let target = key.clone();
        before(&place, script, move || {
            std::fs::remove_file(&path).unwrap();
            symlink(target, path).unwrap();
        });
        let result = bench.call(tool, arguments).await;
        let why = error(&result);
        assert!(why.contains("meanwhile"), "{tool} {script}: {result}");
        assert!(!result.to_string().contains("secret"), "{result}");
        assert_eq!(std::fs::read_to_string(&key).unwrap(), "secret\n");
        bench.cx.forget_reads();
        std::fs::remove_file(bench.path("a")).unwrap();
    }
}

#[tokio::test]
async fn directory_that_becomes_a_link_is_not_written_through() {
    let (bench, place) = far();
    bench.write("dir/a", "plain\n");
    let (dir, outside) = (bench.path("dir"), bench.root().join("user"));
    before(&place, "Replaces a file", move || {
        std::fs::remove_dir_all(&dir).unwrap();
        symlink(outside, dir).unwrap();
    });
    let result = bench.call("write_file", write("dir/a")).await;
    assert!(error(&result).contains("meanwhile"), "{result}");
    assert_eq!(names(&bench.root().join("user")), [] as [&str; 0]);
}

#[tokio::test]
async fn change_of_another_program_is_not_lost() {
    let (bench, place) = far();
    let path = bench.write("a", "one\n");
    before(&place, "Replaces a file", {
        let path = path.clone();
        move || std::fs::write(path, "other\n").unwrap()
    });
    let result = bench.call("write_file", write("a")).await;
    assert!(error(&result).contains("changed by someone else"), "{result}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "other\n");
    let made = bench.path("b");
    before(&place, "Replaces a file", {
        let made = made.clone();
        move || std::fs::write(made, "other\n").unwrap()
    });
    let result = bench.call("write_file", write("b")).await;
    assert!(error(&result).contains("exists meanwhile"), "{result}");
    assert_eq!(std::fs::read_to_string(&made).unwrap(), "other\n");
    assert_eq!(names(&bench.path("")), ["a", "b"]);
}

#[tokio::test]
async fn file_that_grows_is_read_as_it_is_then() {
    let (bench, place) = far();
    let path = bench.write("log", "one\n");
    before(&place, "Reads lines of a text", move || std::fs::write(path, "one\ntwo\n").unwrap());
    let result = bench.call("read_file", json!({"path": "log"})).await;
    assert_eq!((&result["content"], &result["file_size"]), (&json!("1|one\n2|two"), &json!(8)));
    // The state that was shown counts, not the one before it.
    let again = bench.call("read_file", json!({"path": "log"})).await;
    assert_eq!(again["status"], "unchanged");
}

#[tokio::test]
async fn little_of_a_long_file_is_transferred() {
    let (bench, place) = far();
    let path = bench.path("long");
    let text: String = (0..2_000_000).map(|number| format!("{number}\n")).collect();
    std::fs::write(&path, text).unwrap();
    let result = bench.call("read_file", json!({"path": "long", "offset": 1_999_000, "limit": 3})).await;
    assert_eq!((&result["total_lines"], &result["next_offset"]), (&json!(2_000_000), &json!(1_999_003)));
    std::fs::File::create(&path).unwrap().set_len(10 << 30).unwrap();
    let result = bench.call("read_file", json!({"path": "long"})).await;
    assert!(error(&result).contains("binary"), "{result}");
    let result = bench
        .call("patch", json!({"mode": "replace", "path": "long", "old_string": "a", "new_string": "b"}))
        .await;
    assert!(error(&result).contains("10737418240 bytes"), "{result}");
    assert!(*place.sent.lock().unwrap() < 20_000);
}

#[tokio::test]
async fn lost_connection_leaves_the_old_file() {
    for (fault, want, content) in [
        (Fault::Refused, "cannot be used", "old\n"),
        (Fault::HalfOfInput, "the file was not changed", "old\n"),
        (Fault::NoEnd, "", "new\n"),
        (Fault::Interrupted, "", "new\n"),
    ] {
        let (bench, place) = far();
        let path = bench.write("a", "old\n");
        *place.fault.lock().unwrap() = Some(fault);
        let result = bench.call("write_file", write("a")).await;
        match want {
            "" => assert_eq!(result["bytes_written"], 4, "{fault:?}: {result}"),
            want => assert!(error(&result).contains(want), "{fault:?}: {result}"),
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content, "{fault:?}");
        assert_eq!(names(&bench.path("")), ["a"], "{fault:?}");
    }
}

#[tokio::test]
async fn unknown_end_of_a_write_is_not_a_result() {
    let (bench, place) = far();
    let path = bench.write("a", "old\n");
    *place.fault.lock().unwrap() = Some(Fault::NoEnd);
    before(&place, "The digest of a file", {
        let path = path.clone();
        move || std::fs::write(path, "third\n").unwrap()
    });
    let result = bench.call("write_file", write("a")).await;
    assert!(error(&result).contains("may or may not have been made"), "{result}");
    *place.fault.lock().unwrap() = Some(Fault::NoEnd);
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    let result = bench.call("patch", json!({"mode": "patch", "patch": patch})).await;
    assert!(error(&result).contains("may or may not have been made"), "{result}");
    assert!(!path.exists());
}

#[tokio::test]
async fn change_is_noted_with_its_place() {
    let (bench, _place) = far();
    bench.write("a", "old\n");
    bench.call("write_file", write("a")).await;
    let changes: Vec<FileChange> =
        bench.transcript.changes.lock().unwrap().iter().map(|(_, change)| change.clone()).collect();
    let digest = |text: &str| FileChange::digest(text.as_bytes());
    let known: Vec<_> = changes.iter().map(|one| (&one.place, &one.before, &one.after)).collect();
    assert_eq!(known, [(&Some("there".to_owned()), &Some(digest("old\n")), &digest("new\n"))]);
    let path = &changes[0].path;
    assert_eq!(bench.cx.far_digest("there", path).await, Some(Some(digest("new\n"))));
    assert_eq!(bench.cx.far_digest("there", &bench.path("none")).await, Some(None));
    // A file of this machine has the same path; it says nothing.
    assert_eq!(bench.cx.far_digest("elsewhere", path).await, None);
}

#[tokio::test]
async fn interrupted_calls_change_nothing() {
    let (bench, _place) = far();
    let path = bench.write("a", "old\n");
    bench.cancel.cancel();
    for (tool, arguments) in [
        ("read_file", json!({"path": "a"})),
        ("write_file", write("a")),
        ("search_files", json!({"pattern": "old"})),
    ] {
        assert!(error(&bench.call(tool, arguments).await).contains("interrupted"), "{tool}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old\n");
}

#[tokio::test]
async fn directory_without_rights_is_reported() {
    let (bench, place) = far();
    let path = bench.write("closed/a", "old\n");
    let dir = path.parent().unwrap();
    // Modes do not limit root, so the place has another user then.
    place.is_other_user.store(rustix::process::geteuid().is_root(), std::sync::atomic::Ordering::Relaxed);
    for open in [bench.root(), bench.root().join("user"), bench.path("")] {
        std::fs::set_permissions(open, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o555)).unwrap();
    for name in ["closed/a", "closed/b"] {
        let result = bench.call("write_file", write(name)).await;
        assert!(error(&result).contains("Permission denied"), "{result}");
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let result = bench.call("read_file", json!({"path": "closed/a"})).await;
    assert!(error(&result).contains("could not read"), "{result}");
    assert!(error(&result).contains("Permission denied"), "{result}");
    assert_eq!(names(dir), ["a"]);
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn place_without_base64_works_too() {
    let (bench, place) = far();
    let bin = bench.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let found =
        std::env::split_paths("/usr/local/bin:/usr/bin:/bin").flat_map(|dir| std::fs::read_dir(dir).unwrap());
    for entry in found.flatten().filter(|entry| entry.file_name() != "base64") {
        // The first of a name counts, as in `PATH`.
        let _ = symlink(entry.path(), bin.join(entry.file_name()));
    }
    drop(place);
    let place =
        Arc::new(Loopback { path: bin.display().to_string(), ..Loopback::new(bench.root().join("user")) });
    let setup =
        crate::ToolSetup { backend: place, safety: bench.cx.safety().clone(), ..Bench::setup(&bench.root()) };
    let bench = Bench { cx: ToolContext::new(setup), registry: Registry::builtin(), ..bench };
    let content: String = (0..3000).map(|number| format!("é \\x41 %s '{number}'\n")).collect();
    let result = bench.call("write_file", json!({"path": "a", "content": content})).await;
    assert_eq!(result["bytes_written"], content.len());
    assert_eq!(std::fs::read_to_string(bench.path("a")).unwrap(), content);
    let result = bench.call("read_file", json!({"path": "a", "limit": 1})).await;
    assert_eq!(result["content"], "1|é \\x41 %s '0'");
}

#[tokio::test]
async fn real_path_is_not_approved_with_the_one_that_leads_there() {
    let (bench, _place) = Bench::far(ToolSettings::with_approvals(ApprovalMode::Manual));
    std::fs::create_dir(bench.root().join("outside")).unwrap();
    symlink(bench.root().join("outside"), bench.path("link")).unwrap();
    // As written, both are inside of the project; one leads out of it.
    let inside = bench.prepare("write_file", write("a"));
    assert_eq!(inside.verdict, Verdict::Run);
    assert_eq!(bench.call("write_file", write("a")).await["bytes_written"], 4);
    assert_eq!(bench.prepare("write_file", write("link/a")).verdict, Verdict::Run);
    let result = bench.call("write_file", write("link/a")).await;
    assert!(error(&result).contains("needs the approval of the user"), "{result}");
    assert_eq!(names(&bench.root().join("outside")), [] as [&str; 0]);
    let path = bench.root().join("outside/a").display().to_string();
    let mut asked = bench.prepare("write_file", write(&path));
    assert!(matches!(asked.verdict, Verdict::Ask(_)), "{:?}", asked.verdict);
    asked.approve(crate::Scope::Once, &bench.cx);
    let permit = hermes_conversation::StartPermit::issue(hermes_conversation::IntentId(7));
    let finished = asked.run(permit, &bench.cx, bench.run_scope()).await;
    assert!(finished.message.content.as_text().contains("bytes_written"), "{finished:?}");
}

#[tokio::test]
async fn home_of_another_user_is_not_taken_for_the_own_one() {
    let (bench, _place) = Bench::far(ToolSettings::with_approvals(ApprovalMode::Manual));
    // Before the home directory is known, it looks like one.
    assert!(matches!(bench.prepare("write_file", write("/home/other/a")).verdict, Verdict::Ask(_)));
    let read = bench.prepare("read_file", json!({"path": "/home/other/a"}));
    assert_eq!(read.verdict, Verdict::Run);
    let permit = hermes_conversation::StartPermit::issue(hermes_conversation::IntentId(7));
    let finished = read.run(permit, &bench.cx, bench.run_scope()).await;
    assert!(finished.message.content.as_text().contains("another user's home"), "{finished:?}");
    assert!(matches!(bench.prepare("read_file", json!({"path": "/home/other/a"})).verdict, Verdict::Ask(_)));
    assert!(matches!(bench.prepare("write_file", write("/home/other/a")).verdict, Verdict::Refuse { .. }));
}

#[tokio::test]
async fn long_results_are_read_on_this_machine() {
    let (bench, place) = far();
    let dir = bench.cx.results_dir();
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("result.txt"), "kept here\n").unwrap();
    symlink(bench.root().join("home"), dir.join("alias")).unwrap();
    let path = dir.join("result.txt").display().to_string();
    assert_eq!(bench.call("read_file", json!({"path": path})).await["content"], "1|kept here");
    let found = bench.call("search_files", json!({"pattern": "kept", "path": dir})).await;
    assert_eq!(found["total_count"], 1);
    assert_eq!(*place.sent.lock().unwrap(), 0, "nothing was asked there");
    // Neither a link in there nor a write is of this machine.
    std::fs::write(bench.root().join("home/config.yaml"), "x").unwrap();
    for path in ["alias/config.yaml", "../../home/config.yaml"] {
        bench.call("read_file", json!({"path": dir.join(path)})).await;
    }
    assert_ne!(*place.sent.lock().unwrap(), 0);
    bench.call("write_file", json!({"path": path, "content": "x"})).await;
    let changes = bench.transcript.changes.lock().unwrap();
    assert_eq!(changes[0].1.place.as_deref(), Some("there"));
}

#[tokio::test]
async fn isolated_place_is_not_asked_about_but_keeps_its_keys() {
    let (bench, _place) = Bench::far(ToolSettings::with_approvals(ApprovalMode::Manual));
    let root = bench.root();
    let mut safety = bench.cx.safety().clone();
    safety.far.as_mut().unwrap().reaches = None;
    let settings = ToolSettings::with_approvals(ApprovalMode::Manual);
    let cx = ToolContext::new(crate::ToolSetup { safety, settings, ..Bench::setup(&root) });
    let bench = Bench { cx, ..bench };
    assert_eq!(bench.prepare("write_file", write("/srv/a")).verdict, Verdict::Run);
    for path in ["/etc/passwd", "~/.ssh/config"] {
        assert!(matches!(bench.prepare("write_file", write(path)).verdict, Verdict::Refuse { .. }), "{path}");
    }
}

#[tokio::test]
async fn syntax_is_checked_by_programs_of_this_machine() {
    let (bench, place) = far();
    let bin = bench.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("gofmt"), "#!/bin/sh\necho '<standard input>:3:5: expected (' >&2\n").unwrap();
    std::fs::set_permissions(bin.join("gofmt"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let safety = crate::Safety { path_dirs: vec![bin], ..bench.cx.safety().clone() };
    let setup = crate::ToolSetup { backend: place, safety, ..Bench::setup(&bench.root()) };
    let bench = Bench { cx: ToolContext::new(setup), ..bench };
    let result = bench.call("write_file", json!({"path": "a.go", "content": "x"})).await;
    assert_eq!(result["lint"]["new_errors"], json!(["line 3:5: expected ("]), "{result}");
}
