//! Giving new text the indentation of the text it replaces.

use super::Edit;
use std::ops::Range;

/// The new text of `edit`, indented to fit the place `found` in `content`.
///
/// The model's idea of the indentation is read off the old text: what its first line has too
/// much or too little is corrected in every new line.
pub(super) fn fitted(content: &str, found: &Range<usize>, edit: Edit<'_>) -> String {
    let starts_line = found.start == 0 || content.as_bytes()[found.start - 1] == b'\n';
    let (believed, actual) = (first_indent(edit.old), first_indent(&content[found.clone()]));
    if !starts_line || believed == actual {
        return edit.new.to_owned();
    }
    let lines: Vec<String> = edit.new.split('\n').map(|line| moved(line, believed, actual)).collect();
    lines.join("\n")
}

fn moved(line: &str, believed: &str, actual: &str) -> String {
    if line.trim().is_empty() {
        return line.to_owned();
    }
    let own = indent(line);
    match own.strip_prefix(believed) {
        Some(deeper) => format!("{actual}{deeper}{}", &line[own.len()..]),
        // A line that is less indented than the block moves left by as much.
        None => {
            let missing = believed.len().saturating_sub(own.len());
            let kept = actual.len().saturating_sub(missing);
            format!("{}{}", &actual[..kept], &line[own.len()..])
        }
    }
}

fn first_indent(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).map_or("", indent)
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
