//! The line that is typed while a turn runs: keys in, lines out.

use crate::keys::Key;

/// Input that has not been entered yet.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Draft(String);

impl Draft {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }

    /// Takes a key; Enter returns the line, unless it is blank.
    pub(crate) fn press(&mut self, key: Key) -> Option<String> {
        match key {
            Key::Text(text) | Key::Paste(text) => self.0.push_str(&text),
            Key::Backspace => drop(self.0.pop()),
            Key::Control('u') => self.0.clear(),
            Key::Control('w') => {
                let words = self.0.trim_end();
                let end = words.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.0.truncate(end);
            }
            Key::Enter => {
                let line = std::mem::take(&mut self.0);
                return Some(line).filter(|line| !line.trim().is_empty());
            }
            Key::Control(_) | Key::Escape | Key::Tab | Key::Up | Key::Down | Key::Left | Key::Right => {}
            Key::PageUp | Key::PageDown | Key::Home | Key::End => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;

    #[test]
    fn keys_become_lines() {
        for (bytes, lines, left) in [
            ("hello\r", vec!["hello"], ""),
            ("one\rtwo\rth", vec!["one", "two"], "th"),
            ("  \r\r", vec![], ""),
            ("hezo\x7f\x7fllo\r", vec!["hello"], ""),
            ("wrong\x15right", vec![], "right"),
            ("one two \x17", vec![], "one "),
            ("\x1b[200~a\r\nb\x1b[201~ c\r", vec!["a\nb c"], ""),
            ("a\x1b[A\x1b[D\x04b", vec![], "ab"),
            ("中é\x7f", vec![], "中"),
        ] {
            let mut draft = Draft::default();
            let entered: Vec<String> = Keys::default()
                .feed(bytes.as_bytes())
                .into_iter()
                .filter_map(|key| draft.press(key))
                .collect();
            assert_eq!(
                (entered, draft.as_str()),
                (lines.iter().map(|it| (*it).to_owned()).collect(), left),
                "{bytes:?}"
            );
        }
    }
}
