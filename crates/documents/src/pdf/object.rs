//! The objects of a PDF file, and the syntax that they and page contents are written in.

use std::collections::BTreeMap;
use std::ops::Range;

/// Arrays and dictionaries in one another, at most.
const DEEPEST: usize = 48;

/// A value.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Object {
    #[default]
    Null,
    Number(f64),
    Text(Vec<u8>),
    Name(Vec<u8>),
    Array(Vec<Object>),
    Dict(Dict),
    /// The number of another object.
    Reference(u32),
    /// A stream and the place of its bytes.
    Stream(Dict, Range<usize>),
}

/// A dictionary with names as keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Dict(BTreeMap<Vec<u8>, Object>);

impl Dict {
    pub(super) fn get(&self, key: &str) -> &Object {
        self.0.get(key.as_bytes()).unwrap_or(&Object::Null)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&[u8], &Object)> {
        self.0.iter().map(|(key, value)| (key.as_slice(), value))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_type(&self, name: &str) -> bool {
        self.get("Type").name() == Some(name.as_bytes())
    }
}

impl Object {
    pub(super) fn name(&self) -> Option<&[u8]> {
        if let Self::Name(name) = self { Some(name) } else { None }
    }

    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// A number that counts something.
    pub(super) fn count(&self) -> Option<usize> {
        self.number().filter(|number| (0.0..4e9).contains(number)).map(|number| number as usize)
    }

    pub(super) fn array(&self) -> &[Self] {
        if let Self::Array(items) = self { items } else { &[] }
    }

    /// The dictionary, also that of a stream.
    pub(super) fn dict(&self) -> Option<&Dict> {
        if let Self::Dict(dict) | Self::Stream(dict, _) = self { Some(dict) } else { None }
    }
}

/// A piece of syntax.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Object(Object),
    /// A bare word, such as an operator.
    Word(Range<usize>),
    CloseArray,
    CloseDict,
}

/// A reader of syntax.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\x0c' | 0)
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at: at.min(bytes.len()) }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at.min(self.bytes.len())..]
    }

    pub(super) fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'%' => {
                    let rest = self.rest();
                    self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                }
                byte if is_blank(byte) => self.at += 1,
                _ => return,
            }
        }
    }

    /// The next object, with references; `None` at the end and where the syntax is broken.
    pub(super) fn object(&mut self) -> Option<Object> {
        match self.token(0, true)? {
            Token::Object(object) => Some(object),
            Token::Word(_) => Some(Object::Null),
            Token::CloseArray | Token::CloseDict => None,
        }
    }

    /// The next operand or operator of a page content, which has no references.
    pub(super) fn content_token(&mut self) -> Option<Token> {
        self.token(0, false)
    }

    fn token(&mut self, depth: usize, references: bool) -> Option<Token> {
        self.skip_blanks();
        let byte = self.peek()?;
        self.at += 1;
        let object = match byte {
            b'/' => Object::Name(self.name()),
            b'(' => Object::Text(self.literal_text()),
            b'<' if self.peek() == Some(b'<') => {
                self.at += 1;
                Object::Dict(self.dict(depth, references)?)
            }
            b'<' => Object::Text(self.hex_text()),
            b'[' => Object::Array(self.array(depth, references)?),
            b']' => return Some(Token::CloseArray),
            b'>' => {
                self.at += usize::from(self.peek() == Some(b'>'));
                return Some(Token::CloseDict);
            }
            b')' | b'{' | b'}' => return Some(Token::Word(self.at - 1..self.at)),
            b'+' | b'-' | b'.' | b'0'..=b'9' => {
                self.at -= 1;
                return Some(self.number(references));
            }
            _ => {
                self.at -= 1;
                return Some(Token::Word(self.word()));
            }
        };
        Some(Token::Object(object))
    }

    fn word(&mut self) -> Range<usize> {
        let start = self.at;
        while self.peek().is_some_and(|byte| !is_blank(byte) && !is_delimiter(byte)) {
            self.at += 1;
        }
        start..self.at
    }

    /// A number, or a reference such as `12 0 R`.
    fn number(&mut self, references: bool) -> Token {
        let word = self.word();
        let Some(number) = number(&self.bytes[word.clone()]) else { return Token::Word(word) };
        if references && number >= 0.0 && number.fract() == 0.0 && number <= f64::from(u32::MAX) {
            let mut ahead = self.clone();
            if ahead.small_number().is_some() {
                ahead.skip_blanks();
                let word = ahead.word();
                if &ahead.bytes[word] == b"R" {
                    self.at = ahead.at;
                    return Token::Object(Object::Reference(number as u32));
                }
            }
        }
        Token::Object(Object::Number(number))
    }

    /// A whole number of at most ten digits.
    pub(super) fn small_number(&mut self) -> Option<u64> {
        self.skip_blanks();
        let digits = self.rest().iter().take(11).take_while(|byte| byte.is_ascii_digit()).count();
        let text = self.bytes.get(self.at..self.at + digits).filter(|_| (1..=10).contains(&digits))?;
        self.at += digits;
        std::str::from_utf8(text).ok()?.parse().ok()
    }

    fn name(&mut self) -> Vec<u8> {
        let word = self.word();
        let raw = &self.bytes[word];
        if !raw.contains(&b'#') {
            return raw.to_vec();
        }
        let mut name = Vec::with_capacity(raw.len());
        let mut at = 0;
        while let Some(byte) = raw.get(at) {
            let pair = raw.get(at + 1..at + 3).and_then(|pair| Some((hex(pair[0])?, hex(pair[1])?)));
            match (byte, pair) {
                (b'#', Some((high, low))) => {
                    name.push(high << 4 | low);
                    at += 3;
                }
                _ => {
                    name.push(*byte);
                    at += 1;
                }
            }
        }
        name
    }

    fn literal_text(&mut self) -> Vec<u8> {
        let (mut text, mut open) = (Vec::new(), 1);
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                b'\\' => {
                    self.escaped(&mut text);
                    continue;
                }
                _ => {}
            }
            text.push(byte);
        }
        text
    }

    fn escaped(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'\r' => self.at += usize::from(self.peek() == Some(b'\n')),
            b'\n' => {}
            b'0'..=b'7' => {
                let mut value = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.peek() else { break };
                    value = value * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                text.push((value & 0xff) as u8);
            }
            other => text.push(other),
        }
    }

    fn hex_text(&mut self) -> Vec<u8> {
        let rest = self.rest();
        let length = memchr::memchr(b'>', rest).unwrap_or(rest.len());
        self.at += (length + 1).min(rest.len());
        from_hex(&rest[..length])
    }

    fn array(&mut self, depth: usize, references: bool) -> Option<Vec<Object>> {
        let mut items = Vec::new();
        if depth >= DEEPEST {
            return None;
        }
        loop {
            match self.token(depth + 1, references)? {
                Token::Object(object) => items.push(object),
                Token::CloseArray => return Some(items),
                Token::Word(word) if is_literal(&self.bytes[word.clone()]) => items.push(Object::Null),
                Token::Word(_) | Token::CloseDict => return None,
            }
        }
    }

    fn dict(&mut self, depth: usize, references: bool) -> Option<Dict> {
        let mut dict = Dict::default();
        if depth >= DEEPEST {
            return None;
        }
        loop {
            match self.token(depth + 1, references)? {
                Token::Object(Object::Name(key)) => match self.token(depth + 1, references)? {
                    Token::Object(value) => {
                        dict.0.insert(key, value);
                    }
                    Token::Word(word) if is_literal(&self.bytes[word.clone()]) => {}
                    Token::CloseDict => return Some(dict),
                    Token::Word(_) | Token::CloseArray => return None,
                },
                Token::CloseDict => return Some(dict),
                _ => return None,
            }
        }
    }
}

/// Values that the text of a document does not depend on.
fn is_literal(word: &[u8]) -> bool {
    matches!(word, b"true" | b"false" | b"null")
}

fn number(word: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(word).ok().filter(|text| text.len() < 40)?;
    let is_plain = text.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'.' | b'0'..=b'9'));
    is_plain.then(|| text.parse().ok()).flatten()
}

pub(super) fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// The bytes that hexadecimal digits stand for; a missing last digit is 0.
pub(super) fn from_hex(digits: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = digits.iter().copied().filter_map(hex).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<Object> {
        Lexer::new(text.as_bytes(), 0).object()
    }

    #[test]
    fn syntax_is_read() {
        let name = |text: &str| Object::Name(text.as_bytes().to_vec());
        let text = |text: &str| Object::Text(text.as_bytes().to_vec());
        for (source, want) in [
            ("12", Some(Object::Number(12.0))),
            ("-.5", Some(Object::Number(-0.5))),
            ("12 0 R", Some(Object::Reference(12))),
            ("12 0 obj", Some(Object::Number(12.0))),
            ("/A#20b", Some(name("A b"))),
            ("(a(b)\\)\\101\\\n)", Some(text("a(b))A"))),
            ("<48 65 6>", Some(text("He`"))),
            (
                "[1 (x) true /N]% no",
                Some(Object::Array(vec![Object::Number(1.0), text("x"), Object::Null, name("N")])),
            ),
            ("[1 obj", None),
            ("<< /A", None),
            ("", None),
        ] {
            assert_eq!(parsed(source), want, "{source}");
        }
        let dict = parsed("<</A 1/B<</C[2 0 R]>>>>").unwrap();
        let dict = dict.dict().unwrap();
        assert_eq!(dict.get("A").count(), Some(1));
        assert_eq!(dict.get("B").dict().unwrap().get("C").array(), [Object::Reference(2)]);
        assert_eq!(parsed(&"[".repeat(100_000)), None);
        assert_eq!(parsed(&"<</A".repeat(100_000)), None);
    }
}
