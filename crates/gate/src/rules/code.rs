//! Code of other languages: its strings, its names, and the calls that start programs.

/// The strings of a code text, in quotes of any kind.
pub(super) fn strings(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    scan(code, |piece| {
        if let Piece::Text(text) = piece {
            found.push(text.to_owned());
        }
    });
    found
}

/// The code with each string replaced by an empty one.
pub(super) fn without_strings(code: &str) -> String {
    let mut result = String::new();
    scan(code, |piece| match piece {
        Piece::Text(_) => result.push_str("\"\""),
        Piece::Code(character) => result.push(character),
    });
    result
}

/// The names in a code text: runs of letters, digits, `_` and `$`.
pub(super) fn names(code: &str) -> Vec<&str> {
    code.split(|character: char| !(character.is_alphanumeric() || matches!(character, '_' | '$')))
        .filter(|name| !name.is_empty())
        .collect()
}

enum Piece<'a> {
    Text(&'a str),
    Code(char),
}

fn scan(code: &str, mut visit: impl FnMut(Piece<'_>)) {
    let mut rest = code;
    while let Some(character) = rest.chars().next() {
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
        if !matches!(character, '"' | '\'' | '`') {
            visit(Piece::Code(character));
            continue;
        }
        let triple: String = std::iter::repeat_n(character, 2).collect();
        let (end, width) = if rest.starts_with(&triple)
            && rest.get(2..).is_some_and(|text| text.contains(&format!("{character}{triple}")))
        {
            let inner = rest.get(2..).unwrap_or_default();
            rest = inner;
            (inner.find(&format!("{character}{triple}")), 3)
        } else {
            (end_of_string(rest, character), 1)
        };
        let Some(end) = end else {
            // An apostrophe in a comment or a regular expression.
            visit(Piece::Code(character));
            continue;
        };
        visit(Piece::Text(rest.get(..end).unwrap_or_default()));
        rest = rest.get(end + width..).unwrap_or_default();
    }
}

fn end_of_string(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return Some(at),
            '\n' if quote == '\'' => return None,
            _ => {}
        }
    }
    None
}

/// A call with the strings among its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CodeCall {
    /// The last part of the name: `rmtree` of `shutil.rmtree`.
    pub(super) name: String,
    pub(super) strings: Vec<String>,
    /// The first argument is one string and nothing else.
    pub(super) is_literal: bool,
}

/// The calls `name(...)` of a code text, at most 200.
pub(super) fn calls(code: &str) -> Vec<CodeCall> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices('(').take(200) {
        let before = code.get(..at).unwrap_or_default().trim_end();
        let start = before
            .rfind(|character: char| !(character.is_alphanumeric() || matches!(character, '_' | '$' | '!')))
            .map_or(0, |index| index + 1);
        let name = before
            .get(start..)
            .unwrap_or_default()
            .trim_start_matches(|character: char| !character.is_ascii())
            .to_owned();
        let arguments = arguments(code.get(at + 1..).unwrap_or_default());
        let trimmed = arguments.trim_start();
        let is_literal = trimmed.starts_with(['"', '\'', '`']);
        found.push(CodeCall { name, strings: strings(arguments), is_literal });
    }
    found
}

/// The text up to the parenthesis that closes the call.
fn arguments(text: &str) -> &str {
    let mut depth = 1;
    let mut quote = None;
    let mut is_escaped = false;
    for (at, character) in text.char_indices().take(4_000) {
        match (quote, character) {
            _ if is_escaped => is_escaped = false,
            (_, '\\') => is_escaped = true,
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(character),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth -= 1;
                if depth == 0 {
                    return text.get(..at).unwrap_or_default();
                }
            }
            _ => {}
        }
    }
    text.get(..text.len().min(4_000)).unwrap_or_default()
}
