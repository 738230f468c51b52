//! Nine ways to find a text, from exact to bold.

use super::Stop;
use super::likeness::Pattern;
use super::lines::Wanted;
use super::mapped::{Mapped, ascii_punctuation, blanks_joined};
use std::ops::Range;

/// Finds the ranges of a content that a text may refer to. The result after a stop request is meaningless.
pub(super) type Find = fn(&str, &str, Stop<'_>) -> Vec<Range<usize>>;

pub(super) const EXACT: &str = "exact";
pub(super) const ESCAPED: &str = "escape_normalized";

/// In the order in which they are tried.
pub(super) const ALL: [(&str, Find); 9] = [
    (EXACT, exact),
    ("line_trimmed", line_trimmed),
    ("whitespace_normalized", whitespace_normalized),
    ("indentation_flexible", indentation_flexible),
    (ESCAPED, escape_normalized),
    ("trimmed_boundary", trimmed_boundary),
    ("unicode_normalized", unicode_normalized),
    ("block_anchor", block_anchor),
    ("context_aware", context_aware),
];

fn exact(content: &str, old: &str, _: Stop<'_>) -> Vec<Range<usize>> {
    content.match_indices(old).map(|(start, hit)| start..start + hit.len()).collect()
}

fn line_trimmed(content: &str, old: &str, stop: Stop<'_>) -> Vec<Range<usize>> {
    by_line(content, old, stop, str::trim)
}

fn whitespace_normalized(content: &str, old: &str, _: Stop<'_>) -> Vec<Range<usize>> {
    let wanted = blanks_joined(old);
    if wanted.plain().trim().is_empty() {
        return Vec::new();
    }
    blanks_joined(content).find(wanted.plain())
}

fn indentation_flexible(content: &str, old: &str, stop: Stop<'_>) -> Vec<Range<usize>> {
    by_line(content, old, stop, str::trim_start)
}

fn escape_normalized(content: &str, old: &str, stop: Stop<'_>) -> Vec<Range<usize>> {
    let plain = unescaped(old);
    if plain == old { Vec::new() } else { exact(content, &plain, stop) }
}

/// Line ends and tabs that were escaped once too often on their way here.
pub(super) fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
}

fn trimmed_boundary(content: &str, old: &str, stop: Stop<'_>) -> Vec<Range<usize>> {
    let wanted = Wanted::of(old);
    let last = wanted.lines.len() - 1;
    wanted.windows(content, stop, |window| {
        window.iter().zip(&wanted.lines).enumerate().all(|(index, (line, wanted))| {
            if index == 0 || index == last { line.trim() == wanted.trim() } else { line == wanted }
        })
    })
}

fn unicode_normalized(content: &str, old: &str, _: Stop<'_>) -> Vec<Range<usize>> {
    let wanted: Mapped = ascii_punctuation(old);
    ascii_punctuation(content).find(wanted.plain())
}

/// First and last line are certain, what is between them is similar.
fn block_anchor(content: &str, old: &str, stop: Stop<'_>) -> Vec<Range<usize>> {
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
    let candidates = wanted.windows(content, stop, anchored).len();
    let least = if candidates > 1 { 0.7 } else { 0.5 };
    let middle = middle.join("\n");
    let middle = Pattern::of(&middle);
    wanted.windows(content, stop, |window| {
        anchored(window) && middle.likeness(&window[1..window.len() - 1].join("\n"), least, stop) >= least
    })
}

/// At least half of the lines are very similar.
fn context_aware(content: &str, old: &str, stop: Stop<'_>) -> Vec<Range<usize>> {
    const ALIKE: f32 = 0.8;
    let wanted = Wanted::of(old);
    // Blank lines are alike everywhere and say nothing.
    let patterns: Vec<Option<Pattern<'_>>> = wanted
        .lines
        .iter()
        .map(|line| Some(line.trim()).filter(|line| !line.is_empty()).map(Pattern::of))
        .collect();
    let most_unlike = wanted.lines.len() / 2;
    wanted.windows(content, stop, |window| {
        let mut unlike = 0;
        for (line, pattern) in window.iter().zip(&patterns) {
            let alike =
                pattern.as_ref().is_some_and(|pattern| pattern.likeness(line.trim(), ALIKE, stop) >= ALIKE);
            unlike += usize::from(!alike);
            if unlike > most_unlike {
                return false;
            }
        }
        unlike < window.len()
    })
}

/// Windows whose lines equal the wanted ones once both went through `plain`.
fn by_line(content: &str, old: &str, stop: Stop<'_>, plain: fn(&str) -> &str) -> Vec<Range<usize>> {
    let wanted = Wanted::of(old);
    wanted.windows(content, stop, |window| {
        window.iter().zip(&wanted.lines).all(|(line, wanted)| plain(line) == plain(wanted))
    })
}
