//! The transcript of a conversation, from an export and from the events of a turn.

use serde_json::Value;

/// Who says what in a message of an export; what a tool says does not matter.
pub(crate) fn role_and_text(message: &Value) -> (&str, String) {
    let role = message["role"].as_str().unwrap();
    let text = match &message["content"] {
        _ if role == "tool" => "",
        Value::String(text) => text,
        Value::Array(parts) => parts[0]["text"].as_str().unwrap(),
        _ => "",
    };
    (role, text.to_owned())
}

/// The text that is left after retractions, and the number of retractions.
pub(crate) fn shown(lines: &[Value]) -> (String, usize) {
    let (mut shown, mut retractions) = (String::new(), 0);
    for line in lines {
        match line["type"].as_str() {
            Some("text") => shown.push_str(line["text"].as_str().unwrap()),
            Some("retracted") => {
                shown.clear();
                retractions += 1;
            }
            _ => {}
        }
    }
    (shown, retractions)
}
