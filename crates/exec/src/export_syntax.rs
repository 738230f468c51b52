//! Reads the list of exported variables that a shell prints with `export -p`.
//!
//! The text comes from a file that the command can write, so it is data: nothing in it is expanded or run. Bash prints
//! `declare -x NAME="value"` or `NAME=$'value'`, in POSIX mode with `export`; dash prints `export NAME='value'`.

/// An exported variable with a value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Declaration<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: Vec<u8>,
}

/// The text is not what a shell prints, or it ends too early.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Returns the next declaration and the rest of the text; `None` at its end. Variables without a value and arrays are
/// skipped: programs do not get them.
pub(crate) fn next(text: &[u8]) -> Result<Option<(Declaration<'_>, &[u8])>, Malformed> {
    let mut cursor = Cursor { rest: text };
    while !cursor.rest.is_empty() {
        cursor.keyword()?;
        let name = cursor.name()?;
        if cursor.takes(b"\n") {
            continue;
        }
        cursor.expect(b"=")?;
        if cursor.takes(b"(") {
            cursor.skip_array()?;
            continue;
        }
        let value = cursor.value()?;
        return Ok(Some((Declaration { name, value }, cursor.rest)));
    }
    Ok(None)
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn takes(&mut self, prefix: &[u8]) -> bool {
        let stripped = self.rest.strip_prefix(prefix);
        self.rest = stripped.unwrap_or(self.rest);
        stripped.is_some()
    }

    fn expect(&mut self, prefix: &[u8]) -> Result<(), Malformed> {
        if self.takes(prefix) { Ok(()) } else { Err(Malformed) }
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.rest.split_first().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*first)
    }

    fn take_while(&mut self, keep: impl Fn(&u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !keep(byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// `declare -x `, `declare -rx `, `export ` or `export -r `.
    fn keyword(&mut self) -> Result<(), Malformed> {
        if !self.takes(b"declare ") {
            self.expect(b"export ")?;
        }
        if self.takes(b"-") {
            self.take_while(u8::is_ascii_alphabetic);
            self.expect(b" ")?;
        }
        Ok(())
    }

    fn name(&mut self) -> Result<&'a str, Malformed> {
        let name = self.take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        match name.first() {
            Some(first) if !first.is_ascii_digit() => std::str::from_utf8(name).map_err(|_| Malformed),
            _ => Err(Malformed),
        }
    }

    /// The quoted parts of a value, to the end of its line.
    fn value(&mut self) -> Result<Vec<u8>, Malformed> {
        let mut value = Vec::new();
        loop {
            match self.byte()? {
                b'\n' => return Ok(value),
                b'\'' => self.single_quoted(&mut value)?,
                b'"' => self.double_quoted(&mut value)?,
                b'$' => {
                    self.expect(b"'")?;
                    self.escaped(&mut value)?;
                }
                byte if is_plain(byte) => value.push(byte),
                _ => return Err(Malformed),
            }
        }
    }

    fn single_quoted(&mut self, value: &mut Vec<u8>) -> Result<(), Malformed> {
        value.extend(self.take_while(|byte| *byte != b'\''));
        self.expect(b"'")
    }

    fn double_quoted(&mut self, value: &mut Vec<u8>) -> Result<(), Malformed> {
        loop {
            value.extend(self.take_while(|byte| !matches!(byte, b'"' | b'\\')));
            if self.byte()? == b'"' {
                return Ok(());
            }
            match self.byte()? {
                byte @ (b'"' | b'\\' | b'$' | b'`') => value.push(byte),
                byte => value.extend([b'\\', byte]),
            }
        }
    }

    /// The text of `$'...'`, with the escapes that bash prints.
    fn escaped(&mut self, value: &mut Vec<u8>) -> Result<(), Malformed> {
        loop {
            value.extend(self.take_while(|byte| !matches!(byte, b'\'' | b'\\')));
            if self.byte()? == b'\'' {
                return Ok(());
            }
            value.push(match self.byte()? {
                byte @ (b'\\' | b'\'' | b'"') => byte,
                b'E' | b'e' => 0x1b,
                b'a' => 0x07,
                b'b' => 0x08,
                b'f' => 0x0c,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'v' => 0x0b,
                first @ b'0'..=b'3' => self.octal(first)?,
                _ => return Err(Malformed),
            });
        }
    }

    /// The byte of three octal digits, of which one is already read. A variable cannot hold a NUL.
    fn octal(&mut self, first: u8) -> Result<u8, Malformed> {
        let mut value = first - b'0';
        for _ in 0..2 {
            match self.byte()? {
                digit @ b'0'..=b'7' => value = value * 8 + (digit - b'0'),
                _ => return Err(Malformed),
            }
        }
        if value == 0 { Err(Malformed) } else { Ok(value) }
    }

    /// Skips `[0]="a" [1]="b")` and the end of its line.
    fn skip_array(&mut self) -> Result<(), Malformed> {
        let mut dropped = Vec::new();
        loop {
            match self.byte()? {
                b')' => return self.expect(b"\n"),
                b'"' => self.double_quoted(&mut dropped)?,
                b'\'' => self.single_quoted(&mut dropped)?,
                b'$' if self.takes(b"'") => self.escaped(&mut dropped)?,
                b'\n' => return Err(Malformed),
                _ => {}
            }
        }
    }
}

/// Returns true for a character that some shells print without quotes.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./:@%+=,".contains(&byte)
}

#[cfg(test)]
#[path = "export_syntax_tests.rs"]
mod tests;
