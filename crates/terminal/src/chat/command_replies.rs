//! Replies to slash commands as lines of the terminal.

use crate::compaction_text::{compaction_line, meter_lines};
use crate::term::{Style, printable};
use crate::text::local_time;
use hermes_runtime::commands::{Choice, CommandReply, Panel};
use unicode_width::UnicodeWidthStr;

/// The lines of a reply. Effects have none.
pub(super) fn lines(reply: &CommandReply, style: Style) -> Vec<String> {
    let Style { dim, off, .. } = style;
    let note = |text: &str| format!("{dim}  {}{off}", printable(text));
    match reply {
        CommandReply::Text(text) => text.lines().map(note).collect(),
        CommandReply::Table { title, rows } => {
            let rows = aligned(rows).into_iter().map(|row| note(&row));
            title.iter().map(|title| note(title)).chain(rows).collect()
        }
        CommandReply::Choices { title, choices } => {
            let row = |choice: &Choice| format!("{}  {}  {}", choice.id, local_time(choice.at), choice.label);
            std::iter::once(note(title)).chain(choices.iter().map(|choice| note(&row(choice)))).collect()
        }
        CommandReply::Panel(Panel::Context(meter)) => {
            meter_lines(meter, style).into_iter().map(|line| format!("  {line}")).collect()
        }
        CommandReply::Panel(Panel::Compacted(report)) => vec![note(&compaction_line(report))],
        CommandReply::Effect(_) => Vec::new(),
    }
}

/// Rows whose columns begin at the same place.
fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |row: &Vec<String>, at: usize| row.get(at).map_or(0, |cell| cell.width());
    let widths: Vec<usize> =
        (0..columns).map(|at| rows.iter().map(|row| cell(row, at)).max().unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(at, cell)| match at + 1 == row.len() {
            true => cell.clone(),
            false => format!("{cell}{}", " ".repeat(widths[at] - cell.width())),
        });
        cells.collect::<Vec<_>>().join("  ")
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_tables_are_aligned() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let rows = [row(&["1", "running", "make"]), row(&["12", "lost", "a b"]), row(&["中", "x"])];
        assert_eq!(aligned(&rows), ["1   running  make", "12  lost     a b", "中  x"]);
    }
}
