//! The position of the walk: its sentence, line, HTML comment and tag.
//!
//! A phrase does not continue in the next sentence. A sentence ends at a full stop, an empty line, or the next
//! list item. A single word does not count as a sentence, so full stops or empty lines between the words of a
//! phrase do not hide it.

use crate::scan::char_classes::has_no_blanks;
use crate::scan::normal_form::NormalForm;
use crate::scan::rules::Within;

pub(super) struct Position<'a> {
    text: &'a str,
    view: &'a NormalForm,
    sentence: usize,
    /// Words since the last full stop.
    words_in_sentence: usize,
    line: usize,
    is_line_continued: bool,
    /// Line breaks since the last character that was not white space.
    breaks: usize,
    comment: Span,
    tag: Span,
}

/// A comment or a tag: its number, its start in the original, and its state.
#[derive(Default)]
struct Span {
    number: usize,
    start: usize,
    is_open: bool,
}

impl Span {
    fn open(&mut self, start: usize) {
        *self = Self { number: self.number + 1, start, is_open: true };
    }

    fn current(&self) -> usize {
        if self.is_open { self.number } else { 0 }
    }
}

impl<'a> Position<'a> {
    pub(super) fn new(text: &'a str, view: &'a NormalForm) -> Self {
        Self {
            text,
            view,
            sentence: 1,
            words_in_sentence: 0,
            line: 1,
            is_line_continued: false,
            breaks: 0,
            comment: Span::default(),
            tag: Span::default(),
        }
    }

    /// The number of the unit that a phrase must not leave; 0 outside of such a unit.
    pub(super) fn number(&self, within: Within) -> usize {
        match within {
            Within::Sentence => self.sentence,
            Within::Line => self.line,
            Within::Comment => self.comment.current(),
            Within::Tag => self.tag.current(),
        }
    }

    pub(super) fn comment_start(&self) -> usize {
        self.comment.start
    }

    pub(super) fn tag_start(&self) -> usize {
        self.tag.start
    }

    pub(super) fn count_word(&mut self) {
        self.words_in_sentence += 1;
    }

    pub(super) fn enter(&mut self, at: usize, char: char) {
        if char.is_whitespace() {
            self.pass_blank(char);
            return;
        }
        if self.breaks > 0 && self.begins_anew(at, char) {
            self.end_sentence();
        }
        self.breaks = 0;
        self.is_line_continued = char == '\\';
        match char {
            '.' | '!' | '?' | ';' if self.is_stop(at) => self.end_sentence(),
            '。' => self.end_sentence(),
            '<' if self.follows(at, "!--") => self.comment.open(self.view.place(at)),
            '<' if self.view.get(at + 1).is_some_and(char::is_alphabetic) => {
                self.tag.open(self.view.place(at))
            }
            '>' => {
                self.tag.is_open = false;
                let ends_comment = at >= 2 && (at - 2..at).all(|index| self.view.get(index) == Some('-'));
                self.comment.is_open &= !ends_comment;
            }
            _ => {}
        }
    }

    fn pass_blank(&mut self, char: char) {
        if char != '\n' {
            return;
        }
        self.breaks += 1;
        if !self.is_line_continued {
            self.line += 1;
        }
        self.is_line_continued = false;
    }

    fn end_sentence(&mut self) {
        self.sentence += usize::from(self.words_in_sentence > 1);
        self.words_in_sentence = 0;
    }

    /// Returns true if a list item or heading begins here or, after an empty line, a new paragraph.
    fn begins_anew(&self, at: usize, char: char) -> bool {
        let next = self.view.get(at + 1);
        let is_item = match char {
            '-' | '*' | '+' => next.is_some_and(char::is_whitespace),
            '#' => true,
            '0'..='9' => matches!(next, Some('.' | ')')),
            _ => false,
        };
        let original = self.text.get(self.view.place(at)..).and_then(|rest| rest.chars().next());
        is_item || self.breaks > 1 && !original.is_some_and(char::is_lowercase)
    }

    fn is_stop(&self, at: usize) -> bool {
        self.view.get(at + 1).is_none_or(|next| {
            next.is_whitespace() || has_no_blanks(next) || matches!(next, '"' | '\'' | ')' | '*' | '`' | '”')
        })
    }

    fn follows(&self, at: usize, text: &str) -> bool {
        text.chars().enumerate().all(|(offset, char)| self.view.get(at + 1 + offset) == Some(char))
    }
}
