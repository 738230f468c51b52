//! The text of spreadsheets (.xlsx).

use crate::DocumentError;
use crate::text::Text;
use crate::xml::{Piece, Tag, Xml};
use crate::zip::Archive;
use std::collections::HashMap;

/// Empty cells that are shown before a cell; a cell further right follows without them.
const MOST_GAP: usize = 64;
/// Sheets that are read.
const MOST_SHEETS: usize = 200;

/// The text of a spreadsheet, up to `most_chars` characters: a line for each row, with tabs between cells. Formulas are
/// shown as their last values, dates as numbers.
pub fn xlsx_text(bytes: &[u8], most_chars: usize) -> Result<String, DocumentError> {
    let mut archive = Archive::open(bytes, "Excel")?;
    let Some(workbook) = archive.text("xl/workbook.xml")? else {
        return Err(DocumentError::OtherKind("Excel"));
    };
    let relations = archive.text("xl/_rels/workbook.xml.rels")?.unwrap_or_default();
    let shared = shared_texts(&archive.text("xl/sharedStrings.xml")?.unwrap_or_default());
    let mut text = Text::new(most_chars);
    for (name, file) in sheets(&workbook, &relations) {
        let Some(sheet) = archive.text(&file)? else { continue };
        text.push(&format!("[sheet {name}]"));
        text.end_line();
        read_sheet(&sheet, &shared, &mut text);
        text.end_line();
        if text.is_full() {
            break;
        }
    }
    match text.finish() {
        text if text.is_empty() && most_chars > 0 => Err(DocumentError::NoText),
        text => Ok(text),
    }
}

/// The names of the sheets and their files.
fn sheets(workbook: &str, relations: &str) -> Vec<(String, String)> {
    let starts =
        |xml| Xml::new(xml).filter_map(|piece| if let Piece::Start(tag) = piece { Some(tag) } else { None });
    let targets: HashMap<String, String> = starts(relations)
        .filter(|tag| tag.name == "Relationship")
        .filter_map(|tag| Some((tag.attribute("Id")?, tag.attribute("Target")?)))
        .collect();
    starts(workbook)
        .filter(|tag| tag.name == "sheet")
        .enumerate()
        .take(MOST_SHEETS)
        .map(|(index, tag)| {
            let target = tag.attribute("id").and_then(|id| targets.get(&id));
            let file = match target {
                Some(target) => match target.strip_prefix('/') {
                    Some(absolute) => absolute.to_owned(),
                    None => format!("xl/{target}"),
                },
                None => format!("xl/worksheets/sheet{}.xml", index + 1),
            };
            (tag.attribute("name").unwrap_or_default(), file)
        })
        .collect()
}

/// The texts that cells share, in order.
fn shared_texts(xml: &str) -> Vec<String> {
    let (mut texts, mut text, mut shown, mut phonetic) = (Vec::new(), String::new(), false, false);
    for piece in Xml::new(xml) {
        match piece {
            Piece::Start(Tag { name: "t", .. }) => shown = !phonetic,
            Piece::Start(Tag { name: "rPh", .. }) => phonetic = true,
            Piece::End("rPh") => phonetic = false,
            Piece::End("t") => shown = false,
            Piece::End("si") => texts.push(std::mem::take(&mut text)),
            Piece::Text(more) if shown => text.push_str(&more),
            Piece::Start(_) | Piece::End(_) | Piece::Text(_) => {}
        }
    }
    texts
}

/// A cell while it is read.
#[derive(Default)]
struct Cell {
    column: Option<usize>,
    kind: String,
    value: String,
}

fn read_sheet(xml: &str, shared: &[String], text: &mut Text) {
    let (mut cell, mut shown, mut next) = (Cell::default(), false, 0);
    for piece in Xml::new(xml) {
        match piece {
            Piece::Start(tag) => match tag.name {
                "row" => next = 0,
                "c" => {
                    let column = tag.attribute("r").as_deref().and_then(column_of);
                    cell =
                        Cell { column, kind: tag.attribute("t").unwrap_or_default(), value: String::new() };
                }
                "v" | "t" => shown = true,
                _ => {}
            },
            Piece::End("v" | "t") => shown = false,
            Piece::Text(more) if shown => cell.value.push_str(&more),
            Piece::End("c") => {
                let column = cell.column.unwrap_or(next);
                let gap = column.saturating_sub(next).min(MOST_GAP) + usize::from(next > 0 && column >= next);
                let value = shown_value(&cell, shared);
                if !value.is_empty() {
                    text.push(&"\t".repeat(gap));
                    text.push(&value);
                    next = column + 1;
                }
            }
            Piece::End("row") if next > 0 => text.end_line(),
            Piece::End(_) | Piece::Text(_) => {}
        }
        if text.is_full() {
            return;
        }
    }
}

fn shown_value(cell: &Cell, shared: &[String]) -> String {
    let value = match cell.kind.as_str() {
        "s" => cell
            .value
            .trim()
            .parse()
            .ok()
            .and_then(|index: usize| shared.get(index))
            .cloned()
            .unwrap_or_default(),
        "b" => if cell.value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
        _ => cell.value.clone(),
    };
    // A line of the text is a row.
    if value.contains(['\n', '\r', '\t']) { value.replace(['\n', '\r', '\t'], " ") } else { value }
}

/// The column of `BC12`, counted from 0.
fn column_of(reference: &str) -> Option<usize> {
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic).take(4);
    let number =
        letters.fold(0, |number, letter| number * 26 + usize::from(letter.to_ascii_uppercase() - b'A') + 1);
    number.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zip::archive;

    #[test]
    fn rows_are_read() {
        let bytes = archive(&[
            (
                "xl/workbook.xml",
                "<sheets><sheet name=\"A &amp; B\" r:id=\"r1\"/><sheet name=\"Two\" r:id=\"no\"/></sheets>",
            ),
            ("xl/_rels/workbook.xml.rels", "<Relationship Id=\"r1\" Target=\"worksheets/first.xml\"/>"),
            (
                "xl/sharedStrings.xml",
                "<sst><si><t>name</t></si><si><r><t>a </t></r><r><t>b</t></r><rPh><t>x</t></rPh></si></sst>",
            ),
            (
                "xl/worksheets/first.xml",
                "<row><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"D1\" t=\"b\"><v>1</v></c></row><row/>\
                 <row><c r=\"B2\"><f>1+1</f><v>2</v></c><c t=\"s\"><v>1</v></c><c t=\"s\"><v>99</v></c></row>",
            ),
            ("xl/worksheets/sheet2.xml", "<row><c t=\"inlineStr\"><is><t>in\nline</t></is></c></row>"),
        ]);
        let want = "[sheet A & B]\nname\t\t\tTRUE\n\t2\ta b\n\n[sheet Two]\nin line";
        assert_eq!(xlsx_text(&bytes, 1000).unwrap(), want);
        assert_eq!(xlsx_text(&archive(&[("a", "")]), 9), Err(DocumentError::OtherKind("Excel")));
    }

    #[test]
    fn columns_have_letters() {
        for (reference, want) in
            [("A1", Some(0)), ("Z9", Some(25)), ("AA1", Some(26)), ("XFD1", Some(16383)), ("1", None)]
        {
            assert_eq!(column_of(reference), want, "{reference}");
        }
    }
}
