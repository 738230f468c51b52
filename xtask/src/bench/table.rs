//! Rows as a table and as JSON.

use super::row::Row;
use serde_json::{Value, json};

const HEAD: [&str; 6] = ["", "hermes", "compared with", "ratio", "target", ""];

/// A table with aligned columns; notes are at the end of their lines.
pub(super) fn text(rows: &[Row]) -> String {
    let mut lines = vec![HEAD.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let mut widths = [0; HEAD.len()];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let notes = std::iter::once("").chain(rows.iter().map(|row| row.note.as_str()));
    let lines = lines.iter().zip(notes).map(|(line, note)| aligned(line, &widths, note));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// The same rows, one object each.
pub(super) fn json(rows: &[Row]) -> String {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "name": row.name,
                "measured": row.measured.as_ref().ok().map(|quantity| quantity.number()),
                "text": row.measured.as_ref().map_or_else(Clone::clone, ToString::to_string),
                "compared_with": row.comparison.map(|(name, _)| name),
                "comparison": row.comparison.map(|(_, quantity)| quantity.number()),
                "ratio": row.ratio(),
                "target": row.target.to_string(),
                "verdict": row.verdict(),
                "note": row.note,
            })
        })
        .collect();
    format!("{:#}\n", Value::Array(rows))
}

fn cells(row: &Row) -> [String; 6] {
    [
        row.name.clone(),
        row.measured.as_ref().map_or_else(Clone::clone, ToString::to_string),
        row.comparison.map_or_else(String::new, |(name, quantity)| format!("{name} {quantity}")),
        row.ratio().map_or_else(String::new, |ratio| format!("{ratio:.2}x")),
        row.target.to_string(),
        row.verdict().to_owned(),
    ]
}

fn aligned(cells: &[String; 6], widths: &[usize; 6], note: &str) -> String {
    let cells = cells.iter().zip(widths);
    let line: String = cells.map(|(cell, width)| format!("{cell:<width$}  ")).collect();
    format!("{line}{note}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::row::{Quantity, Row, Target};
    use super::*;

    #[test]
    fn columns_are_aligned_and_notes_come_last() {
        let rows = [
            Row::new("a", Quantity::Millis(3.0))
                .beside("bare", Quantity::Millis(1.5))
                .target(Target::Times(4.0)),
            Row::skipped("longer", "skipped: no tool").note("why"),
        ];
        assert_eq!(
            text(&rows),
            "        hermes            compared with  ratio  target\n\
             a       3.00 ms           bare 1.50 ms   2.00x  <= 4x   ok\n\
             longer  skipped: no tool                        -       skipped  why\n"
        );
    }
}
