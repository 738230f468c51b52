//! Edits of texts: replacing a part that is remembered almost exactly, and patches over several files. Pure.

pub mod fuzzy;
pub mod v4a;

/// The first `most` characters of `text`.
fn head(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(byte, _)| &text[..byte])
}
