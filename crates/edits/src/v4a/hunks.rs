//! Applies the hunks of an update to the text of a file.

use super::{Hunk, HunkLine};
use crate::fuzzy::{self, Edit, EditError, Stop};

/// The reason why a hunk does not fit a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HunkError {
    #[error("hunk {hunk}: the lines marked with blank and - are not in the file")]
    NotFound { hunk: usize, old: String },
    #[error(
        "hunk {hunk}: its lines are found {count} times; add context lines, or name a line above the place: @@ line @@"
    )]
    Ambiguous { hunk: usize, count: usize },
    #[error("hunk {hunk}: the line `{hint}` after @@ is found {count} times in the file, not once")]
    Hint { hunk: usize, hint: String, count: usize },
    #[error("hunk {hunk}: {why}")]
    Other { hunk: usize, why: EditError },
    #[error("the search was ended early")]
    Stopped,
}

/// The text after all hunks, which are applied in order.
pub fn apply(content: &str, hunks: &[Hunk], stop: Stop<'_>) -> Result<String, HunkError> {
    // Every line ends while hunks are applied, so that the last one is a line like others.
    let lacks_end = !content.is_empty() && !content.ends_with('\n');
    let mut text = content.to_owned();
    if lacks_end {
        text.push('\n');
    }
    for (index, hunk) in hunks.iter().enumerate() {
        text = applied(&text, hunk, index + 1, stop)?;
    }
    if lacks_end && text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

fn applied(text: &str, hunk: &Hunk, number: usize, stop: Stop<'_>) -> Result<String, HunkError> {
    let (old, new) = sides(hunk);
    if old == new {
        return Ok(text.to_owned());
    }
    if old.is_empty() {
        return inserted(text, hunk, &new, number);
    }
    let edit = Edit { old: &old, new: &new, all: false };
    let error = match fuzzy::replace_lines(text, edit, None, stop) {
        Ok(edited) => return Ok(edited.content),
        Err(error) => error,
    };
    match (error, &hunk.hint) {
        (EditError::Ambiguous { .. }, Some(hint)) => {
            let after = line_of(text, hint, number)?;
            let edited = fuzzy::replace_lines(text, edit, Some(after), stop);
            edited.map(|edited| edited.content).map_err(|error| failed(error, number, &old))
        }
        (error, _) => Err(failed(error, number, &old)),
    }
}

fn failed(error: EditError, hunk: usize, old: &str) -> HunkError {
    match error {
        EditError::NotFound => HunkError::NotFound { hunk, old: old.to_owned() },
        EditError::Ambiguous { count } => HunkError::Ambiguous { hunk, count },
        EditError::Stopped => HunkError::Stopped,
        why => HunkError::Other { hunk, why },
    }
}

/// The lines before and after, each with its end.
fn sides(hunk: &Hunk) -> (String, String) {
    let (mut old, mut new) = (String::new(), String::new());
    for line in &hunk.lines {
        let (text, is_old, is_new) = match line {
            HunkLine::Context(text) => (text, true, true),
            HunkLine::Removed(text) => (text, true, false),
            HunkLine::Added(text) => (text, false, true),
        };
        for (side, is_part) in [(&mut old, is_old), (&mut new, is_new)] {
            if is_part {
                side.push_str(text);
                side.push('\n');
            }
        }
    }
    (old, new)
}

/// Puts lines without context below the line of the hint, or at the end.
fn inserted(text: &str, hunk: &Hunk, new: &str, number: usize) -> Result<String, HunkError> {
    let at = match &hunk.hint {
        None => text.len(),
        Some(hint) => {
            let start = line_of(text, hint, number)?;
            text[start..].find('\n').map_or(text.len(), |end| start + end + 1)
        }
    };
    Ok(format!("{}{new}{}", &text[..at], &text[at..]))
}

/// The start of the only line that is, or else contains, the hint.
fn line_of(text: &str, hint: &str, hunk: usize) -> Result<usize, HunkError> {
    let mut starts = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        starts.push((start, line.trim()));
        start += line.len();
    }
    let matching = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
        starts.iter().filter(|(_, line)| fits(line)).map(|(start, _)| *start).collect()
    };
    let mut found = matching(&|line| line == hint.trim());
    if found.is_empty() {
        found = matching(&|line| line.contains(hint.trim()));
    }
    match found.as_slice() {
        [only] => Ok(*only),
        found => Err(HunkError::Hint { hunk, hint: hint.to_owned(), count: found.len() }),
    }
}
