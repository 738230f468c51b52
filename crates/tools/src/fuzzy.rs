//! Replacing text that the model remembers almost exactly.
//!
//! Nine strategies, from exact to bold, are tried in order; the first one that finds anything
//! decides. Whatever is found must be unique unless every match is wanted, and the new text is
//! indented like the text it replaces.

mod indent;
mod lines;
mod mapped;
mod strategies;

use std::ops::Range;

/// What is to be replaced by what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    /// Replace every match instead of asking for a single one.
    pub(crate) all: bool,
}

/// An edit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) content: String,
    pub(crate) count: usize,
    pub(crate) strategy: &'static str,
}

/// Why an edit was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    #[error("old_string is empty")]
    Empty,
    #[error("old_string and new_string are the same")]
    Same,
    #[error("old_string was not found")]
    NotFound,
    #[error("old_string matches {count} places; add surrounding lines to make it unique, or set replace_all")]
    Ambiguous { count: usize },
    #[error(
        "old_string and new_string contain {escape} where the file has no backslash; send the text without \
         extra escapes"
    )]
    EscapeDrift { escape: &'static str },
}

/// Applies `edit` to `content`.
pub(crate) fn replace(content: &str, edit: Edit<'_>) -> Result<Edited, EditError> {
    if edit.old.is_empty() {
        return Err(EditError::Empty);
    }
    if edit.old == edit.new {
        return Err(EditError::Same);
    }
    let (strategy, matches) = strategies::ALL
        .iter()
        .map(|(name, find)| (*name, find(content, edit.old)))
        .find(|(_, matches)| !matches.is_empty())
        .ok_or(EditError::NotFound)?;
    if matches.len() > 1 && !edit.all {
        return Err(EditError::Ambiguous { count: matches.len() });
    }
    let exact = strategy == strategies::EXACT;
    if !exact && let Some(escape) = drifted_escape(content, edit, &matches) {
        return Err(EditError::EscapeDrift { escape });
    }
    let mut edited = String::with_capacity(content.len() + edit.new.len());
    let mut after = 0;
    for found in &matches {
        edited.push_str(&content[after..found.start]);
        if exact {
            edited.push_str(edit.new);
        } else {
            edited.push_str(&indent::fitted(content, found, edit));
        }
        after = found.end;
    }
    edited.push_str(&content[after..]);
    Ok(Edited { content: edited, count: matches.len(), strategy })
}

/// A quote that was escaped on its way through JSON once too often: in both texts of the edit
/// but nowhere in what it matched.
fn drifted_escape(content: &str, edit: Edit<'_>, matches: &[Range<usize>]) -> Option<&'static str> {
    ["\\'", "\\\""].into_iter().find(|escape| {
        edit.old.contains(escape)
            && edit.new.contains(escape)
            && !matches.iter().any(|found| content[found.clone()].contains(escape))
    })
}

/// The lines of `content` most like the first line of `old`, for a hint.
pub(crate) fn nearest(content: &str, old: &str) -> Vec<(usize, String)> {
    let Some(wanted) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return Vec::new();
    };
    let mut found: Vec<(f32, usize, &str)> = content
        .lines()
        .enumerate()
        .map(|(index, line)| (lines::likeness(line.trim(), wanted, 0.5), index + 1, line))
        .filter(|(likeness, ..)| *likeness >= 0.5)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.into_iter().take(3).map(|(_, number, line)| (number, line.to_owned())).collect()
}

#[cfg(test)]
#[path = "fuzzy/tests.rs"]
mod tests;
