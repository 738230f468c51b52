//! The picker as lines of text.

use super::excerpt::{self, Piece};
use super::layout::Area;
use super::paint::{Frame, Look, Span};
use super::state::{Picker, PreviewMessage, Row};
use crate::term::fitting;
use crate::wrap::wrapped;
use unicode_width::UnicodeWidthStr;

/// Draws the screen.
pub(super) fn frame(picker: &Picker) -> Frame {
    let (size, layout) = (picker.size(), picker.layout());
    let mut frame = Frame { lines: vec![Vec::new(); size.lines], cursor: (0, 0) };
    frame.head(picker, size.columns);
    frame.list(picker, layout.list);
    if let Some(area) = layout.preview {
        frame.preview(picker, area);
    }
    let hints = hints(picker, size.columns);
    frame.put(size.lines.saturating_sub(1), 0, &hints, Look::Dim);
    frame
}

impl Frame {
    /// Lines outside of the screen are not drawn.
    fn put(&mut self, line: usize, column: usize, text: &str, look: Look) {
        if let Some(line) = self.lines.get_mut(line)
            && !text.is_empty()
        {
            line.push(Span { column, text: text.to_owned(), look });
        }
    }

    fn head(&mut self, picker: &Picker, columns: usize) {
        self.put(0, 0, &fitting("Sessions", columns), Look::Bold);
        self.put(0, 10, &fitting(&count_line(picker), columns.saturating_sub(10)), Look::Dim);
        let query = end_of(picker.query(), columns.saturating_sub(4));
        self.put(1, 0, "❯ ", Look::Bold);
        match query.is_empty() {
            true => self.put(1, 2, &fitting("type to search", columns.saturating_sub(2)), Look::Dim),
            false => self.put(1, 2, &query, Look::Plain),
        }
        self.cursor = (1, 2 + query.width());
    }

    fn list(&mut self, picker: &Picker, area: Area) {
        let rows = picker.rows().enumerate().skip(picker.top()).take(area.lines);
        let mut is_empty = true;
        for (line, (place, row)) in rows.enumerate() {
            is_empty = false;
            let is_selected = place == picker.selected();
            self.row(area, area.line + line, &row, (name(picker, &row), is_selected));
        }
        if is_empty && area.lines > 0 {
            let nothing = match picker.wanted_search() {
                Some(_) => "No title matches; looking into the messages…",
                None => "Nothing matches. Esc clears the search.",
            };
            self.put(area.line, 2, &fitting(nothing, area.columns.saturating_sub(2)), Look::Dim);
        }
    }

    fn row(&mut self, area: Area, line: usize, row: &Row<'_>, (name, is_selected): (&str, bool)) {
        let look = if is_selected { Look::Bold } else { Look::Plain };
        if is_selected {
            self.put(line, area.column, "❯", Look::Bold);
        }
        let right = match row {
            Row::Session(entry) => {
                vec![(10, entry.when.clone()), (5, entry.messages.to_string()), (10, entry.source.clone())]
            }
            // On a narrow screen the message matters more than its time.
            Row::Hit(_) if area.columns < 50 => Vec::new(),
            Row::Hit(hit) => vec![(10, hit.when.clone())],
        };
        let end = self.right_side(area, line, &right);
        let (start, width) = (area.column + 2, end.saturating_sub(area.column + 3));
        match row {
            Row::Session(_) => self.put(line, start, &fitting(name, width), look),
            Row::Hit(hit) => {
                let who = if width >= 40 { fitting(name, width / 3) } else { String::new() };
                self.put(line, start, &who, look);
                let indent = if who.is_empty() { 0 } else { width / 3 + 1 };
                let role = format!("{}: ", who_said(&hit.role));
                self.put(line, start + indent, &role, Look::Dim);
                let begin = indent + role.width();
                let pieces = excerpt::of(&hit.snippet, width.saturating_sub(begin));
                self.pieces(line, start + begin, &pieces, look);
            }
        }
    }

    /// Draws columns at the right end, the last one first, as many as fit. Returns the column at which they start.
    fn right_side(&mut self, area: Area, line: usize, cells: &[(usize, String)]) -> usize {
        let mut end = area.column + area.columns;
        for (place, (width, text)) in cells.iter().enumerate() {
            // Three fifths of the line are for the title, or all but the time on a narrow screen.
            let is_room = end - area.column >= width + 2 + area.columns * 3 / 5 || place == 0;
            if area.columns < 30 || !is_room {
                break;
            }
            let text = fitting(text, *width);
            let begin = end - width;
            self.put(line, begin + width - text.width(), &text, Look::Dim);
            end = begin - 1;
        }
        end
    }

    fn pieces(&mut self, line: usize, column: usize, pieces: &[Piece], look: Look) {
        let mut at = column;
        for piece in pieces {
            self.put(line, at, &piece.text, if piece.is_marked { Look::Marked } else { look });
            at += piece.text.width();
        }
    }

    fn preview(&mut self, picker: &Picker, area: Area) {
        match area.column {
            0 => self.put(area.line.saturating_sub(1), 0, &"─".repeat(area.columns), Look::Dim),
            column => {
                for line in area.line..area.line + area.lines {
                    self.put(line, column - 1, "│", Look::Dim);
                }
            }
        }
        let start = area.column + usize::from(area.column > 0);
        let width = (area.column + area.columns).saturating_sub(start);
        let lines = match (picker.preview(), picker.wanted_tail()) {
            (Some(said), _) => preview_lines(said, width),
            (None, Some(_)) => vec![(fitting("Reading…", width), Look::Dim)],
            (None, None) => Vec::new(),
        };
        // The user recognises a session by its end.
        let first = lines.len().saturating_sub(area.lines);
        for (line, (text, look)) in lines[first..].iter().enumerate() {
            self.put(area.line + line, start, text, *look);
        }
    }
}

/// The name of a hit: its title, or the name that the list shows for its session.
fn name<'a>(picker: &'a Picker, row: &Row<'a>) -> &'a str {
    match row {
        Row::Session(entry) => &entry.name,
        Row::Hit(hit) if hit.name.is_empty() => picker.name_of(&hit.id).unwrap_or(hit.id.as_str()),
        Row::Hit(hit) => &hit.name,
    }
}

fn preview_lines(said: &[PreviewMessage], width: usize) -> Vec<(String, Look)> {
    let mut lines = Vec::new();
    for said in said {
        let look = if said.who.is_empty() { Look::Dim } else { Look::Plain };
        if !said.who.is_empty() {
            lines.push((fitting(&format!("{}:", said.who), width), Look::Bold));
        }
        lines.extend(wrapped(&said.text, width).into_iter().map(|line| (line, look)));
    }
    if lines.is_empty() {
        lines.push((fitting("This session has no messages.", width), Look::Dim));
    }
    lines
}

fn count_line(picker: &Picker) -> String {
    let (shown, all) = picker.matching();
    let mut line = if shown == all { format!("{all}") } else { format!("{shown} of {all}") };
    match (picker.wanted_search(), picker.hits().len()) {
        (Some(_), _) => line.push_str(", searching…"),
        (None, 0) => {}
        (None, hits) => line.push_str(&format!(", {hits} in messages")),
    }
    if let Some(remark) = picker.remark() {
        line.push_str(&format!(" ({remark})"));
    }
    line
}

/// The key hints that fit, the most important first.
fn hints(picker: &Picker, columns: usize) -> String {
    let escape = if picker.query().is_empty() { "Esc leave" } else { "Esc clear" };
    let mut line = String::new();
    for hint in ["Enter resume", escape, "Tab preview", "↑↓ PgUp PgDn move", "Ctrl-C leave"] {
        let longer = if line.is_empty() { hint.to_owned() } else { format!("{line}  {hint}") };
        if longer.width() > columns {
            break;
        }
        line = longer;
    }
    line
}

fn who_said(role: &str) -> &str {
    match role {
        "user" => "you",
        "assistant" => "hermes",
        other => other,
    }
}

/// The end of the typed query, where the cursor is.
fn end_of(text: &str, width: usize) -> String {
    let text = crate::term::printable(text).into_owned();
    let mut start = text.as_str();
    while start.width() > width {
        let mut rest = start.chars();
        rest.next();
        start = rest.as_str();
    }
    start.to_owned()
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
