//! The forms in which commands print results, notices and questions.

use crate::term;
use serde_json::Value;
use std::io;

/// Prints a JSON value on one line; `false` means that standard output is closed.
pub fn json(value: &Value) -> bool {
    term::print_line(&value.to_string())
}

/// Prints lines until standard output is closed; `false` means that it is.
pub fn lines<L: AsRef<str>>(lines: impl IntoIterator<Item = L>) -> bool {
    lines.into_iter().all(|line| term::print_line(line.as_ref()))
}

/// Prints names and values in two columns; `false` means that standard output is closed.
pub fn fields<V: AsRef<str>>(fields: impl IntoIterator<Item = (&'static str, V)>) -> bool {
    lines(fields.into_iter().map(|(name, value)| field(name, value.as_ref())))
}

/// One line of [`fields`].
pub fn field(name: &str, value: &str) -> String {
    format!("{name:>9}  {}", term::printable(value))
}

/// Prints a notice to standard error, as `hermes: TEXT`.
pub fn notice(text: &str) {
    term::print_error(&format!("hermes: {}", term::printable(text)));
}

/// Asks a question at the terminal; only `y` or `yes` confirms.
pub fn confirm(question: &str) -> io::Result<bool> {
    term::print(question);
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(is_yes(&answer))
}

/// Returns true for `y` and `yes`.
pub(crate) fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// A column of a [`Table`].
#[derive(Debug, Clone, Copy)]
pub struct Column {
    heading: &'static str,
    width: usize,
    is_right: bool,
}

impl Column {
    /// A column of text, at least `width` wide.
    pub const fn left(heading: &'static str, width: usize) -> Self {
        Self { heading, width, is_right: false }
    }

    /// A column of numbers, at least `width` wide.
    pub const fn right(heading: &'static str, width: usize) -> Self {
        Self { heading, width, is_right: true }
    }
}

/// A table with a heading. Columns are two spaces apart, and the last one is not padded.
#[derive(Debug)]
pub struct Table<'a>(&'a [Column]);

impl<'a> Table<'a> {
    /// A table of these columns.
    pub const fn new(columns: &'a [Column]) -> Self {
        Self(columns)
    }

    /// The line of headings.
    pub fn heading(&self, style: term::Style) -> String {
        let headings: Vec<&str> = self.0.iter().map(|column| column.heading).collect();
        format!("{}{}{}", style.dim, self.row(&headings), style.off)
    }

    /// A row. Control characters are escaped.
    pub fn row(&self, cells: &[&str]) -> String {
        let last = self.0.len().saturating_sub(1);
        let cells = self.0.iter().zip(cells).enumerate().map(|(place, (column, cell))| {
            let (cell, width) = (term::printable(cell), column.width);
            match (column.is_right, place == last) {
                (true, _) => format!("{cell:>width$}"),
                (false, true) => cell.into_owned(),
                (false, false) => format!("{cell:<width$}"),
            }
        });
        cells.collect::<Vec<_>>().join("  ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_line_up_with_the_heading() {
        const COLUMNS: &[Column] =
            &[Column::left("Name", 6), Column::right("Size", 5), Column::left("Note", 4)];
        let table = Table::new(COLUMNS);
        let rows = [
            table.heading(term::Style::PLAIN),
            table.row(&["a", "12", ""]),
            table.row(&["longer name", "123456", "x\x1b[2J"]),
        ];
        insta::assert_snapshot!(rows.join("\n"), @"
        Name     Size  Note
        a          12  
        longer name  123456  x\\u{1b}[2J
        ");
    }

    #[test]
    fn names_of_fields_are_right_aligned() {
        assert_eq!(field("key", "a\rb"), "      key  ab");
    }
}
