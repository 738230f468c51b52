//! Giving new text the indentation of the text it replaces.
//!
//! The model's idea of the indentation is read off the old text: what its first line has too
//! much or too little is corrected in every new line. Where the model indents with spaces and
//! the file with tabs, or the other way round, steps are translated.

use super::Edit;
use std::ops::Range;

/// The new text of `edit`, indented to fit the place `found` in `content`.
pub(super) fn fitted(content: &str, found: &Range<usize>, edit: Edit<'_>) -> String {
    let starts_line = found.start == 0 || content.as_bytes()[found.start - 1] == b'\n';
    if !starts_line {
        return edit.new.to_owned();
    }
    let place = &content[found.clone()];
    let base = Base { believed: first_indent(edit.old), actual: first_indent(place) };
    let steps = Steps::between(content, place, edit, base);
    if steps.is_none() && base.believed == base.actual {
        return edit.new.to_owned();
    }
    let lines: Vec<String> = edit
        .new
        .split('\n')
        .map(|line| match steps {
            _ if line.trim().is_empty() => line.to_owned(),
            Some(steps) => steps.translated(line, base),
            None => moved(line, base),
        })
        .collect();
    lines.join("\n")
}

/// The indentation of the block's first line, in the edit and in the file.
#[derive(Debug, Clone, Copy)]
struct Base<'a> {
    believed: &'a str,
    actual: &'a str,
}

fn moved(line: &str, base: Base<'_>) -> String {
    let (own, text) = split(line);
    match own.strip_prefix(base.believed) {
        Some(deeper) => format!("{}{deeper}{text}", base.actual),
        // A line that is less indented than the block moves left by as much.
        None => {
            let missing = base.believed.len().saturating_sub(own.len());
            let kept = base.actual.len().saturating_sub(missing);
            format!("{}{text}", &base.actual[..kept])
        }
    }
}

/// The unit of indentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Tab,
    Space,
}

impl Unit {
    /// The common unit of indentation of all `lines`; `None` if they do not agree or are not indented.
    fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut found = None;
        for own in lines.filter(|line| !line.trim().is_empty()).map(indent) {
            let unit = match (own.contains('\t'), own.contains(' ')) {
                (false, false) => continue,
                (true, false) => Self::Tab,
                (false, true) => Self::Space,
                (true, true) => return None,
            };
            if found.is_some_and(|found| found != unit) {
                return None;
            }
            found = Some(unit);
        }
        found
    }
}

/// The conversion from an edit's indentation to the file's.
#[derive(Debug, Clone, Copy)]
enum Steps {
    /// So many spaces of the edit are one tab of the file.
    IntoTabs(usize),
    /// One tab of the edit is so many spaces of the file.
    IntoSpaces(usize),
}

impl Steps {
    /// `None` when edit and file indent with the same, or one of them does not say.
    fn between(content: &str, place: &str, edit: Edit<'_>, base: Base<'_>) -> Option<Self> {
        let edits = || edit.old.lines().chain(edit.new.lines());
        let file = Unit::of(place.lines()).or_else(|| Unit::of(content.lines()))?;
        match (Unit::of(edits())?, file) {
            (Unit::Space, Unit::Tab) => {
                let width = paired_width(edit.old, place, base);
                Some(Self::IntoTabs(width.or_else(|| step(edits(), base.believed.len())).unwrap_or(4)))
            }
            (Unit::Tab, Unit::Space) => {
                let width =
                    paired_width(place, edit.old, Base { believed: base.actual, actual: base.believed });
                let width = width.or_else(|| step(place.lines(), base.actual.len()));
                Some(Self::IntoSpaces(width.or_else(|| step(content.lines(), 0)).unwrap_or(4)))
            }
            (Unit::Tab, Unit::Tab) | (Unit::Space, Unit::Space) => None,
        }
    }

    fn translated(self, line: &str, base: Base<'_>) -> String {
        let (own, text) = split(line);
        let (own, believed, actual) = (own.len(), base.believed.len(), base.actual.len());
        let indent = match self {
            Self::IntoTabs(width) => {
                // What is no whole step stays as it is: it aligns rather than indents.
                let (steps, rest) = (own.abs_diff(believed) / width, own.abs_diff(believed) % width);
                match own >= believed {
                    true => format!("{}{}", "\t".repeat(actual + steps), " ".repeat(rest)),
                    false => "\t".repeat(actual.saturating_sub(steps)),
                }
            }
            Self::IntoSpaces(width) => " ".repeat((actual + own * width).saturating_sub(believed * width)),
        };
        format!("{indent}{text}")
    }
}

/// Spaces per tab, where a line of `spaced` and the same line of `tabbed` are both indented
/// differently from the first.
fn paired_width(spaced: &str, tabbed: &str, base: Base<'_>) -> Option<usize> {
    spaced.lines().zip(tabbed.lines()).find_map(|(spaced, tabbed)| {
        let spaces = indent(spaced).len().abs_diff(base.believed.len());
        let tabs = indent(tabbed).len().abs_diff(base.actual.len());
        (spaced.trim() == tabbed.trim() && spaces > 0 && tabs > 0 && spaces.is_multiple_of(tabs))
            .then(|| spaces / tabs)
    })
}

/// The largest step of which all differences to `base` are made; `None` if it is a single
/// column, which is alignment.
fn step<'a>(lines: impl Iterator<Item = &'a str>, base: usize) -> Option<usize> {
    let widths = lines.filter(|line| !line.trim().is_empty()).map(|line| indent(line).len().abs_diff(base));
    Some(widths.fold(0, common_divisor)).filter(|step| *step > 1)
}

fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

fn first_indent(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).map_or("", indent)
}

fn indent(line: &str) -> &str {
    split(line).0
}

fn split(line: &str) -> (&str, &str) {
    line.split_at(line.len() - line.trim_start_matches([' ', '\t']).len())
}
