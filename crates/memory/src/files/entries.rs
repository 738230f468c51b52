//! The text of a memory file and its entries.
//!
//! The rules are exactly those of the Python release, because both programs write the same files.

use std::borrow::Cow;

/// Separator between two entries.
pub(super) const DELIMITER: &str = "\n§\n";
/// A line with only this separates entries.
const MARK: &str = "§";

/// Returns the entries of a file, in order, without duplicates.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for piece in pieces(&plain_lines(text)) {
        if !entries.iter().any(|entry| entry == piece) {
            entries.push(piece.to_owned());
        }
    }
    entries
}

/// Returns the text of a file with these entries, without a final line break.
pub(super) fn join(entries: &[String]) -> String {
    entries.join(DELIMITER)
}

/// Returns the number of characters that count towards the limit.
pub(super) fn chars(entries: &[String]) -> usize {
    let between = DELIMITER.chars().count() * entries.len().saturating_sub(1);
    entries.iter().map(|entry| entry.chars().count()).sum::<usize>() + between
}

/// Normalises a text as an entry of the file.
pub(super) fn clean(content: &str) -> String {
    stripped(&plain_lines(content)).to_owned()
}

/// Returns true if a text would be parsed as one entry.
pub(super) fn is_one_entry(content: &str) -> bool {
    !content.split('\n').any(|line| line == MARK)
}

/// Returns true if the file has text outside its entries, or an entry over the limit. Rewriting such a file
/// could lose text.
pub(super) fn has_drifted(text: &str, limit: usize) -> bool {
    let text = plain_lines(text);
    let pieces: Vec<&str> = pieces(&text).collect();
    stripped(&text) != pieces.join(DELIMITER) || pieces.iter().any(|piece| piece.chars().count() > limit)
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(DELIMITER).map(stripped).filter(|piece| !piece.is_empty())
}

/// Converts all line ends to `\n`, as Python does.
fn plain_lines(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// Trims like Python's `strip`, which treats the four ASCII separators as white space, too.
fn stripped(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c))
}

#[cfg(test)]
#[path = "entries_tests.rs"]
mod tests;
