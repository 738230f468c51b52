//! A minimal JSON scanner and string encoder for the bare client.

use std::borrow::Cow;

/// A position in a JSON text. Every method returns `None` if the text is not JSON.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Reads an object; `each` gets every key and must skip its value.
    pub(super) fn object(&mut self, mut each: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()> {
        self.enclosed(b'{', b'}', |scanner| {
            let key = scanner.string()?;
            scanner.expect(b':')?;
            each(scanner, &key)
        })
    }

    /// Reads an array; `each` must skip one value.
    pub(super) fn array(&mut self, each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.enclosed(b'[', b']', each)
    }

    pub(super) fn string(&mut self) -> Option<Cow<'a, str>> {
        self.expect(b'"')?;
        let rest = &self.text[self.at..];
        let end = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\'))?;
        let mut text = Cow::Borrowed(&rest[..end]);
        self.at += end;
        while self.byte()? == b'\\' {
            self.at += 1;
            let character = self.escape()?;
            text.to_mut().push(character);
            let rest = &self.text[self.at..];
            let end = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\'))?;
            text.to_mut().push_str(&rest[..end]);
            self.at += end;
        }
        self.at += 1;
        Some(text)
    }

    pub(super) fn number(&mut self) -> Option<usize> {
        self.word().parse().ok()
    }

    /// Skips any value.
    pub(super) fn skip(&mut self) -> Option<()> {
        match self.peek()? {
            b'{' => self.object(|scanner, _| scanner.skip()),
            b'[' => self.array(Self::skip),
            b'"' => self.string().map(|_| ()),
            _ => (!self.word().is_empty()).then_some(()),
        }
    }

    /// Skips `null` and returns true, or returns false for another value.
    pub(super) fn is_null(&mut self) -> bool {
        let is_null = self.peek() == Some(b'n');
        if is_null {
            self.word();
        }
        is_null
    }

    fn enclosed(&mut self, open: u8, close: u8, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(open)?;
        if self.peek()? == close {
            self.at += 1;
            return Some(());
        }
        loop {
            each(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                byte if byte == close => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let byte = self.byte()?;
        self.at += 1;
        Some(match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => return self.unicode(),
            other => char::from(other),
        })
    }

    fn unicode(&mut self) -> Option<char> {
        let high = self.four_digits()?;
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high);
        }
        self.at += self.text[self.at..].starts_with("\\u").then_some(2)?;
        let low = self.four_digits()?.checked_sub(0xdc00)?;
        char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)
    }

    fn four_digits(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> &'a str {
        self.peek();
        let rest = &self.text[self.at..];
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        let end = rest.bytes().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        let found = self.peek()? == byte;
        self.at += usize::from(found);
        found.then_some(())
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while self.byte()?.is_ascii_whitespace() {
            self.at += 1;
        }
        self.byte()
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// Encodes the text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_survive_a_round_trip() {
        for (json, want) in [
            (r#""plain""#, "plain"),
            (r#""""#, ""),
            (r#" "a\n\"b\"\\c""#, "a\n\"b\"\\c"),
            (r#""\u00e4\ud83d\ude00!""#, "ä😀!"),
        ] {
            assert_eq!(Scanner::new(json).string().as_deref(), Some(want), "{json}");
            assert_eq!(Scanner::new(&quoted(want)).string().as_deref(), Some(want), "{json}");
        }
        assert_eq!(Scanner::new(r#""open"#).string(), None);
    }

    #[test]
    fn any_value_can_be_skipped() {
        let text = r#"{"a": [1, {"b": null}, "x]"], "c": -1.5e3, "d": {}, "e": [], "found": 7}"#;
        let mut found = None;
        let walked = Scanner::new(text).object(|scanner, key| match key {
            "found" => scanner.number().map(|number| found = Some(number)),
            _ => scanner.skip(),
        });
        assert_eq!((walked, found), (Some(()), Some(7)));
        assert_eq!(Scanner::new("{\"a\" 1}").skip(), None);
    }
}
