//! Text as lines, and how alike two lines are.

use similar::TextDiff;
use std::ops::Range;

/// Lines with the places they come from.
pub(super) struct Lines<'a> {
    pub(super) texts: Vec<&'a str>,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let (mut texts, mut starts, mut start) = (Vec::new(), Vec::new(), 0);
        for line in text.split('\n') {
            texts.push(line);
            starts.push(start);
            start += line.len() + 1;
        }
        Self { texts, starts }
    }

    /// The bytes of `count` lines from `first`, without the last line's end.
    pub(super) fn range(&self, first: usize, count: usize) -> Range<usize> {
        let last = first + count - 1;
        self.starts[first]..self.starts[last] + self.texts[last].len()
    }
}

/// The lines a model asked for. A line end after the last one is kept apart, so that it does
/// not look like an empty line.
pub(super) struct Wanted<'a> {
    pub(super) lines: Vec<&'a str>,
    ends_line: bool,
}

impl<'a> Wanted<'a> {
    pub(super) fn of(old: &'a str) -> Self {
        let body = old.strip_suffix('\n').unwrap_or(old);
        Self { lines: body.split('\n').collect(), ends_line: body.len() < old.len() }
    }

    /// Windows of as many lines as are wanted for which `fits` holds, none overlapping. Lines
    /// that are all blank would fit anywhere, so they are not looked for.
    pub(super) fn windows(&self, content: &str, fits: impl Fn(&[&str]) -> bool) -> Vec<Range<usize>> {
        if self.lines.iter().all(|line| line.trim().is_empty()) {
            return Vec::new();
        }
        let lines = Lines::of(content);
        let count = self.lines.len();
        let (mut found, mut first) = (Vec::new(), 0);
        while first + count <= lines.texts.len() {
            if !fits(&lines.texts[first..first + count]) {
                first += 1;
                continue;
            }
            let mut range = lines.range(first, count);
            if self.ends_line && range.end < content.len() {
                range.end += 1;
            }
            found.push(range);
            first += count;
        }
        found
    }
}

/// How alike two lines are, from 0 to 1. Answers 0 without looking closely when a cheap bound
/// rules out `least`.
pub(super) fn likeness(a: &str, b: &str, least: f32) -> f32 {
    if a == b {
        return 1.0;
    }
    if a.is_empty() || b.is_empty() || at_most(a, b) < least {
        return 0.0;
    }
    TextDiff::from_chars(a, b).ratio()
}

/// A cheap upper bound of the likeness: the bytes both have, in any order. It spares a diff
/// for nearly every pair of lines in a large file.
fn at_most(a: &str, b: &str) -> f32 {
    if !a.is_ascii() || !b.is_ascii() {
        return 1.0;
    }
    let mut counts = [0i32; 128];
    for byte in a.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let mut common = 0;
    for byte in b.bytes() {
        let count = &mut counts[usize::from(byte)];
        common += i32::from(*count > 0);
        *count -= 1;
    }
    2.0 * common as f32 / (a.len() + b.len()) as f32
}
