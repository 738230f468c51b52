//! Words: text up to a blank or an operator, with quotes and expansions in it.

use super::cursor::{Parser, is_meta, is_name, is_name_start};
use super::tree::{Assignment, Part, Word};
use crate::limits::Unreadable;
use std::rc::Rc;

/// The place of a word, which decides what ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Command,
    /// The value of an assignment: braces are literal.
    Value,
    /// The right side of `=~`.
    Regex,
}

impl Parser<'_> {
    /// Reads a word, or returns `None` at an operator.
    pub(super) fn word(&mut self, place: Place) -> Result<Option<Word>, Unreadable> {
        let mut word = Builder { parts: Vec::new(), text: String::new() };
        let start = self.position;
        let mut parentheses = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' | b')' | b'|' | b' ' | b'<' | b'>' if place == Place::Regex => {
                    match byte {
                        b'(' => parentheses += 1,
                        b')' => parentheses = parentheses.saturating_sub(1),
                        b' ' if parentheses == 0 => break,
                        _ => {}
                    }
                    self.position += 1;
                    word.text.push(char::from(byte));
                }
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    self.position += 1;
                    let script = Rc::new(self.parenthesised()?);
                    word.push(Part::Process { script, is_output: byte == b'>' });
                }
                b'(' if word.is_pattern_prefix() => self.pattern_group(&mut word)?,
                b'(' if place == Place::Command && word.is_assignment() => {
                    let elements = self.array()?;
                    word.push(Part::Array(elements));
                }
                _ if is_meta(byte) => break,
                _ => self.word_part(byte, place, &mut word)?,
            }
        }
        if self.position == start {
            return Ok(None);
        }
        self.spent.word()?;
        Ok(Some(word.finish()))
    }

    fn word_part(&mut self, byte: u8, place: Place, word: &mut Builder) -> Result<(), Unreadable> {
        match byte {
            b'\\' => {
                self.position += 1;
                match self.take_character() {
                    Some('\n') => {}
                    Some(character) => word.push(Part::Quoted(character.into())),
                    None => word.push(Part::Quoted("\\".into())),
                }
            }
            b'\'' => {
                let part = self.single_quoted()?;
                word.push(part);
            }
            b'"' => {
                for part in self.double_quoted()? {
                    word.push(part);
                }
            }
            b'$' if self.peek_at(1) == Some(b'\'') => {
                self.position += 1;
                let part = self.ansi_quoted()?;
                word.push(part);
            }
            b'$' if self.peek_at(1) == Some(b'"') => self.position += 1,
            b'$' | b'`' => {
                let part = self.expansion(false)?;
                word.push(part);
            }
            b'{' | b'}' | b',' if place == Place::Command => {
                self.position += 1;
                word.push(match byte {
                    b'{' => Part::BraceOpen,
                    b'}' => Part::BraceClose,
                    _ => Part::BraceComma,
                });
            }
            b'~' if word.is_tilde_place(place) => {
                self.position += 1;
                let user = self.take_while(|byte| is_name(byte) || b".-+".contains(&byte)).to_owned();
                word.push(Part::Tilde(user));
            }
            b'~' => {
                self.position += 1;
                word.text.push('~');
            }
            _ => {
                let special = |byte: u8| is_meta(byte) || b"\\'\"$`{},~".contains(&byte);
                let run = self.take_while(|byte| !special(byte));
                if run.is_empty() {
                    word.text.extend(self.take_character());
                } else {
                    word.text.push_str(run);
                }
            }
        }
        Ok(())
    }

    /// Reads `(a|b)` of an extended pattern such as `@(a|b)`. What it matches is not evaluated.
    fn pattern_group(&mut self, word: &mut Builder) -> Result<(), Unreadable> {
        self.expect("(")?;
        let mut depth = 1usize;
        while depth > 0 {
            match self.peek().ok_or(Unreadable::Syntax)? {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'\'' => {
                    self.single_quoted()?;
                    continue;
                }
                b'"' | b'$' | b'`' => return Err(Unreadable::Syntax),
                b'\\' => self.position += 1,
                _ => {}
            }
            self.position += 1;
        }
        word.text.pop();
        word.text.push('*');
        Ok(())
    }

    /// Reads `( word ... )`.
    pub(super) fn array(&mut self) -> Result<Vec<Word>, Unreadable> {
        self.expect("(")?;
        let elements = self.nested(|parser| {
            let mut elements = Vec::new();
            loop {
                parser.skip_lines()?;
                match parser.word(Place::Command)? {
                    Some(word) => elements.push(word),
                    None => return Ok(elements),
                }
            }
        })?;
        self.expect(")")?;
        Ok(elements)
    }

    /// Reads `name=value`, `name+=value` or `name[i]=value` if it is next.
    pub(super) fn assignment(&mut self) -> Result<Option<Assignment>, Unreadable> {
        let start = self.position;
        if !self.peek().is_some_and(is_name_start) {
            return Ok(None);
        }
        let name = self.take_while(is_name).to_owned();
        let mut subscript = Word::default();
        let is_element = self.peek() == Some(b'[');
        if is_element {
            match self.element_subscript() {
                Some(parts) => subscript.parts = parts,
                None => {
                    self.position = start;
                    return Ok(None);
                }
            }
        }
        let is_append = self.accept("+=");
        if !is_append && !self.accept("=") {
            self.position = start;
            return Ok(None);
        }
        if self.peek() == Some(b'(') {
            let values = self.array()?;
            return Ok(Some(Assignment { name, subscript, is_append, values, is_array: true }));
        }
        let value = self.word(Place::Value)?.unwrap_or_default();
        Ok(Some(Assignment {
            name,
            subscript,
            is_append: is_append || is_element,
            values: vec![value],
            is_array: false,
        }))
    }
}

/// A word that is being read.
struct Builder {
    parts: Vec<Part>,
    text: String,
}

impl Builder {
    fn push(&mut self, part: Part) {
        if let Part::Literal(text) = part {
            self.text.push_str(&text);
            return;
        }
        self.flush();
        self.parts.push(part);
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(Part::Literal(std::mem::take(&mut self.text)));
        }
    }

    fn finish(mut self) -> Word {
        self.flush();
        Word { parts: self.parts }
    }

    fn is_pattern_prefix(&self) -> bool {
        self.text.ends_with(['?', '*', '+', '@', '!'])
    }

    /// Returns true for `name=`, after which a parenthesis opens an array.
    fn is_assignment(&self) -> bool {
        let name = self.text.strip_suffix("+=").or_else(|| self.text.strip_suffix('='));
        let is_name_only =
            |name: &str| name.bytes().all(is_name) && name.bytes().next().is_some_and(is_name_start);
        self.parts.is_empty() && name.is_some_and(is_name_only)
    }

    /// Returns true where `~` is a home directory: at the beginning, and after `=` or `:` in assignments.
    fn is_tilde_place(&self, place: Place) -> bool {
        let at_start = self.parts.is_empty() && self.text.is_empty();
        let after_sign = self.text.ends_with(['=', ':']) && (place == Place::Value || self.parts.is_empty());
        at_start || after_sign
    }
}
