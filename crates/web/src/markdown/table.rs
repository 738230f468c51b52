//! Tables with data, and tables that only place things on the page.

use super::{Block, Writer, joined};
use crate::dom::Id;

/// Limits of one table.
const MOST_COLUMNS: usize = 60;
const MOST_SPAN: usize = 1_000;

impl Writer<'_> {
    pub(super) fn table(&self, id: Id, depth: usize) -> String {
        if let Some(code) = self.numbered_code(id) {
            return self.code_block(code);
        }
        let rows = self.rows(id);
        let is_wide = rows.iter().any(|row| row.len() > 1);
        let role = self.dom.attribute(id, "role").unwrap_or_default();
        let inside = self.inside(id);
        if matches!(role, "presentation" | "none") || inside.table || inside.structure || !is_wide {
            return joined(&self.cells_as_blocks(id, depth), "\n\n");
        }
        let table = lines(&grid(self, &rows));
        let caption = self.dom.children(id).find(|child| self.dom.name(*child) == "caption");
        let caption = caption.map(|caption| self.children_inline(caption, 0).trim().to_owned());
        match caption.filter(|caption| !caption.is_empty()) {
            Some(caption) => format!("{caption}\n\n{table}"),
            None => table,
        }
    }

    /// The code of a table with line numbers in its first column.
    fn numbered_code(&self, id: Id) -> Option<Id> {
        let class = self.dom.attribute(id, "class").unwrap_or_default();
        let is_code = ["highlight", "rouge", "code"].iter().any(|word| class.contains(word));
        let below = self.dom.walk(id, |_| false).filter(|id| self.dom.name(*id) == "pre");
        (is_code && self.inside(id).structure).then(|| below.last()).flatten()
    }

    fn cells_as_blocks(&self, id: Id, depth: usize) -> Vec<Block> {
        self.blocks(id, depth + 1)
    }

    /// The cells of the rows. Tables in the cells have been ruled out or are not looked into.
    fn rows(&self, table: Id) -> Vec<Vec<Id>> {
        let is_other = move |id: Id| id != table && self.dom.name(id) == "table";
        let skips = move |id: Id| is_other(id) || self.content.is_skipped(id);
        let rows = self.dom.walk(table, skips).filter(|id| self.dom.name(*id) == "tr");
        let is_cell = |id: &Id| matches!(self.dom.name(*id), "td" | "th") && !self.content.is_skipped(*id);
        rows.map(|row| self.dom.children(row).filter(is_cell).collect::<Vec<_>>())
            .filter(|row| !row.is_empty())
            .collect()
    }

    fn span(&self, cell: Id, name: &str) -> usize {
        let stated = self.dom.attribute(cell, name).and_then(|text| text.trim().parse().ok());
        stated.unwrap_or(1).clamp(1, MOST_SPAN)
    }
}

/// The texts of the cells, with those that span rows repeated in each of them.
fn grid(writer: &Writer<'_>, rows: &[Vec<Id>]) -> Vec<Vec<String>> {
    let mut grid = Vec::with_capacity(rows.len());
    // By column: the rows that a cell above still covers, and its text.
    let mut covering: Vec<(usize, String)> = Vec::new();
    for row in rows {
        let mut line: Vec<String> = Vec::new();
        let mut cells = row.iter();
        while line.len() < MOST_COLUMNS {
            let column = line.len();
            if let Some((left, text)) = covering.get_mut(column).filter(|(left, _)| *left > 0) {
                *left -= 1;
                let copy = if writer.takes(text.len()) { text.clone() } else { String::new() };
                line.push(copy);
                continue;
            }
            let Some(cell) = cells.next() else { break };
            let text = cell_text(&writer.children_inline(*cell, 0));
            let below = writer.span(*cell, "rowspan") - 1;
            for nth in 0..writer.span(*cell, "colspan").min(MOST_COLUMNS - column) {
                let text = if nth == 0 { text.clone() } else { String::new() };
                covering.resize_with(covering.len().max(line.len() + 1), Default::default);
                covering[line.len()] = (below, text.clone());
                line.push(text);
            }
        }
        grid.push(line);
    }
    grid
}

fn cell_text(text: &str) -> String {
    text.trim().replace('\n', " ").replace('|', "\\|")
}

/// A grid as lines; its first row is the head.
fn lines(grid: &[Vec<String>]) -> String {
    let columns = grid.iter().map(Vec::len).max().unwrap_or(0);
    let line = |row: &[String]| {
        let cells = (0..columns).map(|column| row.get(column).map_or("", String::as_str));
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut all: Vec<String> = grid.iter().map(|row| line(row)).collect();
    all.insert(1.min(all.len()), format!("|{}", " --- |".repeat(columns)));
    all.join("\n")
}
