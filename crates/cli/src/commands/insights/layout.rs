//! Lays out a page of text in a given width: a box, headings, pairs and bars.

use super::numbers::{bar, number};
use hermes_terminal::term::{Style, one_line};
use hermes_terminal::text::padded;
use hermes_terminal::wrapped;
use unicode_width::UnicodeWidthStr;

/// The longest bar.
const LONGEST_BAR: usize = 40;
/// Wide enough for two columns of pairs.
const TWO_COLUMNS: usize = 72;

pub(super) struct Page {
    text: String,
    width: usize,
    style: Style,
}

/// One bar with its label.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) count: u64,
    /// A remark after the number.
    pub(super) remark: String,
}

impl Page {
    pub(super) fn new(width: usize, style: Style) -> Self {
        Self { text: String::new(), width: width.clamp(36, 100), style }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn boxed(&mut self, lines: &[String]) {
        let inner = self.width - 2;
        let Style { bold, dim, off, .. } = self.style;
        self.line(&format!("{dim}╭{}╮{off}", "─".repeat(inner)));
        for (place, line) in lines.iter().enumerate() {
            let line = one_line(line, inner - 1);
            let look = if place == 0 { bold } else { "" };
            let left = (inner - line.width()) / 2;
            let right = inner - line.width() - left;
            let (before, after) = (" ".repeat(left), " ".repeat(right));
            self.line(&format!("{dim}│{off}{before}{look}{line}{off}{after}{dim}│{off}", off = off));
        }
        self.line(&format!("{dim}╰{}╯{off}", "─".repeat(inner)));
    }

    pub(super) fn heading(&mut self, title: &str) {
        let Style { bold, off, .. } = self.style;
        self.line(&format!("\n{bold}{title}{off}"));
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A paragraph, wrapped to the width.
    pub(super) fn paragraph(&mut self, text: &str) {
        for (place, line) in wrapped(text, self.width - 4).into_iter().enumerate() {
            self.line(&format!("{}{line}", if place == 0 { "  " } else { "    " }));
        }
    }

    /// Names and values, in two columns if they fit; down first, then across.
    pub(super) fn pairs(&mut self, pairs: &[(&str, String)]) {
        let Style { dim, off, .. } = self.style;
        let columns = if self.width >= TWO_COLUMNS { 2 } else { 1 };
        let cell = (self.width - 2) / columns;
        let names = pairs.iter().map(|(name, _)| name.width()).max().unwrap_or_default();
        let rows = pairs.len().div_ceil(columns);
        for row in 0..rows {
            let mut line = String::from(" ");
            for (name, value) in pairs.iter().skip(row).step_by(rows) {
                let value = padded(value, cell.saturating_sub(names + 4));
                line.push_str(&format!(" {dim}{}{off}  {value} ", padded(name, names)));
            }
            self.line(line.trim_end());
        }
    }

    /// One bar per row, the largest number filling the width.
    pub(super) fn bars(&mut self, rows: &[Row]) {
        let Style { dim, off, .. } = self.style;
        let longest = |of: fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or_default();
        let names = longest(|row| row.name.width()).clamp(3, self.width / 3);
        let numbers = longest(|row| number(row.count).width());
        let remarks = longest(|row| row.remark.width());
        let largest = rows.iter().map(|row| row.count).max().unwrap_or_default();
        let room = self.width.saturating_sub(2 + names + 2 + 1 + numbers);
        // On a narrow page, remarks are left out first.
        let has_remarks = room >= remarks + 2 + 12;
        let room = if has_remarks && remarks > 0 { room - remarks - 2 } else { room };
        let room = room.min(LONGEST_BAR);
        for row in rows {
            let bar = padded(&bar(row.count, largest, room), room);
            let line = format!("  {}  {bar} {:>numbers$}", padded(&row.name, names), number(row.count));
            match has_remarks && remarks > 0 {
                true => self.line(&format!("{line}  {dim}{:>remarks$}{off}", row.remark)),
                false => self.line(&line),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_page() {
        let row = |name: &str, count| Row { name: name.into(), count, remark: "33% of all".into() };
        for width in [36, 40, 72, 100] {
            // A style whose marks have no width, as on a screen.
            let style = Style { dim: "\u{200b}", bold: "\u{200b}", red: "", off: "\u{200b}" };
            let mut page = Page::new(width, style);
            page.paragraph("A paragraph that is too long for a narrow page and continues on another line");
            page.boxed(&["A title".into(), "and a second line of it that is rather long".into()]);
            page.pairs(&[("Sessions", "12".into()), ("Messages", "1,200 (of many kinds)".into())]);
            page.bars(&[row("terminal", 1_200), row("日本語の長い名前のツール", 30), row("todo", 1)]);
            let text = page.into_text();
            for line in text.lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
    }
}
