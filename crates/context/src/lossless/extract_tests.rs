use super::*;
use crate::compaction::reading::read;
use hermes_conversation::{AssistantMessage, ToolCall};
use hermes_tools::KnownTools;

fn session(turns: usize) -> Vec<Arc<Message>> {
    let turn = |n: usize| {
        let id = CallId::new(format!("{n}"));
        let call = ToolCall::new(id.clone(), "terminal", format!(r#"{{"command":"make {n}"}}"#));
        [
            Message::user(format!("please build number {n}")),
            Message::Assistant(AssistantMessage { calls: vec![call], ..Default::default() }),
            Message::tool(id, "terminal", format!(r#"{{"output":"x","exit_code":{}}}"#, n % 2)),
            Message::assistant(format!("Well.\nWe decided to keep version {n}.\nMore.")),
        ]
    };
    (0..turns).flat_map(turn).map(Arc::new).collect()
}

fn extracted(history: &[Arc<Message>], files: &[String], earlier: Option<&str>, most: usize) -> String {
    let reading = read(history);
    let material = Material { history, reading: &reading, tools: &KnownTools };
    extract(&Stretch { material, range: 0..history.len(), files, earlier }, most).text()
}

#[test]
fn it_says_what_was_asked_done_decided_and_failed() {
    let mut history = session(3);
    let open = ToolCall::new(CallId::new("open"), "read_file", r#"{"path":"src/a.rs"}"#);
    history.push(Arc::new(Message::Assistant(AssistantMessage { calls: vec![open], ..Default::default() })));
    let text = extracted(&history, &["src/b.rs".into(), "src/a.rs".into()], None, 8_000);
    for part in [
        "## Goal\nplease build number 0",
        "- [terminal] make 0 -> exit code 0, 1 lines, 28 bytes\n- [terminal] make 1 -> exit code 1",
        "- read_file src/a.rs (no result)",
        "## Blocked\n- [terminal] make 1 -> exit code 1",
        "## Key Decisions\n- We decided to keep version 0.\n- We decided to keep version 1.",
        "## Relevant Files\n- src/a.rs\n- src/b.rs",
        "- please build number 2",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    assert_eq!(text, extracted(&history, &["src/b.rs".into(), "src/a.rs".into()], None, 8_000));
}

#[test]
fn it_is_never_much_too_long_and_says_what_is_missing() {
    let history = session(1_000);
    let files: Vec<String> = (0..1_000).map(|n| format!("src/{n}.rs")).collect();
    for most in [2_000, 8_000] {
        let text = extracted(&history, &files, None, most);
        assert!(text.chars().count() <= most * 5 / 4, "{most}: {}", text.chars().count());
        for left_out in ["older calls", "older lines", "older files", "older requests"] {
            assert!(text.contains(left_out), "{left_out}: {text}");
        }
        assert!(text.contains("- src/0.rs"), "the newest file is named: {text}");
    }
}

#[test]
fn what_only_an_earlier_summary_knows_is_carried_on() {
    let earlier = "## Goal\nship\n\n## Completed Actions\n1. wrote it\n\n## Key Decisions\nuse sqlite";
    let text = extracted(&session(2), &[], Some(earlier), 8_000);
    for part in ["## Goal\nship", "1. wrote it", "## Key Decisions\nuse sqlite\n- We decided"] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
}
