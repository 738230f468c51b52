use super::*;
use crate::compaction::reading::read;
use hermes_conversation::{AssistantMessage, CallId, ToolCall};
use hermes_tools::KnownTools;

fn material<'a>(history: &'a [Arc<Message>], reading: &'a Reading) -> Material<'a> {
    Material { history, reading, tools: &KnownTools }
}

fn session(turns: usize) -> Vec<Arc<Message>> {
    let turn = |n: usize| {
        let call = ToolCall::new(CallId::new("1"), "terminal", format!(r#"{{"command":"make {n}"}}"#));
        let calling = AssistantMessage { calls: vec![call], ..Default::default() };
        [
            Message::user(format!("please build number {n} {}", "and more ".repeat(n % 200))),
            Message::Assistant(calling),
            Message::tool(CallId::new("1"), "terminal", format!(r#"{{"output":"x","exit_code":{}}}"#, n % 2)),
            Message::assistant(format!("built {n}")),
        ]
    };
    (0..turns).flat_map(turn).map(Arc::new).collect()
}

#[test]
fn excerpts_name_what_was_asked_done_and_failed() {
    let history = session(3);
    let text = excerpts(material(&history, &read(&history)), 0..12, None, MOST).text();
    for part in [
        "## Goal\nplease build number 0",
        "## Completed Actions\n- terminal make 0\n- terminal make 1\n- terminal make 2",
        "## Blocked\n- [terminal] make 1 -> exit code 1",
        "- please build number 2 and more",
        "12 messages were put away: 3 of the person, 6 replies, 3 results of tools",
        "- (assistant) built 2",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
}

#[test]
fn excerpts_are_never_too_long_and_say_what_is_missing() {
    let history = session(1_000);
    let reading = read(&history);
    let previous = format!("## Goal\nthe old goal\n\n## Critical Context\n{}", "port 8080 ".repeat(2_000));
    for most in [300, 1_000, 3_000, MOST] {
        let text = excerpts(material(&history, &reading), 0..4_000, Some(&previous), most).text();
        assert!(text.chars().count() <= most.max(900), "{most}: {}", text.chars().count());
        assert!(text.contains("older calls are not shown"), "{text}");
        assert!(text.starts_with("## Goal\nthe old goal") || most < 1_000, "{text}");
    }
    let text = excerpts(material(&history, &reading), 0..4_000, Some(&previous), MOST).text();
    assert!(text.contains("port 8080 port 8080"), "{text}");
}

#[test]
fn excerpts_of_excerpts_keep_what_a_model_once_wrote() {
    let history = session(30);
    let reading = read(&history);
    let mut summary =
        "## Goal\nship\n\n## Key Decisions\nuse sqlite\n\n## Critical Context\nport 8080".to_owned();
    for _ in 0..20 {
        summary = excerpts(material(&history, &reading), 0..120, Some(&summary), MOST).text();
    }
    for part in ["## Goal\nship", "## Key Decisions\nuse sqlite", "port 8080", "make 29"] {
        assert!(summary.contains(part), "{part} is not in:\n{summary}");
    }
    assert_eq!(summary.matches("No model wrote this summary").count(), 1, "{summary}");
    let foreign =
        excerpts(material(&history, &reading), 0..120, Some("free text about port 9090"), MOST).text();
    assert!(foreign.contains("free text about port 9090"), "{foreign}");
}
