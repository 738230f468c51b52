//! Nine ways to find a text, from exact to bold.

use super::lines::{Wanted, likeness};
use super::mapped::{Mapped, ascii_punctuation, blanks_joined};
use std::ops::Range;

/// Finds the places in a content where a text is meant.
pub(super) type Find = fn(&str, &str) -> Vec<Range<usize>>;

pub(super) const EXACT: &str = "exact";

/// In the order in which they are tried.
pub(super) const ALL: [(&str, Find); 9] = [
    (EXACT, exact),
    ("line_trimmed", line_trimmed),
    ("whitespace_normalized", whitespace_normalized),
    ("indentation_flexible", indentation_flexible),
    ("escape_normalized", escape_normalized),
    ("trimmed_boundary", trimmed_boundary),
    ("unicode_normalized", unicode_normalized),
    ("block_anchor", block_anchor),
    ("context_aware", context_aware),
];

fn exact(content: &str, old: &str) -> Vec<Range<usize>> {
    content.match_indices(old).map(|(start, hit)| start..start + hit.len()).collect()
}

fn line_trimmed(content: &str, old: &str) -> Vec<Range<usize>> {
    by_line(content, old, str::trim)
}

fn whitespace_normalized(content: &str, old: &str) -> Vec<Range<usize>> {
    let wanted = blanks_joined(old);
    if wanted.plain().trim().is_empty() {
        return Vec::new();
    }
    blanks_joined(content).find(wanted.plain())
}

fn indentation_flexible(content: &str, old: &str) -> Vec<Range<usize>> {
    by_line(content, old, str::trim_start)
}

fn escape_normalized(content: &str, old: &str) -> Vec<Range<usize>> {
    let plain = old.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r");
    if plain == old { Vec::new() } else { exact(content, &plain) }
}

fn trimmed_boundary(content: &str, old: &str) -> Vec<Range<usize>> {
    let wanted = Wanted::of(old);
    let last = wanted.lines.len() - 1;
    wanted.windows(content, |window| {
        window.iter().zip(&wanted.lines).enumerate().all(|(index, (line, wanted))| {
            if index == 0 || index == last { line.trim() == wanted.trim() } else { line == wanted }
        })
    })
}

fn unicode_normalized(content: &str, old: &str) -> Vec<Range<usize>> {
    let wanted: Mapped = ascii_punctuation(old);
    ascii_punctuation(content).find(wanted.plain())
}

/// First and last line are certain, what is between them is similar.
fn block_anchor(content: &str, old: &str) -> Vec<Range<usize>> {
    let wanted = Wanted::of(old);
    let [first, middle @ .., last] = wanted.lines.as_slice() else {
        return Vec::new();
    };
    if middle.is_empty() || first.trim().is_empty() || last.trim().is_empty() {
        return Vec::new();
    }
    let anchored = |window: &[&str]| {
        window.first().is_some_and(|line| line.trim() == first.trim())
            && window.last().is_some_and(|line| line.trim() == last.trim())
    };
    let candidates = wanted.windows(content, anchored).len();
    let least = if candidates > 1 { 0.7 } else { 0.5 };
    let middle = middle.join("\n");
    wanted.windows(content, |window| {
        anchored(window) && likeness(&window[1..window.len() - 1].join("\n"), &middle, least) >= least
    })
}

/// At least half of the lines are very similar.
fn context_aware(content: &str, old: &str) -> Vec<Range<usize>> {
    const ALIKE: f32 = 0.8;
    let wanted = Wanted::of(old);
    wanted.windows(content, |window| {
        let alike = window
            .iter()
            .zip(&wanted.lines)
            // Blank lines are alike everywhere and say nothing.
            .filter(|(line, wanted)| {
                !wanted.trim().is_empty() && likeness(line.trim(), wanted.trim(), ALIKE) >= ALIKE
            })
            .count();
        alike > 0 && alike * 2 >= wanted.lines.len()
    })
}

/// Windows whose lines equal the wanted ones once both went through `plain`.
fn by_line(content: &str, old: &str, plain: fn(&str) -> &str) -> Vec<Range<usize>> {
    let wanted = Wanted::of(old);
    wanted.windows(content, |window| {
        window.iter().zip(&wanted.lines).all(|(line, wanted)| plain(line) == plain(wanted))
    })
}
