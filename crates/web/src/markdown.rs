//! The content of a page as Markdown: headings, lists, tables, code with its language, links with whole addresses.
//!
//! Containers are walked without recursion. What nests (lists, quotes, formatting) does so to a maximum depth, below
//! which only the text is taken, and the whole text has a maximum length: a page can be as deep and as large as its
//! author wants.

mod code;
mod inline;
mod table;

use crate::dom::{Dom, Id};
use crate::readable::Content;
use std::cell::Cell;
use url::Url;

/// Lists, quotes and table cells in each other.
const MOST_DEPTH: usize = 16;

/// The content of a page as Markdown of about `most` bytes at most.
pub(crate) fn markdown(dom: &Dom, content: &Content, base: &Url, most: usize) -> String {
    let base = page_base(dom, base);
    let writer = Writer { dom, content, base, inside: inside(dom), room: Cell::new(most) };
    joined(&writer.blocks(content.root, 0), "\n\n")
}

/// The address that links of the page are relative to.
fn page_base(dom: &Dom, url: &Url) -> Url {
    let stated = dom.find(Dom::ROOT, "base").and_then(|base| dom.attribute(base, "href"));
    let stated = stated.and_then(|href| url.join(href).ok());
    stated.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| url.clone())
}

/// The kinds of elements below a node.
#[derive(Debug, Clone, Copy, Default)]
struct Inside {
    block: bool,
    table: bool,
    /// Code or headings.
    structure: bool,
}

/// Finds the kinds of elements below each node, in one pass.
fn inside(dom: &Dom) -> Vec<Inside> {
    let mut all = vec![Inside::default(); dom.len()];
    let order: Vec<Id> = dom.walk(Dom::ROOT, |_| false).collect();
    for id in order.into_iter().rev() {
        let (own, name) = (all[Dom::index(id)], dom.name(id));
        let Some(parent) = dom.parent(id) else { continue };
        let above = &mut all[Dom::index(parent)];
        above.block |= own.block || is_block(name);
        above.table |= own.table || name == "table";
        above.structure |= own.structure || matches!(name, "pre" | "h1" | "h2" | "h3" | "h4");
    }
    all
}

/// A finished block.
struct Block {
    text: String,
    is_list: bool,
}

struct Writer<'a> {
    dom: &'a Dom,
    content: &'a Content,
    base: Url,
    inside: Vec<Inside>,
    /// Bytes that may still be taken from the page.
    room: Cell<usize>,
}

impl Writer<'_> {
    fn inside(&self, id: Id) -> Inside {
        self.inside[Dom::index(id)]
    }

    /// Takes bytes of the room for the whole text; false if it is used up.
    fn takes(&self, bytes: usize) -> bool {
        let room = self.room.get();
        self.room.set(room.saturating_sub(bytes));
        room > 0
    }

    /// The blocks below a node. Containers are opened, and text between blocks is a paragraph.
    fn blocks(&self, top: Id, depth: usize) -> Vec<Block> {
        let mut blocks = Blocks::default();
        let mut open: Vec<Option<Id>> = vec![self.dom.first(top)];
        while let Some(next) = open.last_mut() {
            let Some(id) = *next else {
                open.pop();
                blocks.flush();
                continue;
            };
            *next = self.dom.next(id);
            if self.content.is_skipped(id) || !self.takes(1) {
                continue;
            }
            match self.dom.name(id) {
                name if !is_block(name) && !self.inside(id).block => self.inline(id, 0, &mut blocks.line),
                "a" if depth < MOST_DEPTH => blocks.push(self.link_with_blocks(id, depth)),
                // An element that is neither, such as one of a script, holds blocks here.
                name if is_container(name) || !is_block(name) => {
                    blocks.flush();
                    open.push(self.dom.first(id));
                }
                name => blocks.push(self.block(name, id, depth)),
            }
        }
        blocks.flush();
        blocks.done
    }

    fn block(&self, name: &str, id: Id, depth: usize) -> Block {
        let text = match name {
            _ if depth >= MOST_DEPTH => self.flat(id),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(name, id),
            "p" | "dt" | "summary" | "figcaption" | "caption" if !self.inside(id).block => {
                self.line_of(name, id)
            }
            "ul" | "ol" | "menu" => return Block { text: self.list(id, depth), is_list: true },
            "blockquote" => prefixed(&joined(&self.blocks(id, depth + 1), "\n\n"), "> ", "> "),
            "dd" => prefixed(&joined(&self.blocks(id, depth + 1), "\n\n"), ": ", "  "),
            "pre" => self.code_block(id),
            "table" => self.table(id, depth),
            "hr" => "---".to_owned(),
            _ => joined(&self.blocks(id, depth + 1), "\n\n"),
        };
        Block { text, is_list: false }
    }

    fn heading(&self, name: &str, id: Id) -> String {
        let level = name.as_bytes().get(1).map_or(1, |digit| usize::from(digit - b'0'));
        let text = self.children_inline(id, 0).replace('\n', " ");
        let text = text.trim().trim_end_matches(['¶', '#', '§']).trim_end();
        if text.is_empty() { String::new() } else { format!("{} {text}", "#".repeat(level)) }
    }

    fn line_of(&self, name: &str, id: Id) -> String {
        let text = self.children_inline(id, 0).trim().to_owned();
        match name {
            "dt" | "summary" if !text.is_empty() && !text.starts_with("**") => format!("**{text}**"),
            _ => text,
        }
    }

    /// A link around whole blocks, as in cards.
    fn link_with_blocks(&self, id: Id, depth: usize) -> Block {
        /// Characters of a text that is a link as a whole.
        const SHORT: usize = 200;
        let block = |text| Block { text, is_list: false };
        let text = joined(&self.blocks(id, depth + 1), "\n\n");
        let Some(href) = self.href(id).filter(|_| !text.is_empty()) else { return block(text) };
        let flat = text.trim_start_matches(['#', ' ']);
        let level = text.len() - text.trim_start_matches('#').len();
        if flat.len() > SHORT || flat.contains(['\n', '[']) {
            return block(format!("{text}\n\n[Link]({href})"));
        }
        let marks = if level > 0 { format!("{} ", "#".repeat(level)) } else { String::new() };
        block(format!("{marks}[{flat}]({href})"))
    }

    fn list(&self, id: Id, depth: usize) -> String {
        let start = self.dom.attribute(id, "start").and_then(|start| start.parse::<u64>().ok());
        let is_ordered = self.dom.name(id) == "ol";
        let (mut items, mut number) = (Vec::new(), start.unwrap_or(1));
        for child in self.dom.children(id).filter(|child| !self.content.is_skipped(*child)) {
            if !self.dom.is_element(child) {
                continue;
            }
            let is_list = matches!(self.dom.name(child), "ul" | "ol");
            let text = match is_list {
                true if depth + 1 < MOST_DEPTH => self.list(child, depth + 1),
                _ => item_text(&self.blocks(child, depth + 1)),
            };
            if text.is_empty() {
                continue;
            }
            let marker = if is_ordered { format!("{number}. ") } else { "- ".to_owned() };
            let rest = " ".repeat(marker.len());
            number = number.saturating_add(u64::from(!is_list));
            items.push(prefixed(&text, if is_list { &rest } else { &marker }, &rest));
        }
        items.join("\n")
    }

    /// The text of a node without its structure.
    fn flat(&self, id: Id) -> String {
        let text = self.dom.flat_text(id, self.room.get());
        self.takes(text.len());
        text
    }
}

/// Blocks that are collected, and the line that is written.
#[derive(Default)]
struct Blocks {
    done: Vec<Block>,
    line: String,
}

impl Blocks {
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.line).trim().to_owned();
        self.add(Block { text, is_list: false });
    }

    fn push(&mut self, block: Block) {
        self.flush();
        self.add(block);
    }

    fn add(&mut self, block: Block) {
        if !block.text.is_empty() {
            self.done.push(block);
        }
    }
}

fn joined(blocks: &[Block], between: &str) -> String {
    blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join(between)
}

/// The text of a list item: a list follows its line directly.
fn item_text(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        if !text.is_empty() {
            text.push_str(if block.is_list { "\n" } else { "\n\n" });
        }
        text.push_str(&block.text);
    }
    text
}

/// A text whose first line begins with `first` and all others with `rest`.
fn prefixed(text: &str, first: &str, rest: &str) -> String {
    let mut all = String::with_capacity(text.len() + first.len());
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            all.push('\n');
        }
        let prefix = if number == 0 { first } else { rest };
        let prefix = if line.is_empty() { prefix.trim_end() } else { prefix };
        all.push_str(prefix);
        all.push_str(line);
    }
    all
}

/// Elements that begin a block.
fn is_block(name: &str) -> bool {
    is_container(name)
        || matches!(
            name,
            "h1" | "h2"
                | "h3"
                | "h4"
                | "h5"
                | "h6"
                | "p"
                | "ul"
                | "ol"
                | "menu"
                | "blockquote"
                | "pre"
                | "table"
                | "hr"
                | "dt"
                | "dd"
                | "summary"
                | "figcaption"
                | "caption"
                | "li"
        )
}

/// Elements that only hold others.
fn is_container(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "body"
            | "center"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "fieldset"
            | "figure"
            | "footer"
            | "form"
            | "header"
            | "hgroup"
            | "html"
            | "main"
            | "nav"
            | "search"
            | "section"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
    )
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
