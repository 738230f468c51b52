//! Quoted text: single, double and ANSI-C quotes.

use super::cursor::Parser;
use super::tree::{Part, Word};
use crate::limits::Unreadable;

/// The end of a text in which only `$`, backticks and backslashes are special.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Quote,
    /// End of the text: here-documents and arithmetic.
    Text,
}

impl Parser<'_> {
    pub(super) fn single_quoted(&mut self) -> Result<Part, Unreadable> {
        self.expect("'")?;
        let text = self.take_while(|byte| byte != b'\'').to_owned();
        self.expect("'")?;
        Ok(Part::Quoted(text))
    }

    pub(super) fn double_quoted(&mut self) -> Result<Vec<Part>, Unreadable> {
        self.expect("\"")?;
        let mut parts = self.nested(|parser| parser.soft_quoted(End::Quote))?;
        self.expect("\"")?;
        if parts.is_empty() {
            parts.push(Part::Quoted(String::new()));
        }
        Ok(parts)
    }

    /// Parses a text that stands on its own, such as the body of a here-document.
    pub(super) fn text_with_expansions(&mut self, text: &str) -> Result<Word, Unreadable> {
        let mut inner = Parser::new(text, self.depth, self.spent)?;
        let parts = inner.soft_quoted(End::Text)?;
        self.spent = inner.spent;
        Ok(Word { parts })
    }

    pub(super) fn soft_quoted(&mut self, end: End) -> Result<Vec<Part>, Unreadable> {
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            match self.peek() {
                None => break,
                Some(b'"') if end == End::Quote => break,
                Some(b'\\') => {
                    self.position += 1;
                    let next = self.take_character();
                    match next {
                        Some('\n') => {}
                        Some(character @ ('$' | '`' | '\\')) => text.push(character),
                        Some('"') if end == End::Quote => text.push('"'),
                        Some(character) => text.extend(['\\', character]),
                        None => text.push('\\'),
                    }
                }
                Some(b'$' | b'`') => {
                    let part = self.expansion(true)?;
                    if let Part::Literal(literal) = part {
                        text.push_str(&literal);
                    } else {
                        push_quoted(&mut parts, &mut text);
                        parts.push(part);
                    }
                }
                Some(_) => text.push_str(self.take_while(|byte| !matches!(byte, b'"' | b'\\' | b'$' | b'`'))),
            }
            if end == End::Text && self.peek() == Some(b'"') {
                self.position += 1;
                text.push('"');
            }
        }
        push_quoted(&mut parts, &mut text);
        Ok(parts)
    }

    /// Reads `$'...'`; the position is at the quote.
    pub(super) fn ansi_quoted(&mut self) -> Result<Part, Unreadable> {
        self.expect("'")?;
        let mut bytes = Vec::new();
        loop {
            let character = self.take_character().ok_or(Unreadable::Syntax)?;
            match character {
                '\'' => break,
                '\\' => self.ansi_escape(&mut bytes)?,
                _ => bytes.extend(character.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
        // A NUL ends the text, as in bash.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let end = text.find('\0').unwrap_or(text.len());
        Ok(Part::Quoted(text.get(..end).unwrap_or_default().to_owned()))
    }

    fn ansi_escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), Unreadable> {
        let escape = self.take_character().ok_or(Unreadable::Syntax)?;
        let byte = match escape {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'v' => 11,
            '\\' | '\'' | '"' | '?' => escape as u8,
            'x' => self.number(16, 2).map_or(b'x', |value| value as u8),
            '0'..='7' => {
                self.position -= 1;
                self.number(8, 3).map_or(0, |value| value as u8)
            }
            'u' | 'U' => {
                let value = self.number(16, if escape == 'u' { 4 } else { 8 }).and_then(char::from_u32);
                bytes.extend(value.unwrap_or('?').encode_utf8(&mut [0; 4]).bytes());
                return Ok(());
            }
            'c' => self.take_character().map_or(0, |control| control as u8 & 0x1f),
            other => {
                bytes.push(b'\\');
                bytes.extend(other.encode_utf8(&mut [0; 4]).bytes());
                return Ok(());
            }
        };
        bytes.push(byte);
        Ok(())
    }

    fn number(&mut self, radix: u32, digits: usize) -> Option<u32> {
        let start = self.position;
        while self.position < start + digits
            && self.peek().is_some_and(|byte| char::from(byte).is_digit(radix))
        {
            self.position += 1;
        }
        u32::from_str_radix(self.text.get(start..self.position)?, radix).ok()
    }
}

fn push_quoted(parts: &mut Vec<Part>, text: &mut String) {
    if !text.is_empty() {
        parts.push(Part::Quoted(std::mem::take(text)));
    }
}
