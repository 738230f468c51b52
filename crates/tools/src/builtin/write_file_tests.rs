use crate::testing::Bench;
use hermes_conversation::FileChange;
use serde_json::json;

#[tokio::test]
async fn files_are_made_and_replaced() {
    let bench = Bench::new();
    let path = bench.path("new/dir/a.txt");
    let made = bench.call("write_file", json!({"path": "new/dir/a.txt", "content": "中\n"})).await;
    assert_eq!(
        made,
        json!({"bytes_written": 4, "dirs_created": true, "resolved_path": path, "files_modified": [path]})
    );
    bench.call("write_file", json!({"path": path, "content": "x"})).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "x");
}

#[tokio::test]
async fn line_ends_mark_and_links_are_kept() {
    let bench = Bench::new();
    let path = bench.write("dos.txt", "\u{feff}a\r\nb\r\n");
    std::os::unix::fs::symlink("dos.txt", bench.path("link")).unwrap();
    bench.call("write_file", json!({"path": "link", "content": "c\nd\n"})).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "\u{feff}c\r\nd\r\n");
    assert!(bench.path("link").is_symlink());
}

#[tokio::test]
async fn broken_content_and_protected_places_are_not_written() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(bench.root().join("user"), bench.path("alias")).unwrap();
    for (path, content, part) in [
        ("a.json", "{\"a\":", "not valid JSON"),
        ("a.yaml", "a: [1", "not valid YAML"),
        ("a.toml", "a = ", "not valid TOML"),
        ("~/.ssh/authorized_keys", "x", "keys"),
        ("alias/.ssh/config", "x", "keys"),
        ("/etc/passwd", "x", "system"),
    ] {
        let result = bench.call("write_file", json!({"path": path, "content": content})).await;
        assert!(result["error"].as_str().unwrap().contains(part), "{path}: {result}");
    }
    assert!(!bench.path("a.json").exists());
}

#[tokio::test]
async fn nothing_below_the_home_is_written_but_working_files() {
    let bench = Bench::new();
    let home = bench.root().join("home");
    std::fs::write(home.join("state.db-wal"), "log").unwrap();
    std::os::unix::fs::symlink(&home, bench.path("alias")).unwrap();
    std::os::unix::fs::symlink(home.join("state.db-wal"), bench.path("wal")).unwrap();
    for path in [
        "../home/config.yaml",
        "../home/state.db-wal",
        "../home/state.db-shm",
        "../home/notes.md",
        "../home/cache/../config.yaml",
        "../home/cache/skills.json",
        "../home/cache/models/x.json",
        "../home/cache/terminal/../skills.json",
        "alias/state.db-wal",
        "wal",
        &format!("/proc/self/root{}", home.join("state.db-wal").display()),
    ] {
        for (tool, arguments) in [
            ("write_file", json!({"path": path, "content": "a: 1"})),
            ("patch", json!({"path": path, "old_string": "log", "new_string": "x"})),
        ] {
            let result = bench.call(tool, arguments).await;
            assert!(result["error"].as_str().unwrap().contains("Hermes itself"), "{tool} {path}: {result}");
        }
    }
    assert_eq!(std::fs::read_to_string(home.join("state.db-wal")).unwrap(), "log");
    let cached =
        bench.call("write_file", json!({"path": "../home/cache/terminal/a.txt", "content": "x"})).await;
    assert_eq!(cached["bytes_written"], 1, "{cached}");
}

#[tokio::test]
async fn numbers_at_the_end_of_their_range_are_no_page() {
    let bench = Bench::new();
    for content in ["18446744073709551615|x\n5|y", "18446744073709551616|x\n5|y"] {
        let result = bench.call("write_file", json!({"path": "a.txt", "content": content})).await;
        assert_eq!(result["bytes_written"], content.len(), "{result}");
    }
}

#[tokio::test]
async fn what_a_file_of_secrets_held_is_not_shown() {
    let bench = Bench::new();
    bench.write(".env", "PIN=4711\r\nNAME=hidden\r\n");
    for content in ["A=1\n", "PIN=[redacted]\n"] {
        let finished = bench.finish("write_file", json!({"path": ".env", "content": content})).await;
        let text = finished.message.content.as_text();
        assert!(!text.contains("4711") && !text.contains("hidden"), "{text}");
    }
}

#[tokio::test]
async fn a_cancelled_write_that_waits_for_its_turn_ends() {
    let bench = Bench::new();
    let held = bench.cx.locks().lock(&bench.path("a.txt")).await;
    bench.cancel.cancel();
    let result = bench.call("write_file", json!({"path": "a.txt", "content": "x"})).await;
    assert!(result["error"].as_str().unwrap().contains("interrupted"), "{result}");
    assert!(!bench.path("a.txt").exists());
    drop(held);
}

#[tokio::test]
async fn a_writer_hears_what_it_has_not_seen() {
    let bench = Bench::new();
    bench.write("a.txt", "1\n2\n3\n");
    bench.call("read_file", json!({"path": "a.txt", "limit": 1})).await;
    let partly = bench.call("write_file", json!({"path": "a.txt", "content": "new\n"})).await;
    assert!(partly["_warning"].as_str().unwrap().contains("only part"));
    let own = bench.call("write_file", json!({"path": "a.txt", "content": "newer\n"})).await;
    assert_eq!(own.get("_warning"), None);
    std::fs::write(bench.path("a.txt"), "someone else\n").unwrap();
    let stale = bench.call("write_file", json!({"path": "a.txt", "content": "newest\n"})).await;
    assert!(stale["_warning"].as_str().unwrap().contains("changed since"));
}

#[tokio::test]
async fn a_secret_is_not_replaced_by_its_mark() {
    let bench = Bench::new();
    let text = "token = sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD\n";
    bench.write("a.txt", text);
    let result = bench.call("write_file", json!({"path": "a.txt", "content": "token = [redacted]\n"})).await;
    assert!(result["error"].as_str().unwrap().contains("secret"), "{result}");
    assert_eq!(std::fs::read_to_string(bench.path("a.txt")).unwrap(), text);
}

/// The content of a file shows whether a change was made.
#[tokio::test]
async fn a_change_is_noted_before_it_is_made() {
    let bench = Bench::new();
    let path = bench.write("a.txt", "old");
    let result = bench.call("write_file", json!({"path": "a.txt", "content": "new"})).await;
    bench.call("patch", json!({"path": "a.txt", "old_string": "new", "new_string": "newer"})).await;
    bench.call("write_file", json!({"path": "b.txt", "content": ""})).await;
    let changes: Vec<_> =
        bench.transcript.changes.lock().unwrap().iter().map(|(_, change)| change.clone()).collect();
    let digest = |text: &str| FileChange::digest(text.as_bytes());
    let named: Vec<_> = changes.iter().map(|change| (change.before.clone(), change.after.clone())).collect();
    let want =
        [(Some(digest("old")), digest("new")), (Some(digest("new")), digest("newer")), (None, digest(""))];
    assert_eq!(named, want);
    assert_eq!((&changes[0].path, changes[0].result.clone()), (&path, result.to_string()));
    *bench.transcript.fails.lock().unwrap() = true;
    let refused = bench.call("write_file", json!({"path": "a.txt", "content": "lost"})).await;
    assert!(refused["error"].as_str().unwrap().contains("could not be recorded"), "{refused}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "newer");
}

#[test]
fn the_file_tells_whether_a_change_was_made() {
    let change = |before: Option<&str>| FileChange {
        place: None,
        path: "/a".into(),
        before: before.map(str::to_owned),
        after: "b".to_owned(),
        result: String::new(),
    };
    for (before, now, want) in [
        (Some("a"), Some("b"), Some(true)),
        (Some("a"), Some("a"), Some(false)),
        (Some("a"), Some("c"), None),
        (Some("a"), None, None),
        (None, None, Some(false)),
        (None, Some("b"), Some(true)),
        (Some("b"), Some("b"), Some(true)),
    ] {
        assert_eq!(change(before).was_made(now), want, "{before:?} {now:?}");
    }
}

/// Python is part of every machine that the tests run on.
#[tokio::test]
async fn only_new_syntax_errors_are_reported() {
    let bench = Bench::new();
    bench.write("old.py", "def f(:\n");
    for (path, content, errors) in [
        ("a.py", "x = 1\n", 0),
        ("b.py", "x = = 1\n", 1),
        ("old.py", "\n\ndef f(:\n", 0),
        ("unknown.xyz", "x = = 1\n", 0),
    ] {
        let result = bench.call("write_file", json!({"path": path, "content": content})).await;
        assert_eq!(result["bytes_written"], content.len(), "{result}");
        let found = result["lint"]["new_errors"].as_array().map_or(0, Vec::len);
        assert_eq!(found, errors, "{path}: {result}");
    }
    let added = json!({"path": "a.py", "old_string": "x = 1", "new_string": "x = = 1"});
    let result = bench.call("patch", added).await;
    assert!(result["lint"]["new_errors"][0].as_str().unwrap().starts_with("line 1"), "{result}");
}

/// A program in the project, and settings there, are not used.
#[tokio::test]
async fn checks_run_no_code_of_the_project() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for name in ["work/bin", "home", "user"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    let program = root.join("work/bin/python3");
    std::fs::write(&program, format!("#!/bin/sh\ntouch {}/ran\n", root.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("bin:{}:/usr/bin:/bin", root.join("work/bin").display());
    let setup = crate::ToolSetup { child_env: vec![("PATH".into(), path)], ..Bench::setup(&root) };
    let bench = Bench { cx: crate::ToolContext::new(setup), ..Bench::new() };
    std::fs::write(root.join("work/sys.py"), format!("open('{}/ran', 'w')", root.display())).unwrap();
    let code = format!("import os\nos.system('touch {}/ran')\nx = = 1\n", root.display());
    let result = bench.call("write_file", json!({"path": "a.py", "content": code})).await;
    assert_eq!(result["lint"]["checked_by"], "python3", "{result}");
    assert!(!root.join("ran").exists());
}

#[tokio::test]
async fn a_writer_hears_of_others_and_of_the_workspace() {
    let bench = Bench::new();
    let path = bench.write("a.txt", "1\n");
    bench.call("read_file", json!({"path": "a.txt"})).await;
    std::fs::write(&path, "22\n").unwrap();
    bench.cx.locks().note_writer(&path, "another session");
    let result = bench.call("write_file", json!({"path": "a.txt", "content": "x"})).await;
    assert!(result["_warning"].as_str().unwrap().contains("Another agent"), "{result}");
    let outside = bench.root().join("else.txt");
    let result = bench.call("write_file", json!({"path": outside, "content": "x"})).await;
    assert!(result["_warning"].as_str().unwrap().contains("outside of the workspace"), "{result}");
}

#[tokio::test]
async fn homes_of_other_profiles_are_not_written() {
    let bench = Bench::new();
    let path = bench.root().join("home/profiles/work/config.yaml");
    let arguments = json!({"path": path, "content": "a: 1", "cross_profile": true});
    let result = bench.call("write_file", arguments).await;
    assert!(result["error"].as_str().unwrap().contains("cross_profile does not change that"), "{result}");
}

#[test]
fn checkpoints_do_not_cover_files_of_another_place() {
    use crate::{Tool, ToolSettings};
    let arguments: super::WriteFileArgs =
        serde_json::from_value(json!({"path": "a", "content": "x"})).unwrap();
    let (far, _place) = Bench::far(ToolSettings::default());
    assert!(super::WriteFile.touches(&arguments, &far.cx).is_none());
    assert!(super::WriteFile.touches(&arguments, &Bench::new().cx).is_some());
}
