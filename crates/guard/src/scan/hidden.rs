//! Invisible characters: zero-width characters, direction marks, tags, runs of variation selectors.
//!
//! Some are legitimate: joiners in emoji and in scripts that use them, tags in flags, direction marks around
//! right-to-left text. A legitimate one is alone and next to a character that needs it, so a message encoded in
//! invisible characters is always found.

mod directions;

use std::ops::Range;

use super::Match;
use super::char_classes::{is_picture, is_selector, marks_line_breaks, uses_joiners};

const BLACK_FLAG: char = '\u{1f3f4}';
const LAST_TAG: char = '\u{e007f}';
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns every run of hidden characters, once for each kind in it.
pub(super) fn find(text: &str) -> Vec<Match> {
    if text.is_ascii() {
        return Vec::new();
    }
    let directions = directions::out_of_place(text);
    let mut direction = directions.iter().copied().peekable();
    let (mut found, mut run) = (Vec::new(), Run::default());
    let mut before = Before::default();
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let is_bad = match char {
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => direction.next_if_eq(&at).is_some(),
            '\u{e0000}'..='\u{e007f}' => {
                let length = before.is_flag_at.then(|| flag_length(&text[at..])).flatten();
                before.flag_end = length.map_or(before.flag_end, |length| at + length);
                at >= before.flag_end
            }
            BYTE_ORDER_MARK => at > 0,
            _ if is_selector(char) => before.char.is_some_and(is_selector),
            _ => is_bad_zero_width(char, &before, chars.peek().map(|(_, next)| *next)),
        };
        if is_bad {
            run.take(char, at, &mut found);
        }
        before.note(char);
    }
    run.finish(&mut found);
    found
}

/// The characters before the current one.
#[derive(Default)]
struct Before {
    char: Option<char>,
    /// The last character that is neither a selector nor a skin tone.
    base: Option<char>,
    is_flag_at: bool,
    flag_end: usize,
}

impl Before {
    fn note(&mut self, char: char) {
        self.is_flag_at = char == BLACK_FLAG;
        self.char = Some(char);
        if !is_selector(char) && !matches!(char, '\u{1f3fb}'..='\u{1f3ff}') {
            self.base = Some(char);
        }
    }
}

fn is_bad_zero_width(char: char, before: &Before, next: Option<char>) -> bool {
    let both = |is: fn(char) -> bool| before.char.is_some_and(is) && next.is_some_and(is);
    let joins_letters = || {
        before.char.is_some_and(uses_joiners)
            || next.is_some_and(uses_joiners)
                && before.char.is_none_or(|char| char.is_whitespace() || char == 'ـ')
    };
    match char {
        '\u{200b}' => !both(marks_line_breaks),
        '\u{200c}' => !joins_letters(),
        '\u{200d}' => {
            !(joins_letters() || before.base.is_some_and(is_picture) && next.is_some_and(is_picture))
        }
        '\u{2060}' | '\u{2062}'..='\u{2064}' => true,
        _ => false,
    }
}

/// The length of the tags of a flag: country, region and end tag.
fn flag_length(text: &str) -> Option<usize> {
    let tags: Vec<char> =
        text.chars().take(7).take_while(|char| matches!(char, '\u{e0000}'..='\u{e007f}')).collect();
    let end = tags.iter().position(|tag| *tag == LAST_TAG)?;
    let is_letter = |tag: &char| matches!(tag, '\u{e0061}'..='\u{e007a}');
    let is_digit = |tag: &char| matches!(tag, '\u{e0030}'..='\u{e0039}');
    let names = &tags[..end];
    let is_flag = (3..=6).contains(&names.len())
        && names[..2].iter().all(is_letter)
        && names[2..].iter().all(|tag| is_letter(tag) || is_digit(tag));
    is_flag.then_some((end + 1) * LAST_TAG.len_utf8())
}

/// Consecutive hidden characters: one match for each kind, over the whole run.
#[derive(Default)]
struct Run {
    at: Range<usize>,
    kinds: Vec<char>,
}

impl Run {
    fn take(&mut self, char: char, at: usize, found: &mut Vec<Match>) {
        if at != self.at.end || self.kinds.is_empty() {
            self.finish(found);
            self.at = at..at;
        }
        self.at.end = at + char.len_utf8();
        // At most a few hundred kinds exist.
        if !self.kinds.contains(&char) {
            self.kinds.push(char);
        }
    }

    fn finish(&mut self, found: &mut Vec<Match>) {
        found.extend(self.kinds.drain(..).map(|char| Match {
            id: format!("{}{:04X}", super::rules::HIDDEN, u32::from(char)),
            at: self.at.clone(),
            cut: self.at.clone(),
        }));
    }
}
