use super::*;
use hermes_conversation::{AssistantMessage, Bill};
use hermes_tools::Registry;

fn reply(text: &str, finish: FinishReason) -> Reply {
    let message = AssistantMessage { text: text.to_owned(), finish: Some(finish), ..Default::default() };
    Reply { message, calls: Vec::new(), finish, usage: None, bill: Bill::default() }
}

fn called(text: &str) -> Option<Vec<String>> {
    let calls = calls_in(text, &Registry::builtin().definitions(), 0)?;
    Some(calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect())
}

#[test]
fn calls_of_offered_tools_with_fitting_arguments_are_taken() {
    for (text, want) in [
        (r#"{"name":"read_file","arguments":{"path":"a"}}"#, r#"read_file {"path":"a"}"#),
        // A number in quotes fits, as it does in any call.
        (
            "<function=read_file><parameter=path>a</parameter><parameter=limit>5</parameter></function>",
            r#"read_file {"path":"a","limit":"5"}"#,
        ),
        (
            "```json\n{\"name\":\"terminal\",\"arguments\":{\"command\":\"ls\"}}\n```",
            r#"terminal {"command":"ls"}"#,
        ),
    ] {
        assert_eq!(called(text), Some(vec![want.to_owned()]), "{text}");
    }
}

#[test]
fn calls_that_could_not_run_stay_text() {
    for text in [
        // No such tool, or one of several is none.
        r#"{"name":"launch","arguments":{"path":"a"}}"#,
        r#"{"name":"Read_File","arguments":{"path":"a"}}"#,
        r#"{"name":"read","arguments":{"path":"a"}}"#,
        r#"[{"name":"read_file","arguments":{"path":"a"}},{"name":"launch","arguments":{}}]"#,
        // A required argument is missing, has another type, or is unknown.
        r#"{"name":"read_file","arguments":{}}"#,
        r#"{"name":"read_file","arguments":{"path":null}}"#,
        r#"{"name":"read_file","arguments":{"path":{"a":1}}}"#,
        r#"{"name":"read_file","arguments":{"path":"a","limit":"many"}}"#,
        r#"{"name":"read_file","arguments":{"path":"a","limit":-5}}"#,
        r#"{"name":"read_file","arguments":{"path":"a","colour":"red"}}"#,
        r#"{"name":"read_file","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}"#,
        r#"{"name":"read_file","arguments":{"path":"a","path":"b"}}"#,
        r#"{"name":"terminal","arguments":{"cmd":"ls"}}"#,
    ] {
        assert_eq!(called(text), None, "{text}");
    }
}

#[test]
fn only_a_whole_reply_without_calls_is_searched() {
    const TEXT: &str = r#"{"name":"read_file","arguments":{"path":"a"}}"#;
    let offered = Registry::builtin().definitions();
    for (finish, want) in [
        (FinishReason::Stop, true),
        (FinishReason::ToolCalls, true),
        (FinishReason::Length, false),
        (FinishReason::Incomplete, false),
        (FinishReason::ContentFilter, false),
    ] {
        let mut reply = reply(TEXT, finish);
        assert_eq!(take(&mut reply, &offered, 0), want, "{finish:?}");
        assert_eq!(reply.message.text.is_empty(), want, "{finish:?}");
        assert_eq!(reply.calls.len(), reply.message.calls.len(), "{finish:?}");
    }
    let mut beside = reply(TEXT, FinishReason::ToolCalls);
    beside.message.calls = vec![ToolCall::new(CallId::new("c"), "terminal", "{}")];
    assert!(!take(&mut beside, &offered, 0));
    assert!(!take(&mut reply(TEXT, FinishReason::Stop), &[], 0), "nothing is offered");
}

#[test]
fn equal_calls_of_different_replies_have_different_ids() {
    let offered = Registry::builtin().definitions();
    let id = |messages| {
        let text = r#"{"name":"read_file","arguments":{"path":"a"}}"#;
        calls_in(text, &offered, messages).unwrap()[0].id.clone()
    };
    assert_eq!(id(1), id(1));
    assert_ne!(id(1), id(3));
}
