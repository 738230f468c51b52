//! The readable text of a stored message.

use crate::sessions::rows::decode;
use crate::sessions::rows::encode::PARTS_MARK;
use hermes_conversation::shown_parts;
use rusqlite::Row;

/// The columns of [`Readable::from_row`], in this order, from `messages AS m`.
pub(crate) const COLUMNS: &str = "m.content, m.tool_name, m.tool_calls";
/// The number of these columns.
pub(crate) const READABLE_WIDTH: usize = 3;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Readable {
    pub text: String,
    /// True if the stored form differs from the text: the shared indexes contain only the stored form.
    pub is_hidden: bool,
}

impl Readable {
    /// Reads the columns from `at` on.
    pub(crate) fn from_row(row: &Row<'_>, at: usize) -> rusqlite::Result<Self> {
        Ok(Self::new(decode::text(row, at)?, decode::text(row, at + 1)?, decode::text(row, at + 2)?))
    }

    fn new(content: Option<String>, tool_name: Option<String>, tool_calls: Option<String>) -> Self {
        let content = content.unwrap_or_default();
        let parts = content.strip_prefix(PARTS_MARK).map(shown_parts);
        // The Python release escapes non-ASCII letters in JSON.
        let calls = tool_calls.as_deref().filter(|calls| calls.contains("\\u")).map(calls);
        let is_hidden = parts.is_some() || calls.is_some() || content.contains('\0');
        let mut text = parts.unwrap_or(content);
        for more in [tool_name, calls.or(tool_calls)].into_iter().flatten() {
            text.push(' ');
            text.push_str(&more);
        }
        Self { text, is_hidden }
    }
}

fn calls(stored: &str) -> String {
    let calls = decode::calls(stored);
    let said: Vec<_> = calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect();
    said.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_parts_are_decoded() {
        let some = |text: &str| Some(text.to_owned());
        let escaped = r#"[{"id":"1","function":{"name":"write","arguments":"{\"t\":\"\u4e2d\"}"}}]"#;
        for (content, calls, want, is_hidden) in [
            (some("hello"), None, "hello", false),
            (None, some(r#"[{"id":"1"}]"#), r#" [{"id":"1"}]"#, false),
            (some("\0json:[{\"type\":\"text\",\"text\":\"\\u4e2d\"}]"), None, "中", true),
            (some("x"), some(escaped), r#"x write {"t":"中"}"#, true),
        ] {
            assert_eq!(Readable::new(content, None, calls), Readable { text: want.to_owned(), is_hidden });
        }
    }
}
