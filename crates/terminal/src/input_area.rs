//! The typed line and pinned notices below the streamed text.
//!
//! The rows are erased before anything is printed and drawn again after it. Streamed text may stop in the middle
//! of a line; the cursor then returns to exactly that place.

use crate::keyboard::Prompt;
use crate::term;
use unicode_width::UnicodeWidthChar;

/// The place of the stream's cursor, and the rows below it.
#[derive(Debug, Default)]
pub(crate) struct InputArea {
    /// The column after the last printed character.
    column: usize,
    /// The number of rows below it.
    rows: usize,
}

impl InputArea {
    /// The bytes that erase the rows and return the cursor to the end of the stream.
    pub(crate) fn erase(&mut self, width: usize) -> String {
        let Some(above) = std::mem::take(&mut self.rows).checked_sub(1) else {
            return String::new();
        };
        let mut out = "\r\x1b[K\x1b[A".repeat(above);
        out.push_str("\r\x1b[K");
        if self.column >= width {
            // A full row: the cursor is where the next character begins a new one.
            self.column = 0;
        } else if self.column > 0 {
            out.push_str(&format!("\x1b[A\x1b[{}C", self.column));
        }
        out
    }

    /// Follows the cursor through printed text.
    pub(crate) fn printed(&mut self, text: &str, width: usize) {
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '\n' | '\r' => self.column = 0,
                '\t' => self.column = (self.column / 8 * 8 + 8).min(width.saturating_sub(1)),
                // Our own styles are the only escapes there are; they end with a letter.
                '\x1b' => {
                    let _ = characters.find(char::is_ascii_alphabetic);
                }
                other => {
                    let columns = other.width().unwrap_or(0);
                    self.column = if self.column + columns > width { columns } else { self.column + columns };
                }
            }
        }
    }

    /// The bytes that draw rows below the stream. None may be wider than the terminal.
    pub(crate) fn draw(&mut self, rows: &[String]) -> String {
        self.rows = rows.len();
        let below = if self.column > 0 && !rows.is_empty() { "\n" } else { "" };
        format!("{below}{}", rows.join("\n"))
    }
}

/// The row of the typed line; `None` if it is empty, unless an answer is expected.
pub(crate) fn typed_row(prompt: Prompt, draft: &str, width: usize) -> Option<String> {
    if prompt == Prompt::Line && draft.is_empty() {
        return None;
    }
    let label = prompt.label();
    let columns = width.saturating_sub(label.chars().count() + 1);
    Some(format!("{label}{}", tail(draft, columns)))
}

/// The end of the text on one line: the part that is being typed.
fn tail(text: &str, width: usize) -> String {
    let shown: Vec<char> = term::printable(text).replace('\n', "⏎").replace('\t', " ").chars().collect();
    let columns = |characters: &[char]| characters.iter().map(|it| it.width().unwrap_or(0)).sum::<usize>();
    if columns(&shown) <= width {
        return shown.into_iter().collect();
    }
    let fits = |from: &usize| columns(&shown[*from..]) < width;
    let from = (0..shown.len()).find(fits).unwrap_or(shown.len());
    std::iter::once('…').chain(shown[from..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The screen of a terminal of this width after these pieces, with the rows below each of them.
    fn shown(pieces: &[&str], rows: &[String], width: usize) -> Vec<String> {
        let mut input_area = InputArea::default();
        let mut bytes = String::new();
        for piece in pieces {
            bytes.push_str(&input_area.erase(width));
            bytes.push_str(piece);
            input_area.printed(piece, width);
            bytes.push_str(&input_area.draw(rows));
        }
        played(&bytes, width)
    }

    /// A minimal terminal.
    fn played(bytes: &str, width: usize) -> Vec<String> {
        let (mut rows, mut row, mut column) = (vec![Vec::<char>::new()], 0, 0);
        let mut characters = bytes.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\n' => (row, column) = (row + 1, 0),
                '\r' => column = 0,
                '\x1b' => {
                    let mut number = String::new();
                    let end = characters.find(|it| {
                        number.extend(it.is_ascii_digit().then_some(*it));
                        it.is_ascii_alphabetic()
                    });
                    match end {
                        Some('K') => rows[row].truncate(column),
                        Some('A') => row -= 1,
                        Some('C') => column += number.parse::<usize>().unwrap(),
                        _ => {}
                    }
                }
                other => {
                    if column == width {
                        (row, column) = (row + 1, 0);
                    }
                    rows.resize(rows.len().max(row + 1), Vec::new());
                    let line = &mut rows[row];
                    line.resize(line.len().max(column + 1), ' ');
                    line[column] = other;
                    column += 1;
                }
            }
            rows.resize(rows.len().max(row + 1), Vec::new());
        }
        rows.into_iter().map(|row| row.into_iter().collect()).collect()
    }

    #[test]
    fn stream_continues_where_it_stopped() {
        for (pieces, width, want) in [
            (&["Hel", "lo\n", "you"][..], 20, vec!["Hello", "you", "❯ hm"]),
            (&["0123456789", "abc"], 10, vec!["0123456789", "abc", "❯ hm"]),
            (&["0123456789abc", "def\n\n"], 10, vec!["0123456789", "abcdef", "", "❯ hm"]),
            (&["\x1b[2mdim\x1b[0m", "mer"], 20, vec!["dimmer", "❯ hm"]),
            (&["line\n"], 20, vec!["line", "❯ hm"]),
        ] {
            let typed = typed_row(Prompt::Line, "hm", width).unwrap();
            assert_eq!(shown(pieces, std::slice::from_ref(&typed), width), want, "{pieces:?}");
            let plain: Vec<String> = want[..want.len() - 1].iter().map(|it| (*it).to_owned()).collect();
            let two = shown(pieces, &["queued".to_owned(), typed], width);
            assert_eq!(two[..plain.len()], plain, "{pieces:?} with two rows");
            assert_eq!(two[plain.len()..], ["queued", "❯ hm"], "{pieces:?} with two rows");
            let mut without = shown(pieces, &[], width);
            without.truncate(plain.len());
            assert_eq!(without, plain, "{pieces:?} without a draft");
        }
    }

    #[test]
    fn expected_answer_has_a_visible_prompt() {
        for (prompt, draft, want) in [
            (Prompt::Line, "", None),
            (Prompt::Answer, "", Some("  Your answer: ")),
            (Prompt::Answer, "2", Some("  Your answer: 2")),
            (Prompt::OwnAnswer, "green", Some("  Your own answer: green")),
        ] {
            assert_eq!(typed_row(prompt, draft, 80).as_deref(), want, "{prompt:?} {draft:?}");
        }
    }

    #[test]
    fn long_line_shows_its_end() {
        for (text, width, want) in [
            ("short", 8, "short"),
            ("one two three", 8, "…o three"),
            ("a\nb", 8, "a⏎b"),
            ("中文字", 5, "…文字"),
        ] {
            assert_eq!(tail(text, width), want, "{text}");
        }
    }
}
