//! The text of a hit for display.

use crate::sessions::rows::decode;
use crate::sessions::rows::encode::PARTS_MARK;
use hermes_conversation::{shown_call, shown_parts, shown_result};
use rusqlite::Row;

/// The text of a hit whose stored form is not readable, and the tools that it calls.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DisplayText {
    pub(super) text: String,
    pub(super) tools: Option<String>,
}

impl DisplayText {
    /// Reads `readable_text::COLUMNS` from `at` on. `None` for a message whose stored form is readable.
    pub(super) fn from_row(row: &Row<'_>, role: &str, at: usize) -> rusqlite::Result<Option<Self>> {
        let content = decode::text(row, at)?.unwrap_or_default();
        Ok(Self::new(role, &content, decode::text(row, at + 2)?.as_deref()))
    }

    fn new(role: &str, content: &str, tool_calls: Option<&str>) -> Option<Self> {
        let calls = tool_calls.map(decode::calls).unwrap_or_default();
        let parts = content.strip_prefix(PARTS_MARK);
        if calls.is_empty() && parts.is_none() && role != "tool" {
            return None;
        }
        let said = match parts {
            Some(parts) => shown_parts(parts),
            None if role == "tool" => shown_result(content).into_owned(),
            None => content.to_owned(),
        };
        let lines = std::iter::once(said).chain(calls.iter().map(shown_call));
        let text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
        Some(Self { text, tools: (!names.is_empty()).then(|| names.join(", ")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_results_and_images_are_displayed_readably() {
        let call = r#"[{"id":"c","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}]"#;
        let image = "\0json:[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"x\"}}]";
        for (role, content, calls, want) in [
            ("user", "plain", None, None),
            ("assistant", "", Some(call), Some(("terminal: ls", Some("terminal")))),
            ("assistant", "Looking.", Some(call), Some(("Looking.\nterminal: ls", Some("terminal")))),
            ("tool", r#"{"output":"a.txt","exit_code":0}"#, None, Some(("a.txt", None))),
            ("user", image, None, Some(("see\n[image]", None))),
        ] {
            let found = DisplayText::new(role, content, calls).map(|shown| (shown.text, shown.tools));
            let want = want.map(|(text, tools)| (text.to_owned(), tools.map(str::to_owned)));
            assert_eq!(found, want, "{role} {content}");
        }
    }
}
