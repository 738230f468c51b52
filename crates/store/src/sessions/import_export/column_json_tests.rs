use super::*;

#[test]
fn every_text_is_restored() {
    for (column, text, plain, has_text) in [
        ("content", "hello", false, false),
        ("content", "[1]", false, false),
        ("content", "\0json:[1,{\"a\":\"b\"}]", false, false),
        ("content", "\0json:[1]", true, false),
        ("content", "\0json:[1, 2]", false, true),
        ("content", "\0json:\"\\u0000json:[2]\"", false, false),
        ("content", "\0json:cut", false, false),
        ("content", "\0json:null", false, true),
        ("tool_calls", "[{\"id\":\"c\"}]", false, false),
        ("tool_calls", "[{\"id\": \"c\"}]", false, true),
        ("tool_calls", "1.10", false, true),
        ("tool_calls", "\"123\"", false, true),
        ("tool_calls", "not json", false, false),
        ("reasoning_details", "null", false, true),
        ("reasoning_details", "[\"\\ud800\"]", false, true),
        ("reasoning", "null", false, false),
    ] {
        let value = to_json(column, text, plain);
        let kept = needed_text(column, text, plain);
        assert_eq!(kept.is_some(), has_text, "{column} {text}");
        let back = kept.map_or_else(|| to_text(column, &value, plain), str::to_owned);
        assert_eq!(back, text, "{column}");
        assert_eq!(to_json(column, &back, plain), value, "{column} {text}");
    }
}

#[test]
fn column_exported_as_text_by_python_stays_text() {
    let text = r#"[{"type": "reasoning.text"}]"#;
    assert_eq!(to_text("reasoning_details", &text.into(), false), text);
}
