use super::*;
use crate::compaction::marker::framed;
use crate::compaction::reading::read;
use hermes_conversation::{AssistantMessage, CallId, UserMessage};
use hermes_tools::KnownTools;

fn calling(name: &str, arguments: &str) -> Message {
    let calls = vec![ToolCall::new(CallId::new("1"), name, arguments)];
    Message::Assistant(AssistantMessage { calls, ..Default::default() })
}

fn result(text: &str) -> Message {
    Message::tool(CallId::new("1"), "terminal", text)
}

fn written(messages: Vec<Message>, skip: Option<usize>, results: u64, room: u64) -> String {
    let history: Vec<_> = messages.into_iter().map(Arc::new).collect();
    let reading = read(&history);
    let source = Source { history: &history, reading: &reading, tools: &KnownTools, print: 0xabc, results };
    serialise(source, 0..history.len(), skip.as_slice(), room)
}

#[test]
fn a_stretch_reads_like_a_log() {
    let text = written(
        vec![
            Message::user("list it"),
            calling("terminal", r#"{"command":"ls"}"#),
            result("a\nb"),
            Message::assistant("two"),
        ],
        None,
        1_000,
        1_000,
    );
    assert_eq!(
        text,
        "[00000abc 0 user]\nlist it\n\n[00000abc 1 assistant]\n-> terminal({\"command\":\"ls\"})\n\n\
         [00000abc 2 result]\na\nb\n\n[00000abc 3 assistant]\ntwo"
    );
}

#[test]
fn caps_duplicates_and_old_results() {
    let long = "0123456789".repeat(700);
    let messages = || {
        vec![
            calling("terminal", r#"{"command":"old"}"#),
            result(&"z\n".repeat(200)),
            calling("terminal", r#"{"command":"first"}"#),
            result(&long),
            result(&long),
            calling("terminal", &format!(r#"{{"command":"{long}"}}"#)),
            result(&long),
            Message::user(&*long),
        ]
    };
    let text = written(messages(), None, 5_000, 100_000);
    assert_eq!(text.matches("[… 1500 characters …]").count(), 2, "{text}");
    assert_eq!(text.matches("[terminal] the same output as message 6").count(), 2, "{text}");
    assert!(text.contains(&"z\n".repeat(200)));
    assert!(text.contains(&format!("{}…\"}})", &long[..199])), "{text}");
    let text = written(messages(), None, 0, 100_000);
    assert!(text.contains("[terminal] old -> 200 lines, 400 bytes"), "{text}");
}

#[test]
fn too_much_gets_shorter_from_the_oldest_on() {
    let messages =
        || (0..100).map(|n| Message::user(format!("{n} {}", "word ".repeat(200)))).collect::<Vec<_>>();
    for room in [300, 1_000, 3_000, 10_000, 20_000] {
        let text = written(messages(), None, 0, room);
        assert!(text_tokens(&text) <= room, "{room}: {}", text_tokens(&text));
        assert_eq!(text.contains("older messages had no room here"), room < 5_000, "{room}");
    }
    let text = written(messages(), None, 0, 10_000);
    let length = |place: usize| {
        let start = text.find(&format!("[00000abc {place} user]")).unwrap();
        text[start..].find("\n\n").unwrap_or(text.len() - start)
    };
    assert!(length(98) > 900 && (100..500).contains(&length(70)) && length(0) < 160);
    assert!(text_tokens(&written(messages(), None, 0, 100_000)) > 25_000);
}

#[test]
fn skipped_summary_is_omitted_but_not_the_text_after_it() {
    let merged = Message::User(UserMessage::text("and now?").preceded_by(&framed("i", "SECRET SUMMARY")));
    let messages = vec![merged, Message::assistant("a")];
    let text = written(messages.clone(), Some(0), 0, 1_000);
    assert!(text.contains("and now?") && !text.contains("SECRET SUMMARY"), "{text}");
    let alone = vec![Message::user(framed("i", "SECRET SUMMARY")), Message::user("x")];
    assert!(!written(alone.clone(), Some(0), 0, 1_000).contains("SECRET SUMMARY"));
    assert!(written(alone, None, 0, 1_000).contains("SECRET SUMMARY"));
}
