//! The prose of a Rust source file: doc comments, messages, help texts and names of tests.

use super::prose::{Kind, Prose};

/// String literals of fewer words are names, keys and formats rather than messages.
const MESSAGE_WORDS: usize = 3;

/// Returns the prose of a source file in the order of its kinds.
pub(super) fn prose(source: &str) -> Vec<Prose> {
    let mut scanner = Scanner { source, at: 0, line: 1, code: String::new(), found: Vec::new() };
    let mut doc = DocBlock::default();
    while let Some(token) = scanner.next() {
        match token {
            Token::Doc { line, style, text } => doc.push(line, style, text, &mut scanner.found),
            Token::Literal { line, text } => {
                let is_help = ["help = ", "about = "].iter().any(|name| scanner.code.ends_with(name));
                if is_help || count_words(&text) >= MESSAGE_WORDS {
                    scanner.found.push(literal(line, &text));
                }
                scanner.code.push_str("\"\"");
            }
        }
    }
    doc.end(&mut scanner.found);
    let mut found = scanner.found;
    found.extend(test_names(&scanner.code));
    found
}

fn count_words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count()
}

fn literal(first_line: usize, text: &str) -> Prose {
    let mut prose = Prose::new(Kind::Literal);
    for (line, number) in text.split('\n').zip(first_line..) {
        prose.push(number, line);
    }
    prose.masked()
}

/// The names after `#[test]` and its relatives. `code` has no comments and no strings.
fn test_names(code: &str) -> impl Iterator<Item = Prose> {
    let mut is_test = false;
    code.lines().zip(1..).filter_map(move |(line, number)| {
        let line = line.trim_start();
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let (_, name) = line.split_once("fn ").filter(|_| is_test)?;
        is_test = false;
        let name: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        Some(Prose::of(Kind::TestName, number, &name.replace('_', " ")))
    })
}

/// The doc comment that is being read.
#[derive(Default)]
struct DocBlock {
    prose: Option<Prose>,
    style: char,
    last_line: usize,
    in_code: bool,
}

impl DocBlock {
    fn push(&mut self, line: usize, style: char, text: &str, found: &mut Vec<Prose>) {
        if self.style != style || self.last_line + 1 != line {
            self.end(found);
        }
        (self.style, self.last_line) = (style, line);
        if text.trim_start().starts_with("```") {
            self.in_code = !self.in_code;
            return;
        }
        let text = match (self.in_code, text.trim()) {
            (true, _) => return,
            // A paragraph mark: a phrase does not go on behind it.
            (false, "") => "¶",
            (false, text) => text,
        };
        self.prose.get_or_insert_with(|| Prose::new(Kind::Doc)).push(line, text);
    }

    fn end(&mut self, found: &mut Vec<Prose>) {
        found.extend(self.prose.take().map(Prose::masked));
        self.in_code = false;
    }
}

/// A part of the source that may hold prose.
enum Token<'a> {
    /// One line of a doc comment; `style` is `/` or `!`.
    Doc { line: usize, style: char, text: &'a str },
    /// The text of a string literal, with its escapes resolved as far as prose needs.
    Literal { line: usize, text: String },
}

/// Splits a source into prose and code. It knows comments, strings and characters, nothing else of the language.
struct Scanner<'a> {
    source: &'a str,
    at: usize,
    line: usize,
    /// The code so far, line for line, without comments and strings.
    code: String,
    found: Vec<Prose>,
}

impl<'a> Scanner<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = self.source.get(self.at..).filter(|rest| !rest.is_empty())?;
            if rest.starts_with("//") {
                let (line, end) = (self.line, rest.find('\n').unwrap_or(rest.len()));
                let comment = self.take(end);
                if let Some((style, text)) = doc_text(comment) {
                    return Some(Token::Doc { line, style, text });
                }
            } else if rest.starts_with("/*") {
                let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
                let comment = self.take(end);
                self.code.extend(comment.chars().filter(|c| *c == '\n'));
            } else if let Some(hashes) = raw_string(rest).filter(|_| !self.is_in_name()) {
                return Some(self.raw_literal(hashes));
            } else if rest.starts_with('"') {
                return Some(self.literal());
            } else {
                let length = char_literal(rest).or_else(|| rest.chars().next().map(char::len_utf8));
                let code = self.take(length.unwrap_or(1));
                self.code.push_str(if code.len() > 1 && code.starts_with('\'') { "' '" } else { code });
            }
        }
    }

    /// Moves on by `length` bytes and returns them.
    fn take(&mut self, length: usize) -> &'a str {
        let taken = &self.source[self.at..self.at + length];
        self.at += length;
        self.line += taken.matches('\n').count();
        taken
    }

    /// Whether the next character continues a name, as the `r` of `for "`.
    fn is_in_name(&self) -> bool {
        self.code.ends_with(|c: char| c.is_alphanumeric() || c == '_')
    }

    fn raw_literal(&mut self, hashes: usize) -> Token<'a> {
        let line = self.line;
        let close = format!("\"{}", "#".repeat(hashes));
        self.take(hashes + 2);
        let end = self.source[self.at..].find(&close).unwrap_or(self.source.len() - self.at);
        let text = self.take(end).to_owned();
        let rest = self.source.len() - self.at;
        self.take(close.len().min(rest));
        self.code.extend(text.chars().filter(|c| *c == '\n'));
        Token::Literal { line, text }
    }

    fn literal(&mut self) -> Token<'a> {
        let line = self.line;
        self.take(1);
        let mut text = String::new();
        let mut is_escaped = false;
        for (place, c) in self.source[self.at..].char_indices() {
            match (is_escaped, c) {
                (true, '\n') => text.push('\n'),
                (true, 'n' | 't' | 'r') => text.push(' '),
                (true, c) => text.push(c),
                (false, '\\') => {}
                (false, '"') => {
                    let lines = self.take(place + 1).matches('\n').count();
                    self.code.extend(std::iter::repeat_n('\n', lines));
                    return Token::Literal { line, text };
                }
                (false, c) => text.push(c),
            }
            is_escaped = !is_escaped && c == '\\';
        }
        self.at = self.source.len();
        Token::Literal { line, text }
    }
}

fn doc_text(comment: &str) -> Option<(char, &str)> {
    let text = comment.strip_prefix("//")?;
    let is_doc = (text.starts_with('/') && !text.starts_with("//")) || text.starts_with('!');
    is_doc.then(|| (if text.starts_with('/') { '/' } else { '!' }, &text[1..]))
}

/// The number of hashes of a raw string that begins here.
fn raw_string(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

/// The length of a character literal that begins here; `None` for a lifetime.
fn char_literal(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    let mut characters = inner.char_indices();
    match characters.next()? {
        (_, '\\') => {
            let (second, _) = characters.next()?;
            let after = second + 1;
            inner.get(after..)?.find('\'').map(|end| 1 + after + end + 1)
        }
        (_, first) => inner[first.len_utf8()..].starts_with('\'').then_some(first.len_utf8() + 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<(Kind, usize, String)> {
        prose(source).into_iter().map(|prose| (prose.kind, prose.line_at(0), prose.text)).collect()
    }

    #[test]
    fn doc_comments_are_blocks() {
        let source = "//! A\n//! b `c`.\n\n/// D\n///\n/// e\n// no\n//// no\n/// f\nfn x() {}\n";
        let want = [(1, "A\nb `x`."), (4, "D\n¶\ne"), (9, "f")];
        assert_eq!(found(source), want.map(|(line, text)| (Kind::Doc, line, text.to_owned())));
    }

    #[test]
    fn literals_of_three_words_are_messages() {
        for (source, want) in [
            (r#"say("a b")"#, vec![]),
            (r#"say("a b c")"#, vec![(1, "a b c")]),
            ("x;\nsay(\"a \\\"b\\\" \\\n   c\")", vec![(2, "a \"b\" \n   c")]),
            (r##"say(r#"a "b" c"#, "x")"##, vec![(1, "a \"b\" c")]),
            (r#"for '"' in '\'' { say("a b c") }"#, vec![(1, "a b c")]),
            (r#"fn a<'a>(b: &'a str) { say("a b c") }"#, vec![(1, "a b c")]),
            (r#"#[arg(help = "a")]"#, vec![(1, "a")]),
            (r#"/* "a b c" */ x"#, vec![]),
        ] {
            let want: Vec<_> =
                want.into_iter().map(|(line, text)| (Kind::Literal, line, text.to_owned())).collect();
            assert_eq!(found(source), want, "{source}");
        }
    }

    #[test]
    fn tests_have_names() {
        let source = "#[test]\nfn a_b() {}\nfn c_d() {}\n#[tokio::test(x)]\n#[ignore]\nasync fn e_f() {}\n";
        let want = [(2, "a b"), (6, "e f")];
        assert_eq!(found(source), want.map(|(line, text)| (Kind::TestName, line, text.to_owned())));
    }
}
