//! Small operations on text that several tools need.

/// The first `most` characters of `text`.
pub(crate) fn head(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(byte, _)| &text[..byte])
}

/// `text` without terminal control sequences.
pub fn strip_ansi(text: &str) -> String {
    if !text.contains(['\u{1b}', '\u{9b}']) {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => skip_escape(&mut characters),
            '\u{9b}' => skip_control(&mut characters),
            other => plain.push(other),
        }
    }
    plain
}

fn skip_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match characters.next() {
        Some('[') => skip_control(characters),
        // Titles and links end with a bell or an escape and a backslash.
        Some(']' | 'P' | '_' | '^' | 'X') => {
            while let Some(character) = characters.next() {
                match character {
                    '\u{7}' | '\u{9c}' => return,
                    '\u{1b}' => {
                        characters.next_if_eq(&'\\');
                        return;
                    }
                    _ => {}
                }
            }
        }
        Some('(' | ')' | '#' | '%') => {
            characters.next();
        }
        _ => {}
    }
}

/// Parameters, then one final letter.
fn skip_control(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while characters.next_if(|character| matches!(character, ' '..='?')).is_some() {}
    characters.next_if(|character| matches!(character, '@'..='~'));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_go_and_text_stays() {
        for (text, want) in [
            ("plain", "plain"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://a\u{1b}\\link", "link"),
            ("a\u{1b}(Bb", "ab"),
            ("中\u{1b}[2K文", "中文"),
            ("cut\u{1b}[", "cut"),
            ("cut\u{1b}", "cut"),
        ] {
            assert_eq!(strip_ansi(text), want, "{text:?}");
        }
    }

    #[test]
    fn heads_count_characters() {
        assert_eq!(head("中文字", 2), "中文");
        assert_eq!(head("a", 2), "a");
    }
}
