//! Blocks of code and their language.

use super::Writer;
use super::inline::longest_run;
use crate::dom::Id;

/// Prefixes of classes that name a language.
const PREFIXES: [&str; 7] =
    ["language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "sourceCode-", "brush:"];
/// Classes of line numbers and buttons.
const NUMBERS: [&str; 8] =
    ["blob-num", "gutter", "lineno", "linenos", "line-number", "line-numbers", "linenumber", "ln"];

impl Writer<'_> {
    pub(super) fn code_block(&self, id: Id) -> String {
        let text = self.code_text(id);
        let text = text.trim_end().trim_start_matches(['\n', '\r']);
        if text.trim().is_empty() || !self.takes(text.len()) {
            return String::new();
        }
        let fence = "`".repeat(longest_run(text).max(2) + 1);
        format!("{fence}{}\n{text}\n{fence}", self.language(id).unwrap_or_default())
    }

    /// The text of code with its line breaks, without line numbers.
    fn code_text(&self, top: Id) -> String {
        let is_left_out = |id: Id| {
            let class = self.dom.attribute(id, "class").unwrap_or_default();
            let is_number = class.split_ascii_whitespace().any(|class| NUMBERS.contains(&class));
            self.dom.is_element(id) && (is_number || self.content.is_skipped(id))
        };
        let (mut text, room) = (String::new(), self.room.get());
        for id in self.dom.walk(top, is_left_out) {
            let is_line = matches!(self.dom.name(id), "div" | "li" | "p" | "tr");
            if self.dom.name(id) == "br" || (is_line && !text.is_empty() && !text.ends_with('\n')) {
                text.push('\n');
            }
            text.push_str(self.dom.text(id).unwrap_or_default());
            if text.len() > room {
                break;
            }
        }
        text
    }

    /// The language that the element, the code in it or what is around it names.
    fn language(&self, id: Id) -> Option<String> {
        let code = self.dom.children(id).find(|child| self.dom.name(*child) == "code");
        let above = std::iter::successors(self.dom.parent(id), |id| self.dom.parent(*id)).take(6);
        code.into_iter().chain([id]).chain(above).find_map(|id| self.stated_language(id))
    }

    fn stated_language(&self, id: Id) -> Option<String> {
        let stated = ["data-lang", "data-language"].into_iter().find_map(|name| self.dom.attribute(id, name));
        let class = self.dom.attribute(id, "class").unwrap_or_default();
        let by_class = || {
            let mut classes = class.split_ascii_whitespace();
            let found = classes
                .clone()
                .find_map(|class| PREFIXES.iter().find_map(|prefix| class.strip_prefix(prefix)));
            // Pandoc and SyntaxHighlighter write the language as a class of its own.
            let follows = matches!(classes.next(), Some("sourceCode" | "brush:"));
            found.filter(|name| !name.is_empty()).or_else(|| classes.next().filter(|_| follows))
        };
        let name = stated.or_else(by_class)?.trim_end_matches(';').to_ascii_lowercase();
        let is_name = name.len() <= 20
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#' | '.' | '_'));
        let is_none = matches!(name.as_str(), "" | "none" | "text" | "plain" | "plaintext" | "default");
        (is_name && !is_none).then_some(name)
    }
}
