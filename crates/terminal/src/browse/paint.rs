//! The bytes that put lines of text on a screen.
//!
//! Every piece of a line is placed by column number: a character that the terminal draws wider or narrower
//! than expected cannot shift the ones after it.

use crate::term::Style;

/// The style of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    Bold,
    Dim,
    /// A match of the search.
    Marked,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) column: usize,
    pub(super) text: String,
    pub(super) look: Look,
}

/// The content of the screen, and the place of the cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Frame {
    pub(super) lines: Vec<Vec<Span>>,
    pub(super) cursor: (usize, usize),
}

/// The bytes that turn one screen into another. Unchanged lines are not sent.
pub(super) fn paint(old: &Frame, new: &Frame, style: Style) -> String {
    let mut out = String::from("\x1b[?25l");
    let is_resized = old.lines.len() != new.lines.len();
    for (line, spans) in new.lines.iter().enumerate() {
        if !is_resized && old.lines.get(line) == Some(spans) {
            continue;
        }
        out.push_str(&format!("\x1b[{};1H\x1b[2K", line + 1));
        for span in spans {
            let on = code(span.look, style);
            let off = if on.is_empty() { "" } else { "\x1b[0m" };
            out.push_str(&format!("\x1b[{};{}H{on}{}{off}", line + 1, span.column + 1, span.text));
        }
    }
    let (line, column) = new.cursor;
    out.push_str(&format!("\x1b[{};{}H\x1b[?25h", line + 1, column + 1));
    out
}

fn code(look: Look, style: Style) -> &'static str {
    match look {
        Look::Plain => "",
        Look::Bold => style.bold,
        Look::Dim => style.dim,
        Look::Marked if style.bold.is_empty() => "",
        Look::Marked => "\x1b[1;33m",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(lines: &[&[(usize, &str, Look)]]) -> Frame {
        let span = |(column, text, look): &(usize, &str, Look)| Span {
            column: *column,
            text: (*text).to_owned(),
            look: *look,
        };
        Frame { lines: lines.iter().map(|line| line.iter().map(span).collect()).collect(), cursor: (0, 2) }
    }

    #[test]
    fn only_changed_lines_are_painted() {
        let first = frame(&[&[(0, "one", Look::Bold)], &[(2, "中文", Look::Plain), (9, "x", Look::Marked)]]);
        let second = frame(&[&[(0, "one", Look::Bold)], &[(2, "two", Look::Dim)]]);
        let colour = Style { dim: "<dim>", bold: "<bold>", red: "", off: "" };
        let end = "\x1b[1;3H\x1b[?25h";
        let one = "\x1b[1;1H\x1b[2K\x1b[1;1H";
        let two = "\x1b[2;1H\x1b[2K\x1b[2;3H";
        for (old, new, style, want) in [
            (&first, &first, Style::PLAIN, String::new()),
            (&first, &second, Style::PLAIN, format!("{two}two")),
            (&first, &second, colour, format!("{two}<dim>two\x1b[0m")),
            (&Frame::default(), &first, Style::PLAIN, format!("{one}one{two}中文\x1b[2;10Hx")),
            (&second, &first, colour, format!("{two}中文\x1b[2;10H\x1b[1;33mx\x1b[0m")),
        ] {
            assert_eq!(paint(old, new, style), format!("\x1b[?25l{want}{end}"));
        }
    }
}
