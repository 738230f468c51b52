//! The text of PDF files.
//!
//! Text is taken in the order in which it is drawn; places of characters decide about lines and words. Encrypted files
//! are refused, scanned pages have no text.

mod cmap;
mod content;
mod encoding;
mod file;
mod filters;
mod font;
mod layout;
mod object;

use crate::DocumentError;
use crate::text::Text;
use content::{Contents, Fonts};
use file::PdfFile;
use layout::Layout;
use object::{Dict, Object};
use std::collections::HashSet;
use std::rc::Rc;

/// Levels of the tree of pages, at most.
const DEEPEST: usize = 64;
/// Pages that are read, at most.
const MOST_PAGES: usize = 20_000;

/// The text of a PDF file, up to `most_chars` characters: a text of that length may be cut.
pub fn pdf_text(bytes: &[u8], most_chars: usize) -> Result<String, DocumentError> {
    let mut file = PdfFile::open(bytes)?;
    let pages = pages(&mut file)?;
    if pages.is_empty() {
        return Err(DocumentError::Damaged("no pages were found"));
    }
    let (mut text, mut fonts, mut layout) = (Text::new(most_chars), Fonts::new(), Layout::default());
    for page in pages {
        let content = content_of(&page.dict, &mut file)?;
        let mut contents = Contents {
            file: &mut file,
            fonts: &mut fonts,
            layout: &mut layout,
            text: &mut text,
            open: Vec::new(),
        };
        contents.run(&content, &page.resources)?;
        layout.end_page(&mut text);
        if text.is_full() {
            break;
        }
    }
    match text.finish() {
        text if text.is_empty() && most_chars > 0 => Err(DocumentError::NoText),
        text => Ok(text),
    }
}

/// A page and the resources that it has or inherits.
struct Page {
    dict: Dict,
    resources: Rc<Dict>,
}

fn pages(file: &mut PdfFile<'_>) -> Result<Vec<Page>, DocumentError> {
    let mut found = Vec::new();
    if let Some(root) = file.root()? {
        let mut seen = HashSet::new();
        walk(root.get("Pages"), &Rc::default(), 0, &mut seen, &mut found, file)?;
    }
    if found.is_empty() {
        for dict in file.loose_pages()?.into_iter().take(MOST_PAGES) {
            let resources = Rc::new(file.dict(dict.get("Resources"))?.unwrap_or_default());
            found.push(Page { dict, resources });
        }
    }
    Ok(found)
}

fn walk(
    node: &Object,
    inherited: &Rc<Dict>,
    depth: usize,
    seen: &mut HashSet<u32>,
    found: &mut Vec<Page>,
    file: &mut PdfFile<'_>,
) -> Result<(), DocumentError> {
    let is_new = match node {
        Object::Reference(number) => seen.insert(*number),
        _ => true,
    };
    if !is_new || depth > DEEPEST || found.len() >= MOST_PAGES {
        return Ok(());
    }
    let Some(dict) = file.dict(node)? else { return Ok(()) };
    let resources = file.dict(dict.get("Resources"))?.map_or_else(|| inherited.clone(), Rc::new);
    let kids = file.resolve(dict.get("Kids"))?;
    if kids.array().is_empty() {
        if !dict.is_type("Pages") {
            found.push(Page { resources, dict });
        }
        return Ok(());
    }
    kids.array().iter().try_for_each(|kid| walk(kid, &resources, depth + 1, seen, found, file))
}

/// The contents of a page, which may be in pieces.
fn content_of(page: &Dict, file: &mut PdfFile<'_>) -> Result<Vec<u8>, DocumentError> {
    let contents = file.resolve(page.get("Contents"))?;
    if let Object::Stream(..) = contents {
        return Ok(file.stream(&contents)?.unwrap_or_default());
    }
    let mut bytes = Vec::new();
    for piece in contents.array() {
        let piece = file.stream(piece)?.unwrap_or_default();
        // One piece may be named many times.
        file.budget.unpack(piece.len())?;
        bytes.extend_from_slice(&piece);
        bytes.push(b'\n');
    }
    Ok(bytes)
}

#[cfg(test)]
#[path = "pdf_tests.rs"]
mod tests;
