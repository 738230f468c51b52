use crate::testing::Bench;
use crate::{ApprovalMode, ToolSettings};
use serde_json::json;

#[tokio::test]
async fn pages_are_numbered_and_linked() {
    let bench = Bench::new();
    bench.write("a.txt", "one\ntwo\nthree\n");
    let first = bench.call("read_file", json!({"path": "a.txt", "limit": "2"})).await;
    assert_eq!(
        first,
        json!({"content": "1|one\n2|two", "total_lines": 3, "file_size": 14, "truncated": true,
            "next_offset": 3, "truncated_by": "lines", "hint": "Continue with offset=3."})
    );
    let rest = bench.call("read_file", json!({"path": "a.txt", "offset": 3})).await;
    assert_eq!(rest, json!({"content": "3|three", "total_lines": 3, "file_size": 14, "truncated": false}));
    let beyond = bench.call("read_file", json!({"path": "a.txt", "offset": 9})).await;
    assert_eq!(beyond["hint"], "The file has only 3 lines.");
}

#[tokio::test]
async fn long_lines_and_long_pages_are_cut() {
    let bench = Bench::with(ToolSettings {
        max_line_length: 5,
        file_read_max_chars: 30,
        ..ToolSettings::with_approvals(ApprovalMode::Off)
    });
    bench.write("a.txt", "abcdefgh\nshort\nthird\nfourth\n");
    let page = bench.call("read_file", json!({"path": "a.txt"})).await;
    assert_eq!(page["content"], "1|abcde [line cut]\n2|short");
    assert_eq!((&page["next_offset"], &page["truncated_by"]), (&json!(3), &json!("characters")));
}

#[tokio::test]
async fn an_unchanged_page_is_not_sent_again() {
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    let arguments = json!({"path": "a.txt"});
    assert_eq!(bench.call("read_file", &arguments).await["content"], "1|one");
    assert_eq!(bench.call("read_file", &arguments).await["status"], "unchanged");
    assert!(bench.call("read_file", &arguments).await["error"].as_str().unwrap().contains("repeatedly"));
    bench.cx.forget_reads();
    assert_eq!(bench.call("read_file", &arguments).await["content"], "1|one");
    bench.call("write_file", json!({"path": "a.txt", "content": "two\n"})).await;
    assert_eq!(bench.call("read_file", &arguments).await["content"], "1|two");
}

#[tokio::test]
async fn what_cannot_be_read_is_explained() {
    let bench = Bench::new();
    bench.write("config.toml", "a");
    bench.write("data.bin", "a\0b");
    std::fs::write(bench.root().join("home/auth.json"), "{}").unwrap();
    std::fs::write(bench.root().join("home/state.db-wal"), "x").unwrap();
    std::os::unix::fs::symlink(bench.root().join("home/state.db-wal"), bench.path("wal")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap().success());
    std::os::unix::fs::symlink(bench.root().join("home/auth.json"), bench.path("link")).unwrap();
    for (path, part) in [
        ("confg.toml", "does not exist"),
        (".", "is a directory"),
        ("data.bin", "binary"),
        ("/dev/zero", "device"),
        ("link", "credentials"),
        ("wal", "session store"),
        ("../home/state.db-wal", "session store"),
        ("/proc/self/root/proc/self/environ", "process file"),
        ("/proc/kmsg", "process file"),
        ("pipe", "named pipe"),
    ] {
        let result = bench.call("read_file", json!({"path": path})).await;
        assert!(result["error"].as_str().unwrap().contains(part), "{path}: {result}");
    }
    let result = bench.call("read_file", json!({"path": "confg.toml"})).await;
    assert_eq!(result["similar_files"], json!([bench.path("config.toml")]));
}

#[tokio::test]
async fn secrets_are_taken_out() {
    let bench = Bench::new();
    bench.write("notes.txt", "key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD here\n");
    let page = bench.call("read_file", json!({"path": "notes.txt"})).await;
    let content = page["content"].as_str().unwrap();
    assert!(content.contains("[redacted") && !content.contains("abcdefghijkl"), "{content}");
}

#[tokio::test]
async fn notebooks_are_read_as_text_in_pages() {
    let bench = Bench::new();
    bench.write("a.ipynb", r#"{"cells": [{"cell_type": "code", "source": "x = 1\ny = 2"}]}"#);
    let result = bench.call("read_file", json!({"path": "a.ipynb", "limit": 2})).await;
    assert_eq!(result["content"], "1|[cell 1: code]\n2|x = 1", "{result}");
    assert_eq!((&result["total_lines"], &result["next_offset"]), (&json!(3), &json!(3)));
    assert_eq!(result["converted_from"], "notebook");
}

#[tokio::test]
async fn what_has_no_text_is_named() {
    let bench = Bench::new();
    bench.write("a.png", "\0PNG");
    bench.write("a.zip", "\0");
    bench.write("a.pdf", "no document");
    bench.write("a.docx", "no document");
    for (path, part) in [
        ("a.png", "is an image"),
        ("a.zip", "is an archive"),
        ("a.pdf", "it is not a PDF document"),
        ("a.docx", "it is not a Word document"),
    ] {
        let result = bench.call("read_file", json!({"path": path})).await;
        assert!(result["error"].as_str().unwrap().contains(part), "{path}: {result}");
    }
}
