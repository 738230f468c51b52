//! Text as lines.

use super::Stop;
use std::ops::Range;

/// Windows between two questions whether to stop.
const BETWEEN: usize = 1024;

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
    /// that are all blank would fit anywhere, so they are not looked for. Ends early when `stop`
    /// says so.
    pub(super) fn windows(
        &self,
        content: &str,
        stop: Stop<'_>,
        fits: impl Fn(&[&str]) -> bool,
    ) -> Vec<Range<usize>> {
        if self.lines.iter().all(|line| line.trim().is_empty()) {
            return Vec::new();
        }
        let lines = Lines::of(content);
        let count = self.lines.len();
        let (mut found, mut first) = (Vec::new(), 0);
        while first + count <= lines.texts.len() {
            if first % BETWEEN == 0 && stop() {
                break;
            }
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
