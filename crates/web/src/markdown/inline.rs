//! Text within a line: formatting, links, code, images.

use super::Writer;
use crate::dom::Id;

/// Formatting in each other.
const MOST_DEPTH: usize = 40;
/// Bytes of the description of an image, and of an address.
const MOST_ALT: usize = 300;
const MOST_ADDRESS: usize = 2_000;

impl Writer<'_> {
    /// The text of the children of a node.
    pub(super) fn children_inline(&self, id: Id, depth: usize) -> String {
        let mut text = String::new();
        self.add_children(id, depth, &mut text);
        text
    }

    fn add_children(&self, id: Id, depth: usize, out: &mut String) {
        for child in self.dom.children(id) {
            self.inline(child, depth, out);
        }
    }

    pub(super) fn inline(&self, id: Id, depth: usize, out: &mut String) {
        if let Some(text) = self.dom.text(id) {
            if self.takes(text.len()) {
                add_text(out, text);
            }
            return;
        }
        if self.content.is_skipped(id) || !self.takes(1) {
            return;
        }
        let name = self.dom.name(id);
        match name {
            _ if depth >= MOST_DEPTH => add_text(out, &self.flat(id)),
            "br" => {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
            }
            "a" => self.link(id, depth, out),
            "img" => add_apart(out, &self.image(id)),
            "b" | "strong" => add_marked(out, &self.children_inline(id, depth + 1), "**"),
            "em" | "i" => add_marked(out, &self.children_inline(id, depth + 1), "*"),
            "del" | "s" | "strike" => add_marked(out, &self.children_inline(id, depth + 1), "~~"),
            "code" | "kbd" | "samp" | "tt" => add_code(out, &self.flat(id)),
            "math" => self.formula(id, out),
            "sup" => {
                let text = self.children_inline(id, depth + 1);
                let is_note = text.trim().is_empty() || text.starts_with(['[', '^']);
                out.push_str(if is_note { "" } else { "^" });
                out.push_str(&text);
            }
            "q" => {
                out.push('“');
                self.add_children(id, depth + 1, out);
                out.push('”');
            }
            name if super::is_block(name) => {
                add_text(out, " ");
                self.add_children(id, depth + 1, out);
                add_text(out, " ");
            }
            _ => self.add_children(id, depth + 1, out),
        }
    }

    fn link(&self, id: Id, depth: usize, out: &mut String) {
        let text = self.children_inline(id, depth + 1);
        let label = text.trim();
        let is_anchor = self.dom.attribute(id, "href").is_some_and(|href| href.starts_with('#'));
        if label.is_empty() || (is_anchor && matches!(label, "#" | "¶" | "§" | "🔗" | "^" | "↩")) {
            return;
        }
        match self.href(id).filter(|_| !is_anchor) {
            // A link in a link would be no link.
            Some(href) if !label.contains("](") || label.starts_with("![") => {
                let shown = label.replace('\n', " ");
                add_spaced(out, &text, &format!("[{shown}]({href})"));
            }
            _ => add_spaced(out, &text, label),
        }
    }

    /// The whole address of a link; `None` for one that is not on the web.
    pub(super) fn href(&self, id: Id) -> Option<String> {
        self.address(self.dom.attribute(id, "href")?, &["http", "https", "mailto"])
    }

    fn address(&self, written: &str, schemes: &[&str]) -> Option<String> {
        let url = self.base.join(written.trim()).ok()?;
        let is_good = schemes.contains(&url.scheme()) && url.as_str().len() <= MOST_ADDRESS;
        let escaped = || url.as_str().replace('(', "%28").replace(')', "%29");
        is_good.then(escaped).filter(|address| self.takes(address.len()))
    }

    /// An image that is described; others are decoration.
    fn image(&self, id: Id) -> String {
        let alt = self.dom.attribute(id, "alt").unwrap_or_default();
        let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ").replace(['[', ']'], "");
        let sources = ["src", "data-src", "data-original"].map(|name| self.dom.attribute(id, name));
        let source =
            sources.into_iter().flatten().find_map(|source| self.address(source, &["http", "https"]));
        match source {
            Some(source) if !alt.is_empty() && alt.len() <= MOST_ALT => format!("![{alt}]({source})"),
            _ => String::new(),
        }
    }

    /// A formula as its source in TeX, if it has one.
    fn formula(&self, id: Id, out: &mut String) {
        match self.dom.find(id, "annotation") {
            Some(source) => add_apart(out, &format!("${}$", self.flat(source))),
            None => add_text(out, &self.flat(id)),
        }
    }
}

/// Adds a text with runs of blanks as single spaces.
fn add_text(out: &mut String, text: &str) {
    for c in text.chars() {
        let is_space = c.is_whitespace() && c != '\u{a0}';
        match is_space || c == '\u{a0}' {
            true if out.is_empty() || out.ends_with([' ', '\n']) => {}
            true => out.push(' '),
            false if matches!(c, '\u{ad}' | '\u{200b}' | '\u{feff}') || (c.is_control()) => {}
            false => out.push(c),
        }
    }
}

fn add_apart(out: &mut String, text: &str) {
    out.push_str(text);
}

/// Adds `made`, with the spaces that `text` has around it.
fn add_spaced(out: &mut String, text: &str, made: &str) {
    if text.starts_with([' ', '\n']) {
        add_text(out, " ");
    }
    out.push_str(made);
    if text.ends_with([' ', '\n']) {
        out.push(' ');
    }
}

fn add_marked(out: &mut String, text: &str, mark: &str) {
    let inner = text.trim();
    let is_plain = inner.is_empty() || inner.contains('\n') || inner.contains(mark);
    let made = if is_plain { inner.to_owned() } else { format!("{mark}{inner}{mark}") };
    add_spaced(out, text, &made);
}

fn add_code(out: &mut String, text: &str) {
    if text.is_empty() {
        return;
    }
    let fence = "`".repeat(longest_run(text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    out.push_str(&format!("{fence}{pad}{text}{pad}{fence}"));
}

/// The longest run of backquotes.
pub(super) fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
