//! Replacing text that the model remembers almost exactly.
//!
//! Nine strategies, from exact to bold, are tried in order; the first one that finds anything
//! decides. Whatever is found must be unique unless every match is wanted, and the new text is
//! indented like the text it replaces.

mod indent;
mod likeness;
mod lines;
mod mapped;
mod strategies;

pub use likeness::alike;

use std::ops::Range;

/// Asked now and then whether to give up.
pub type Stop<'a> = &'a dyn Fn() -> bool;

/// A text to replace and its replacement.
#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    pub old: &'a str,
    pub new: &'a str,
    /// Replace every match instead of asking for a single one.
    pub all: bool,
}

/// An edit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    pub content: String,
    pub count: usize,
    pub strategy: &'static str,
}

/// The reason why an edit was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("old_string is empty")]
    Empty,
    #[error("old_string and new_string are the same")]
    Same,
    #[error("old_string was not found")]
    NotFound,
    #[error("the search for old_string was ended early")]
    Stopped,
    #[error("old_string matches {count} places; add surrounding lines to make it unique, or set replace_all")]
    Ambiguous { count: usize },
    #[error(
        "old_string and new_string contain {escape} where the file has no backslash; send the text without \
         extra escapes"
    )]
    EscapeDrift { escape: &'static str },
}

/// The places of a content that an edit may change.
#[derive(Debug, Clone, Copy)]
enum Places {
    Anywhere,
    /// Whole lines.
    Lines,
    /// The first such lines from this byte on.
    FirstLinesFrom(usize),
}

impl Places {
    fn have(self, content: &str, found: &Range<usize>) -> bool {
        let from = match self {
            Self::Anywhere => return true,
            Self::Lines => 0,
            Self::FirstLinesFrom(from) => from,
        };
        let starts_line = found.start == 0 || content[..found.start].ends_with('\n');
        let ends_line = content[..found.end].ends_with('\n')
            || content[found.end..].is_empty()
            || content[found.end..].starts_with('\n');
        found.start >= from && starts_line && ends_line
    }
}

/// Applies `edit` to `content`.
pub fn replace(content: &str, edit: Edit<'_>, stop: Stop<'_>) -> Result<Edited, EditError> {
    replace_in(Places::Anywhere, content, edit, stop)
}

/// The same for whole lines; the first ones from `after` on, or else the only ones.
pub fn replace_lines(
    content: &str,
    edit: Edit<'_>,
    after: Option<usize>,
    stop: Stop<'_>,
) -> Result<Edited, EditError> {
    replace_in(after.map_or(Places::Lines, Places::FirstLinesFrom), content, edit, stop)
}

fn replace_in(places: Places, content: &str, edit: Edit<'_>, stop: Stop<'_>) -> Result<Edited, EditError> {
    if edit.old.is_empty() {
        return Err(EditError::Empty);
    }
    if edit.old == edit.new {
        return Err(EditError::Same);
    }
    let (strategy, mut matches) = found(content, edit.old, places, stop)?;
    if matches!(places, Places::FirstLinesFrom(_)) {
        matches.truncate(1);
    }
    if matches.len() > 1 && !edit.all {
        return Err(EditError::Ambiguous { count: matches.len() });
    }
    // Where the old text was escaped once too often, so was the new one.
    let (old, new) = match strategy {
        strategies::ESCAPED => (strategies::unescaped(edit.old), strategies::unescaped(edit.new)),
        _ => (edit.old.to_owned(), edit.new.to_owned()),
    };
    if old == new {
        return Err(EditError::Same);
    }
    let edit = Edit { old: &old, new: &new, ..edit };
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

/// The places that the first successful strategy finds, and its name.
fn found(
    content: &str,
    old: &str,
    places: Places,
    stop: Stop<'_>,
) -> Result<(&'static str, Vec<Range<usize>>), EditError> {
    for (name, find) in strategies::ALL {
        let mut matches = find(content, old, stop);
        if stop() {
            return Err(EditError::Stopped);
        }
        matches.retain(|found| places.have(content, found));
        if !matches.is_empty() {
            return Ok((name, matches));
        }
    }
    Err(EditError::NotFound)
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
pub fn nearest(content: &str, old: &str, stop: Stop<'_>) -> Vec<(usize, String)> {
    const LEAST: f32 = 0.5;
    let Some(wanted) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return Vec::new();
    };
    let wanted = likeness::Pattern::of(wanted);
    let mut found: Vec<(f32, usize, &str)> = content
        .lines()
        .enumerate()
        .map(|(index, line)| (wanted.likeness(line.trim(), LEAST, stop), index + 1, line))
        .filter(|(likeness, ..)| *likeness >= LEAST)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.into_iter().take(3).map(|(_, number, line)| (number, line.to_owned())).collect()
}

#[cfg(test)]
#[path = "fuzzy_tests.rs"]
mod tests;
