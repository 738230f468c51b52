use super::*;
use hermes_conversation::{AssistantMessage, CallId};

fn calls(calls: &[(&str, &str)]) -> Message {
    let call = |(name, arguments): &(&str, &str)| ToolCall::new(CallId::new("1"), *name, *arguments);
    Message::Assistant(AssistantMessage { calls: calls.iter().map(call).collect(), ..Default::default() })
}

#[test]
fn files_come_from_arguments_and_from_text() {
    let patch =
        r#"{"mode":"patch","patch":"*** Begin Patch\n*** Update File: lib/a.py\n*** Add File: b.py\n+x"}"#;
    let rows: Vec<(Message, &[&str])> = vec![
        (calls(&[("read_file", r#"{"path":"src/a.rs","offset":1}"#)]), &["src/a.rs"]),
        (calls(&[("x", r#"{"files":["a","b"],"file_glob":"*.rs","file_content":"c"}"#)]), &["b", "a"]),
        (calls(&[("x", r#"{"tasks":[],"paths":[{"path":"in/it.rs"}]}"#)]), &["in/it.rs"]),
        (calls(&[("patch", patch)]), &["b.py", "lib/a.py"]),
        (
            calls(&[("terminal", r#"{"command":"cat src/x.rs > /tmp/out && echo a/b"}"#)]),
            &["/tmp/out", "src/x.rs"],
        ),
        (calls(&[("search_files", r#"{"path":".","pattern":"src/y.rs"}"#)]), &[]),
        (calls(&[("x", "broken /etc/passwd")]), &[]),
        (
            Message::user("see `docs/a.md`, src/lib.rs:42:7 and (~/notes)."),
            &["~/notes", "src/lib.rs", "docs/a.md"],
        ),
        (Message::user("and/or 1/2 https://x.example/a.html // x 3/4.5"), &[]),
        (Message::assistant("我改了 src/中文/a.rs。"), &["src/中文/a.rs"]),
        (Message::tool(CallId::new("1"), "t", "src/result.rs"), &[]),
    ];
    for (message, want) in rows {
        let name = format!("{message:?}");
        assert_eq!(files(&[Arc::new(message)]), want, "{name}");
    }
}

#[test]
fn the_newest_comes_first_and_each_once() {
    let messages: Vec<_> = ["a/1.rs", "a/2.rs", "a/1.rs"].map(|path| Arc::new(Message::user(path))).to_vec();
    assert_eq!(files(&messages), ["a/1.rs", "a/2.rs"]);
}
