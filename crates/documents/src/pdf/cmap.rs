//! Maps from the codes of a font to text.

use super::object::{Lexer, Object, Token};
use std::collections::HashMap;

/// Entries of a map, at most.
const MOST: usize = 200_000;
/// UTF-16 units that one code may stand for.
const LONGEST: usize = 32;

/// A map of codes of one to four bytes.
#[derive(Debug, Default)]
pub(super) struct CodeMap {
    /// The lengths of codes, with their first and last code.
    lengths: Vec<(usize, u32, u32)>,
    single: HashMap<u32, String>,
    /// First and last code, and the text of the first.
    ranges: Vec<(u32, u32, String)>,
}

impl CodeMap {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut map = Self::default();
        let mut lexer = Lexer::new(bytes, 0);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(token) = lexer.content_token() {
            match token {
                Token::Object(object) if operands.len() < MOST => operands.push(object),
                Token::Word(word) => {
                    map.take(&bytes[word], &operands);
                    operands.clear();
                }
                Token::Object(_) | Token::CloseArray | Token::CloseDict => {}
            }
        }
        map.ranges.sort_by_key(|range| range.0);
        map
    }

    fn take(&mut self, word: &[u8], operands: &[Object]) {
        match word {
            b"endcodespacerange" => {
                for pair in operands.chunks_exact(2) {
                    if let [Object::Text(first), Object::Text(last)] = pair
                        && (1..=4).contains(&first.len())
                        && self.lengths.len() < 256
                    {
                        self.lengths.push((first.len(), code(first), code(last)));
                    }
                }
            }
            b"endbfchar" => {
                for pair in operands.chunks_exact(2) {
                    if let [Object::Text(from), Object::Text(to)] = pair
                        && self.single.len() < MOST
                    {
                        self.single.insert(code(from), utf16(to));
                    }
                }
            }
            b"endbfrange" => operands.chunks_exact(3).for_each(|triple| self.range(triple)),
            _ => {}
        }
    }

    fn range(&mut self, triple: &[Object]) {
        let [Object::Text(first), Object::Text(last), to] = triple else { return };
        let (first, last) = (code(first), code(last));
        match to {
            Object::Text(to) if self.ranges.len() < MOST => self.ranges.push((first, last, utf16(to))),
            Object::Array(items) => {
                for (item, from) in items.iter().zip(first..=last) {
                    if let Object::Text(to) = item
                        && self.single.len() < MOST
                    {
                        self.single.insert(from, utf16(to));
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.single.is_empty() && self.ranges.is_empty()
    }

    /// The length of the code at the beginning of `bytes`, if the map says so.
    pub(super) fn code_length(&self, bytes: &[u8]) -> Option<usize> {
        let fits = |(length, first, last): &&(usize, u32, u32)| {
            bytes.get(..*length).is_some_and(|bytes| (*first..=*last).contains(&code(bytes)))
        };
        self.lengths.iter().filter(fits).map(|(length, ..)| *length).min()
    }

    pub(super) fn text(&self, code: u32) -> Option<String> {
        if let Some(text) = self.single.get(&code) {
            return Some(text.clone());
        }
        let before = self.ranges.partition_point(|range| range.0 <= code);
        let (first, last, text) = self.ranges.get(before.checked_sub(1)?)?;
        if code > *last {
            return None;
        }
        // The last character counts up.
        let mut characters: Vec<char> = text.chars().collect();
        let end = characters.pop()?;
        characters.push(char::from_u32(u32::from(end).checked_add(code - first)?)?);
        Some(characters.into_iter().collect())
    }
}

/// A code as a number.
pub(super) fn code(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |code, byte| code << 8 | u32::from(*byte))
}

pub(super) fn utf16(bytes: &[u8]) -> String {
    if let [one] = bytes {
        return char::from(*one).to_string();
    }
    let units: Vec<u16> =
        bytes.chunks_exact(2).take(LONGEST).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_mapped() {
        let map = CodeMap::parse(
            b"1 begincodespacerange <00> <7f> <8000> <ffff> endcodespacerange\n\
              2 beginbfchar <03> <0020> <8001> <00660069> endbfchar\n\
              2 beginbfrange <8010> <8012> <0041> <8020> <8021> [<0058> <0059>] endbfrange",
        );
        for (code, want) in [
            (3, Some(" ")),
            (0x8001, Some("fi")),
            (0x8012, Some("C")),
            (0x8013, None),
            (0x8021, Some("Y")),
            (4, None),
        ] {
            assert_eq!(map.text(code).as_deref(), want, "{code:x}");
        }
        assert_eq!(map.code_length(b"\x03\x80\x01"), Some(1));
        assert_eq!(map.code_length(b"\x80\x01"), Some(2));
        assert_eq!(map.code_length(b"\x80"), None);
    }
}
