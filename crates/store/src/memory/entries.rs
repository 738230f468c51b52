//! The text of a memory file and the entries in it.
//!
//! The rules are those of the Python release, to the letter: both programs write the same files.

use std::borrow::Cow;

/// Stands between two entries.
pub(super) const DELIMITER: &str = "\n§\n";
/// A line with only this ends an entry.
const MARK: &str = "§";

/// The entries of a file, in order, each once.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for piece in pieces(&plain_lines(text)) {
        if !entries.iter().any(|entry| entry == piece) {
            entries.push(piece.to_owned());
        }
    }
    entries
}

/// The text of a file with these entries. There is no line break at its end.
pub(super) fn join(entries: &[String]) -> String {
    entries.join(DELIMITER)
}

/// How much of the limit the entries take.
pub(super) fn chars(entries: &[String]) -> usize {
    let between = DELIMITER.chars().count() * entries.len().saturating_sub(1);
    entries.iter().map(|entry| entry.chars().count()).sum::<usize>() + between
}

/// What somebody wants to be an entry, as it would stand in the file.
pub(super) fn clean(content: &str) -> String {
    stripped(&plain_lines(content)).to_owned()
}

/// Whether a text would be read back as one entry.
pub(super) fn is_one_entry(content: &str) -> bool {
    !content.split('\n').any(|line| line == MARK)
}

/// Whether the file has other text than its entries, or an entry that no tool can have written.
/// Rewriting such a file could lose something.
pub(super) fn has_drifted(text: &str, limit: usize) -> bool {
    let text = plain_lines(text);
    let pieces: Vec<&str> = pieces(&text).collect();
    stripped(&text) != pieces.join(DELIMITER) || pieces.iter().any(|piece| piece.chars().count() > limit)
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(DELIMITER).map(stripped).filter(|piece| !piece.is_empty())
}

/// Python reads every kind of line end as `\n`.
fn plain_lines(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// As Python's `strip`, which takes the four separators of ASCII for blanks, too.
fn stripped(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c))
}

#[cfg(test)]
#[path = "entries_tests.rs"]
mod tests;
