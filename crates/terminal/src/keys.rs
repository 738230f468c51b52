//! Keys, decoded from the bytes of a terminal.
//!
//! A terminal sends the Escape key as the byte that begins every longer key, so a lone one is only recognised
//! when nothing follows for a moment. The caller waits for that.

/// A key press or a paste.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    /// Characters that were typed.
    Text(String),
    /// Pasted characters; line ends are `\n`, and none acts as a key.
    Paste(String),
    Enter,
    Escape,
    Tab,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    /// With the letter, in lower case.
    Control(char),
}

/// Bytes that have not become a key yet.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pending: Vec<u8>,
    is_paste: bool,
}

/// The meaning of the first pending bytes.
enum Head {
    Key(Key, usize),
    PasteBegins(usize),
    /// An unknown key.
    Noise(usize),
    Unfinished,
}

const ESCAPE: u8 = 0x1b;
const PASTE_ENDS: &[u8] = b"\x1b[201~";
/// The longest sequence of a key; anything longer is dropped.
const LONGEST: usize = 32;

impl Key {
    /// The key for a field with one line: a paste becomes typed text with spaces for its line ends.
    pub(crate) fn on_one_line(self) -> Self {
        match self {
            Self::Paste(text) => Self::Text(text.replace('\n', " ")),
            other => other,
        }
    }
}

impl Keys {
    /// Takes bytes and returns the keys they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.pending.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while !self.pending.is_empty() {
            if self.is_paste {
                match self.paste() {
                    Some(text) => keys.push(Key::Paste(text)),
                    None => break,
                }
                continue;
            }
            let used = match head(&self.pending) {
                Head::Key(key, used) => {
                    keys.push(key);
                    used
                }
                Head::PasteBegins(used) => {
                    self.is_paste = true;
                    used
                }
                Head::Noise(used) => used,
                Head::Unfinished => break,
            };
            self.pending.drain(..used);
        }
        keys
    }

    /// Returns true if the next byte may change the meaning of the last ones.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.is_paste && !self.pending.is_empty()
    }

    /// Ends a pending sequence: nothing followed, so it was the Escape key.
    pub(crate) fn give_up(&mut self) -> Option<Key> {
        let began = self.pending.first().copied();
        self.pending.clear();
        (began == Some(ESCAPE)).then_some(Key::Escape)
    }

    /// A finished paste as one text. Controls other than line ends become spaces.
    fn paste(&mut self) -> Option<String> {
        let end = self.pending.windows(PASTE_ENDS.len()).position(|bytes| bytes == PASTE_ENDS)?;
        let lines = String::from_utf8_lossy(&self.pending[..end]).replace("\r\n", "\n").replace('\r', "\n");
        let harmless =
            |character: char| if character.is_control() && character != '\n' { ' ' } else { character };
        let text = lines.chars().map(harmless).collect();
        self.pending.drain(..end + PASTE_ENDS.len());
        self.is_paste = false;
        Some(text)
    }
}

fn head(bytes: &[u8]) -> Head {
    match bytes {
        [] | [ESCAPE] => Head::Unfinished,
        [ESCAPE, b'[', rest @ ..] => sequence(rest),
        [ESCAPE, b'O'] => Head::Unfinished,
        [ESCAPE, b'O', letter, ..] => arrow(*letter).map_or(Head::Noise(3), |key| Head::Key(key, 3)),
        [ESCAPE, ESCAPE, ..] => Head::Key(Key::Escape, 1),
        // Alt with a key.
        [ESCAPE, rest @ ..] => match head(rest) {
            Head::Key(_, used) | Head::Noise(used) | Head::PasteBegins(used) => Head::Noise(used + 1),
            Head::Unfinished => Head::Unfinished,
        },
        [b'\r' | b'\n', ..] => Head::Key(Key::Enter, 1),
        [b'\t', ..] => Head::Key(Key::Tab, 1),
        [0x7f | 0x08, ..] => Head::Key(Key::Backspace, 1),
        [letter @ 1..=26, ..] => Head::Key(Key::Control(char::from(b'a' + letter - 1)), 1),
        [0..=31, ..] => Head::Noise(1),
        text => characters(text),
    }
}

/// The rest of a sequence after `ESC [`: parameters and a final letter.
fn sequence(rest: &[u8]) -> Head {
    let Some(end) = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        return if rest.len() > LONGEST { Head::Noise(rest.len() + 2) } else { Head::Unfinished };
    };
    let used = end + 3;
    let number = rest[..end].split(|byte| *byte == b';').next().unwrap_or_default();
    let key = match (rest[end], number) {
        (b'~', b"200") => return Head::PasteBegins(used),
        (b'~', b"1" | b"7") => Some(Key::Home),
        (b'~', b"4" | b"8") => Some(Key::End),
        (b'~', b"5") => Some(Key::PageUp),
        (b'~', b"6") => Some(Key::PageDown),
        (letter, _) => arrow(letter),
    };
    key.map_or(Head::Noise(used), |key| Head::Key(key, used))
}

fn arrow(letter: u8) -> Option<Key> {
    Some(match letter {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        _ => return None,
    })
}

/// Everything up to the next control byte. A character cut off at the end waits for its rest.
fn characters(bytes: &[u8]) -> Head {
    let end = bytes.iter().position(|byte| *byte < 0x20 || *byte == 0x7f).unwrap_or(bytes.len());
    match std::str::from_utf8(&bytes[..end]) {
        Ok(text) => Head::Key(Key::Text(text.chars().filter(|c| !c.is_control()).collect()), end),
        Err(error) => match (error.valid_up_to(), error.error_len()) {
            (0, Some(wrong)) => Head::Noise(wrong),
            (0, None) if end == bytes.len() => Head::Unfinished,
            (0, None) => Head::Noise(end),
            (valid, _) => {
                let text = String::from_utf8_lossy(&bytes[..valid]).into_owned();
                Head::Key(Key::Text(text), valid)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Key {
        Key::Text(text.to_owned())
    }

    #[test]
    fn bytes_become_keys() {
        for (bytes, want) in [
            (&b"ab c"[..], vec![text("ab c")]),
            ("é中😀".as_bytes(), vec![text("é中😀")]),
            (b"\r", vec![Key::Enter]),
            (b"\t\x7f\x08", vec![Key::Tab, Key::Backspace, Key::Backspace]),
            (b"\x03\x0e\x10", vec![Key::Control('c'), Key::Control('n'), Key::Control('p')]),
            (b"\x1b[A\x1bOB\x1b[C\x1b[1;5D", vec![Key::Up, Key::Down, Key::Right, Key::Left]),
            (b"\x1b[5~\x1b[6~\x1b[H\x1b[4~", vec![Key::PageUp, Key::PageDown, Key::Home, Key::End]),
            (b"\x1bx\x1b[15~\x00\x1cy", vec![text("y")]),
            (b"\x1b\x1b[A", vec![Key::Escape, Key::Up]),
            (b"a\xff\xfeb", vec![text("a"), text("b")]),
            (b"\x1b[200~one\r\ntwo\x1b[201~x", vec![Key::Paste("one\ntwo".into()), text("x")]),
            (b"\xc2\x9b", vec![text("")]),
        ] {
            assert_eq!(Keys::default().feed(bytes), want, "{bytes:?}");
            // The keys do not depend on how the bytes are cut, except for pieces of text.
            let mut keys = Keys::default();
            let cut: Vec<Key> = bytes.chunks(1).flat_map(|byte| keys.feed(byte)).collect();
            let flat = |keys: Vec<Key>| format!("{keys:?}").replace("\"), Text(\"", "");
            assert_eq!(flat(cut), flat(want), "{bytes:?} in pieces");
        }
    }

    #[test]
    fn lone_escape_is_a_key_only_when_nothing_follows() {
        for (bytes, waits, want) in [
            (&b"\x1b"[..], true, Some(Key::Escape)),
            (b"\x1b[", true, Some(Key::Escape)),
            (b"\xe4", true, None),
            (b"a", false, None),
            (b"\x1b[200~half", false, None),
        ] {
            let mut keys = Keys::default();
            keys.feed(bytes);
            assert_eq!((keys.is_waiting(), keys.give_up()), (waits, want), "{bytes:?}");
        }
    }
}
