use super::*;

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(CallId::new(id), name, arguments)
}

#[test]
fn calls_of_every_known_shape_are_decoded() {
    for (stored, want) in [
        (
            r#"[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1}"}}]"#,
            vec![call("a", "f", "{\"x\": 1}")],
        ),
        (r#"[{"id":"a","function":{"name":"f","arguments":{"x":1}}}]"#, vec![call("a", "f", r#"{"x":1}"#)]),
        (r#"[{"id":"a","name":"f","arguments":"{}"}]"#, vec![call("a", "f", "{}")]),
        (r#"{"id":"a","function":{"name":"f","arguments":null}}"#, vec![call("a", "f", "{}")]),
        (
            r#"[{"function":{"name":"f","arguments":"{}"}}]"#,
            vec![ToolCall::new(CallId::derived("f", "{}", 0), "f", "{}")],
        ),
        (
            r#"[{"id":null,"call_id":"c","function":{"name":"f"}}]"#,
            vec![ToolCall { call_id: Some("c".into()), ..call("c", "f", "{}") }],
        ),
        (
            r#"[{"id":"a","function":{"name":"f","arguments":"\ud800"}},7,null]"#,
            vec![call("a", "f", "\u{fffd}")],
        ),
        ("[]", vec![]),
        ("not json", vec![]),
        ("\"text\"", vec![]),
    ] {
        assert_eq!(calls(stored), want, "{stored}");
    }
}

#[test]
fn text_of_structured_assistant_content_is_kept() {
    for (parts, want) in [
        (r#"[{"type":"text","text":"a"},{"type":"image"},{"text":"b"}]"#, "a\nb"),
        (r#"[{"type":"image"}]"#, r#"[{"type":"image"}]"#),
        (r#"{"odd":1}"#, r#"{"odd":1}"#),
    ] {
        assert_eq!(readable_text(parts), want);
    }
}
