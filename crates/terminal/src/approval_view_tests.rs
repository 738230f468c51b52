use super::*;
use hermes_conversation::CallId;
use hermes_tools::Coverage;

fn asked(what: &str) -> ApprovalRequest {
    let coverage = Coverage { session: Some("every call like it".to_owned()), always: None };
    ApprovalRequest { coverage, ..ApprovalRequest::once(CallId::new("c"), "terminal", what, "/p".into()) }
}

#[test]
fn only_offered_answers_count_and_unclear_ones_ask_again() {
    let request = asked("rm -r x");
    for (line, want) in [
        ("o", Reply::Answer(Approval::ONCE)),
        (" Yes ", Reply::Answer(Approval::ONCE)),
        ("s", Reply::Answer(Approval::Allowed(Scope::Session))),
        ("a", Reply::Help),
        ("d", Reply::Answer(Approval::DENIED)),
        ("r", Reply::AskReason),
        ("v", Reply::View),
        ("?", Reply::Help),
        ("sure", Reply::Help),
        ("", Reply::Help),
    ] {
        assert_eq!(reply(line, &request), want, "{line}");
    }
    for (line, want) in [
        ("a", BatchReply::Answer(BatchApproval::AllOnce)),
        ("e", BatchReply::Answer(BatchApproval::OneByOne)),
        ("d", BatchReply::Answer(BatchApproval::Each(Approval::DENIED))),
        ("2", BatchReply::View(1)),
        ("3", BatchReply::Help),
        ("0", BatchReply::Help),
    ] {
        assert_eq!(batch_reply(line, 2), want, "{line}");
    }
}

#[test]
fn beginning_and_end_of_a_long_command_are_shown() {
    let command = (1..=60).map(|n| format!("echo step {n}")).collect::<Vec<_>>().join("\n");
    let effects = ["deletes 3 paths outside the project".to_owned()];
    let view = Asked { what: &command, cwd: "/p", effects: &effects };
    for (columns, rows) in [(80, 24), (50, 20)] {
        let shown = request(&view, Style::PLAIN, columns, rows);
        assert!(shown.lines().count() < rows, "{rows}: {shown}");
        for part in ["60 lines", "echo step 1\n", "echo step 60", "more rows; v shows", "deletes 3 paths"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(shown.lines().all(|line| line.chars().count() <= columns), "{shown}");
    }
}

#[test]
fn hidden_characters_are_visible() {
    let view = Asked { what: "rm\u{200b} -r \u{202e}x\x1b[2J", cwd: "/p", effects: &[] };
    let shown = request(&view, Style::PLAIN, 80, 24);
    assert!(
        shown.contains("\\u{200b}") && shown.contains("\\u{202e}") && shown.contains("\\u{1b}"),
        "{shown}"
    );
}
