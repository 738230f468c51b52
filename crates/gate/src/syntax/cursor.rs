//! The position in a text, and the state that all parts of the parser share.

use super::heredoc::Pending;
use crate::limits::{MAX_DEPTH, Spent, Unreadable};

/// A parser at a position in a text.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) position: usize,
    pub(super) depth: usize,
    pub(super) spent: Spent,
    /// Here-documents whose bodies begin at the next line end.
    pub(super) pending: Vec<Pending>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, depth: usize, spent: Spent) -> Result<Self, Unreadable> {
        let mut parser = Self { text, position: 0, depth, spent, pending: Vec::new() };
        parser.spent.read(text.len())?;
        if depth > MAX_DEPTH { Err(Unreadable::TooDeep) } else { Ok(parser) }
    }

    /// Runs `parse` one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, Unreadable>,
    ) -> Result<T, Unreadable> {
        if self.depth >= MAX_DEPTH {
            return Err(Unreadable::TooDeep);
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, offset: usize) -> Option<u8> {
        self.text.as_bytes().get(self.position + offset).copied()
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.rest().as_bytes().starts_with(text.as_bytes())
    }

    /// Moves over `text` if it is next.
    pub(super) fn accept(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.position += text.len();
        }
        found
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<(), Unreadable> {
        if self.accept(text) { Ok(()) } else { Err(Unreadable::Syntax) }
    }

    /// The next character, which is moved over.
    pub(super) fn take_character(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.position += character.len_utf8();
        Some(character)
    }

    /// The longest run of bytes that satisfy `is_part`; ends on a character boundary for ASCII conditions.
    pub(super) fn take_while(&mut self, is_part: impl Fn(u8) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.bytes().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        self.position += length;
        rest.get(..length).unwrap_or_default()
    }

    /// Skips blanks, joined lines and a comment, but not the line end.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.position += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.position += 2,
                Some(b'#') if self.is_word_start() => {
                    self.take_while(|byte| byte != b'\n');
                }
                _ => return,
            }
        }
    }

    /// Skips blanks and line ends, reading the here-documents that begin there.
    pub(super) fn skip_lines(&mut self) -> Result<(), Unreadable> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.position += 1;
            self.read_heredocs()?;
        }
    }

    fn is_word_start(&self) -> bool {
        let before = self.position.checked_sub(1).and_then(|at| self.text.as_bytes().get(at));
        before.is_none_or(|byte| is_meta(*byte) || *byte == b'`')
    }
}

/// Returns true for the bytes that end a word.
pub(super) fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

pub(super) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
