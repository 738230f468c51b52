//! Excerpts of findings for the user: one line, no invisible characters, no credential.

use super::Match;
use super::char_classes::is_ignorable;
use super::rules::HIDDEN;
use crate::redact::by_shape;

/// The maximum length in characters.
const LONGEST: usize = 80;
/// Characters shown around hidden ones.
const AROUND: usize = 16;
/// Characters that are read: a credential can begin inside the excerpt and end after it.
const READ: usize = 256;

pub(super) fn of(text: &str, found: &Match) -> String {
    let at = &found.at;
    if found.id == super::secret_values::ID {
        let name: String =
            text[at.clone()].chars().take_while(|char| char.is_ascii_alphabetic() || *char == '_').collect();
        let is_named = text[at.start + name.len()..at.end].starts_with(['=', ':', ' ', '"', '\'']);
        return if is_named { format!("{name} [redacted]") } else { "[redacted]".to_owned() };
    }
    let start = if found.id.starts_with(HIDDEN) { before(text, at.start) } else { at.start };
    let end = if found.id.starts_with(HIDDEN) { after(text, at.end) } else { at.end };
    let piece: String = text[start..end].chars().take(READ).collect();
    one_line(&by_shape(&piece))
}

fn before(text: &str, at: usize) -> usize {
    let line = text[..at].char_indices().rev().take(AROUND).take_while(|(_, char)| *char != '\n');
    line.last().map_or(at, |(start, _)| start)
}

fn after(text: &str, at: usize) -> usize {
    let line = text[at..].chars().take(AROUND).take_while(|char| *char != '\n');
    at + line.map(char::len_utf8).sum::<usize>()
}

fn one_line(piece: &str) -> String {
    let (mut out, mut count) = (String::new(), 0);
    let mut was_blank = true;
    for char in piece.trim().chars() {
        if count >= LONGEST {
            out.push('…');
            break;
        }
        let is_blank = char.is_whitespace();
        match char {
            _ if is_blank && was_blank => continue,
            _ if is_blank => out.push(' '),
            _ if is_ignorable(char) || char.is_control() => {
                let code = format!("<U+{:04X}>", u32::from(char));
                count += code.len() - 1;
                out.push_str(&code);
            }
            _ => out.push(char),
        }
        (was_blank, count) = (is_blank, count + 1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_is_one_short_line_without_hidden_characters() {
        for (given, want) in [
            ("plain", "plain".to_owned()),
            ("a\n  b\tc\r\nd", "a b c d".to_owned()),
            ("a\u{200b}b\u{1b}[2J", "a<U+200B>b<U+001B>[2J".to_owned()),
            (&"x".repeat(100), format!("{}…", "x".repeat(80))),
        ] {
            assert_eq!(one_line(given), want, "{given:?}");
        }
    }
}
