//! Expansions: parameters, command substitutions, backticks and arithmetic.

use super::commands::parse;
use super::cursor::{Parser, is_name, is_name_start};
use super::tree::{Operation, Part, Script};
use crate::limits::Unreadable;
use std::rc::Rc;

impl Parser<'_> {
    /// Reads the expansion at a `$` or a backtick. A lone `$` is literal text.
    pub(super) fn expansion(&mut self, is_quoted: bool) -> Result<Part, Unreadable> {
        if self.peek() == Some(b'`') {
            return self.backticks(is_quoted);
        }
        self.position += 1;
        match self.peek() {
            Some(b'(') if self.peek_at(1) == Some(b'(') && self.is_arithmetic(0) => self.arithmetic(),
            Some(b'(') => {
                let script = self.parenthesised()?;
                Ok(Part::Command { script: Rc::new(script), is_quoted })
            }
            Some(b'{') => self.nested(|parser| parser.braced_parameter(is_quoted)),
            Some(b'[') => self.bracket_arithmetic(),
            Some(byte) if is_name_start(byte) => {
                let name = self.take_while(is_name).to_owned();
                Ok(Part::Parameter { name, operation: Operation::Plain, is_quoted })
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                self.position += 1;
                let name = char::from(byte).to_string();
                Ok(Part::Parameter { name, operation: Operation::Plain, is_quoted })
            }
            _ => Ok(Part::Literal("$".into())),
        }
    }

    /// Reads `( list )`.
    pub(super) fn parenthesised(&mut self) -> Result<Script, Unreadable> {
        self.expect("(")?;
        let script = self.nested(Self::list)?;
        self.expect(")")?;
        Ok(script)
    }

    fn backticks(&mut self, is_quoted: bool) -> Result<Part, Unreadable> {
        self.expect("`")?;
        let mut inner = String::new();
        loop {
            inner.push_str(self.take_while(|byte| !matches!(byte, b'`' | b'\\')));
            match self.take_character() {
                Some('`') => break,
                Some('\\') => match self.take_character() {
                    Some(character @ ('`' | '\\' | '$')) => inner.push(character),
                    Some('"') if is_quoted => inner.push('"'),
                    Some(character) => inner.extend(['\\', character]),
                    None => return Err(Unreadable::Syntax),
                },
                _ => return Err(Unreadable::Syntax),
            }
        }
        let (script, spent) = parse(&inner, self.depth + 1, self.spent)?;
        self.spent = spent;
        Ok(Part::Command { script: Rc::new(script), is_quoted })
    }

    /// Returns true if the `((` at `offset` is closed by `))`, so that it is arithmetic and not two subshells.
    pub(super) fn is_arithmetic(&mut self, offset: usize) -> bool {
        let mut depth = 0usize;
        let bytes = self.rest().as_bytes().get(offset..).unwrap_or_default();
        let mut at = 0;
        let mut is_closed = false;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'\'' | b'"' => {
                    let quote = *byte;
                    let skipped = bytes.iter().skip(at + 1).position(|other| *other == quote);
                    let Some(length) = skipped else { break };
                    at += length + 1;
                }
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 1 {
                        is_closed = bytes.get(at + 1) == Some(&b')');
                        break;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        // Reading ahead costs; many openings that never close must not cost the square of the length.
        self.spent.read(at).is_ok() && is_closed
    }

    /// Reads `((expression))`.
    pub(super) fn arithmetic(&mut self) -> Result<Part, Unreadable> {
        self.expect("((")?;
        let start = self.position;
        let mut depth = 2usize;
        while depth > 0 {
            match self.peek().ok_or(Unreadable::Syntax)? {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'\\' => self.position += 1,
                quote @ (b'\'' | b'"') => {
                    self.position += 1;
                    self.take_while(|byte| byte != quote);
                }
                _ => {}
            }
            self.position += 1;
        }
        let end = self.position.saturating_sub(2);
        let text = self.text.get(start..end).ok_or(Unreadable::Syntax)?;
        self.arithmetic_text(text)
    }

    /// Reads `$[expression]`, the old form.
    fn bracket_arithmetic(&mut self) -> Result<Part, Unreadable> {
        self.expect("[")?;
        let start = self.position;
        let mut depth = 1usize;
        while depth > 0 {
            match self.peek().ok_or(Unreadable::Syntax)? {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            self.position += 1;
        }
        let text = self.text.get(start..self.position - 1).ok_or(Unreadable::Syntax)?;
        self.arithmetic_text(text)
    }

    fn arithmetic_text(&mut self, text: &str) -> Result<Part, Unreadable> {
        let word = self.nested(|parser| parser.text_with_expansions(text))?;
        Ok(Part::Arithmetic(word.parts))
    }

    /// Reads `{name...}` after the `$`.
    fn braced_parameter(&mut self, is_quoted: bool) -> Result<Part, Unreadable> {
        self.expect("{")?;
        let is_length = self.peek() == Some(b'#') && self.peek_at(1) != Some(b'}');
        let is_indirect = self.peek() == Some(b'!') && self.peek_at(1) != Some(b'}');
        if is_length || is_indirect {
            self.position += 1;
        }
        let mut name = self.take_while(is_name).to_owned();
        if name.is_empty() {
            name.extend(self.take_character());
        }
        let mut operation = Operation::Plain;
        if self.peek() == Some(b'[') {
            operation = self.subscript()?;
        }
        let parsed = self.operation()?;
        if parsed != Operation::Plain {
            let is_element = operation != Operation::Plain;
            operation = if is_element { Operation::Other(operation_parts(parsed)) } else { parsed };
        }
        if is_length || is_indirect {
            operation = Operation::Other(operation_parts(operation));
        }
        self.expect("}")?;
        Ok(Part::Parameter { name, operation, is_quoted })
    }

    fn subscript(&mut self) -> Result<Operation, Unreadable> {
        self.expect("[")?;
        let start = self.position;
        let parts = self.until(b']', None)?;
        let text = self.text.get(start..self.position).unwrap_or_default().to_owned();
        self.expect("]")?;
        Ok(match text.as_str() {
            "@" | "*" => Operation::All,
            _ if parts.iter().all(|part| matches!(part, Part::Literal(_) | Part::Quoted(_))) => {
                Operation::Index(text)
            }
            _ => Operation::Other(parts),
        })
    }

    /// Reads `[subscript]` of an element that is assigned; `None` if this is something else.
    pub(super) fn element_subscript(&mut self) -> Option<Vec<Part>> {
        self.expect("[").ok()?;
        let parts = self.until(b']', Some(b'\n')).ok()?;
        self.expect("]").ok()?;
        Some(parts)
    }

    fn operation(&mut self) -> Result<Operation, Unreadable> {
        Ok(match self.peek() {
            Some(b'}') => Operation::Plain,
            Some(b':') => match self.peek_at(1) {
                Some(b'-' | b'=') => Operation::Default(self.after(2)?),
                Some(b'+') => Operation::Alternative(self.after(2)?),
                Some(b'?') => Operation::Required(self.after(2)?),
                _ => self.slice()?,
            },
            Some(b'-' | b'=') => Operation::Default(self.after(1)?),
            Some(b'+') => Operation::Alternative(self.after(1)?),
            Some(b'?') => Operation::Required(self.after(1)?),
            Some(b'#') => self.trim("##", "#")?,
            Some(b'%') => self.trim("%%", "%")?,
            Some(b'/') => self.replace()?,
            Some(b'^') => self.case("^^", "^")?,
            Some(b',') => self.case(",,", ",")?,
            _ => Operation::Other(self.after(0)?),
        })
    }

    fn after(&mut self, length: usize) -> Result<Vec<Part>, Unreadable> {
        self.position += length;
        self.until(b'}', None)
    }

    fn trim(&mut self, double: &'static str, single: &'static str) -> Result<Operation, Unreadable> {
        let operator = if self.starts_with(double) { double } else { single };
        Ok(Operation::Trim { operator, pattern: self.after(operator.len())? })
    }

    fn case(&mut self, double: &'static str, single: &'static str) -> Result<Operation, Unreadable> {
        let operator = if self.starts_with(double) { double } else { single };
        let pattern = self.after(operator.len())?;
        Ok(if pattern.is_empty() { Operation::Case(operator) } else { Operation::Other(pattern) })
    }

    fn replace(&mut self) -> Result<Operation, Unreadable> {
        let is_all = self.starts_with("//");
        self.position += if is_all { 2 } else { 1 };
        let pattern = self.until(b'}', Some(b'/'))?;
        let replacement = if self.accept("/") { self.until(b'}', None)? } else { Vec::new() };
        Ok(Operation::Replace { is_all, pattern, replacement })
    }

    fn slice(&mut self) -> Result<Operation, Unreadable> {
        let parts = self.after(1)?;
        let text = match parts.as_slice() {
            [Part::Literal(text)] => text.clone(),
            _ => return Ok(Operation::Other(parts)),
        };
        let mut numbers = text.split(':').map(|number| number.trim().parse::<i64>());
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(offset)), None, None) => Ok(Operation::Slice { offset, length: None }),
            (Some(Ok(offset)), Some(Ok(length)), None) => {
                Ok(Operation::Slice { offset, length: Some(length) })
            }
            _ => Ok(Operation::Other(parts)),
        }
    }

    /// Reads parts up to `end` or `other`, which is left to the caller.
    fn until(&mut self, end: u8, other: Option<u8>) -> Result<Vec<Part>, Unreadable> {
        let mut parts = Vec::new();
        loop {
            let byte = self.peek().ok_or(Unreadable::Syntax)?;
            if byte == end || Some(byte) == other {
                return Ok(parts);
            }
            match byte {
                b'\\' => {
                    self.position += 1;
                    parts.push(Part::Quoted(self.take_character().map(String::from).unwrap_or_default()));
                }
                b'\'' => parts.push(self.single_quoted()?),
                b'"' => parts.extend(self.double_quoted()?),
                b'$' if self.peek_at(1) == Some(b'\'') => {
                    self.position += 1;
                    parts.push(self.ansi_quoted()?);
                }
                b'$' | b'`' => parts.push(self.expansion(false)?),
                _ => {
                    let special = |byte: u8| b"\\'\"$`".contains(&byte) || byte == end || Some(byte) == other;
                    let text = self.take_while(|byte| !special(byte)).to_owned();
                    parts.push(Part::Literal(text));
                }
            }
        }
    }
}

fn operation_parts(operation: Operation) -> Vec<Part> {
    match operation {
        Operation::Default(parts)
        | Operation::Alternative(parts)
        | Operation::Required(parts)
        | Operation::Other(parts) => parts,
        Operation::Trim { pattern, .. } => pattern,
        Operation::Replace { mut pattern, replacement, .. } => {
            pattern.extend(replacement);
            pattern
        }
        Operation::Plain
        | Operation::All
        | Operation::Index(_)
        | Operation::Slice { .. }
        | Operation::Case(_) => Vec::new(),
    }
}
