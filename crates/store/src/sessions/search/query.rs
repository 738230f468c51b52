//! Parses a search query.
//!
//! Terms are joined by AND; `"phrases"`, `OR`, `NOT` and a trailing `*` have their usual meaning. Every other
//! character is data, so no input is a syntax error.

use super::characters::{is_plain, is_punctuation, is_unspaced};

/// Maximum characters and terms of a query; the rest is ignored.
const MAX_CHARS: usize = 2_048;
const MAX_TERMS: usize = 64;
/// Minimum length of terms in the trigram index.
const TRIGRAM: usize = 3;

/// Terms that must all occur, and terms that must not. Groups are alternatives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Group {
    pub wanted: Vec<Term>,
    pub unwanted: Vec<Term>,
}

/// A search term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub text: String,
    /// True for a prefix of a word.
    pub prefix: bool,
    pub kind: Kind,
}

/// The index that finds a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The word index.
    Word,
    /// The trigram index: text of an unspaced script, or a term with punctuation, matched exactly.
    Part,
    /// The pair index: like `Part`, but too short for trigrams.
    Pair,
}

/// Returns the alternatives of a query; empty for a query without terms.
pub(crate) fn groups(query: &str) -> Vec<Group> {
    let tokens = without_lone_punctuation(tokens(query));
    let mut groups = vec![Group::default()];
    let mut negated = false;
    for token in tokens.into_iter().take(MAX_TERMS) {
        let Some(group) = groups.last_mut() else { break };
        match token {
            Token::Or => {
                groups.push(Group::default());
                negated = false;
            }
            Token::Not => negated = true,
            // A NOT without a wanted term before it is ignored.
            Token::Term(term) if negated && !group.wanted.is_empty() => {
                group.unwanted.push(term);
                negated = false;
            }
            Token::Term(term) => {
                group.wanted.push(term);
                negated = false;
            }
        }
    }
    groups.retain(|group| !group.wanted.is_empty());
    groups
}

/// Relaxes a query: terms with punctuation become phrases of their parts. `None` if that changes nothing.
pub(crate) fn relaxed(groups: &[Group]) -> Option<Vec<Group>> {
    let mut changed = false;
    let mut relax = |term: &Term| {
        let mut term = term.clone();
        let has_words = term.text.chars().any(is_plain) && !term.text.chars().any(is_unspaced);
        if term.kind != Kind::Word && has_words {
            term.kind = Kind::Word;
            changed = true;
        }
        term
    };
    let relaxed = groups
        .iter()
        .map(|group| Group {
            wanted: group.wanted.iter().map(&mut relax).collect(),
            unwanted: group.unwanted.clone(),
        })
        .collect();
    changed.then_some(relaxed)
}

#[derive(Debug)]
enum Token {
    Term(Term),
    Or,
    Not,
}

fn tokens(query: &str) -> Vec<Token> {
    // A NUL would end the text for the index.
    let query: String = query.chars().take(MAX_CHARS).map(|c| if c == '\0' { ' ' } else { c }).collect();
    let mut found = Vec::new();
    let mut rest = query.as_str();
    while let Some((words, after)) = rest.split_once('"') {
        found.extend(words.split_whitespace().filter_map(word));
        let Some((phrase, after)) = after.split_once('"') else {
            // An unmatched quote is a separator.
            rest = after;
            break;
        };
        found.extend(Term::new(phrase.trim(), false).map(Token::Term));
        rest = after;
    }
    found.extend(rest.split_whitespace().filter_map(word));
    found
}

fn word(word: &str) -> Option<Token> {
    match word {
        "AND" => None,
        "OR" => Some(Token::Or),
        "NOT" => Some(Token::Not),
        _ => {
            let stem = word.trim_end_matches('*');
            // A term of stars only is searched literally.
            let stem = if stem.is_empty() { word } else { stem };
            Term::new(trim_punctuation(stem), stem.len() < word.len()).map(Token::Term)
        }
    }
}

/// Trims the punctuation of a sentence around a word. Characters that begin or end a name (`.env`, `#tag`,
/// `C++`, `/usr/`) stay.
fn trim_punctuation(word: &str) -> &str {
    if !word.contains(char::is_alphanumeric) {
        return word;
    }
    let opening =
        |c| matches!(c, '(' | '[' | '{' | '<' | '\'' | '`' | '“' | '‘' | '«' | '「' | '（' | '¿' | '¡');
    let closing = |c| {
        matches!(c, ')' | ']' | '}' | '>' | '(' | '\'' | '`' | ',' | '.' | ';' | ':' | '!' | '?' | '…')
            || matches!(c, '”' | '’' | '»' | '」' | '）' | '。' | '、' | '，' | '！' | '？' | '：' | '；')
    };
    word.trim_start_matches(opening).trim_end_matches(closing)
}

/// Drops terms of punctuation only, if there are other terms.
fn without_lone_punctuation(mut tokens: Vec<Token>) -> Vec<Token> {
    let is_lone_punctuation =
        |token: &Token| matches!(token, Token::Term(term) if term.text.chars().all(is_punctuation));
    let has_more = tokens.iter().any(|token| matches!(token, Token::Term(_)) && !is_lone_punctuation(token));
    if has_more {
        tokens.retain(|token| !is_lone_punctuation(token));
    }
    tokens
}

impl Term {
    fn new(text: &str, prefix: bool) -> Option<Self> {
        let visible = |c: char| !c.is_whitespace() && !c.is_control();
        text.contains(visible).then(|| Self { text: text.to_owned(), prefix, kind: kind(text) })
    }
}

fn kind(text: &str) -> Kind {
    let has_words = text.contains(is_plain);
    let spaced = !text.contains(is_unspaced);
    // In a phrase only the order of terms counts.
    if spaced && has_words && (text.contains(char::is_whitespace) || text.chars().all(is_plain)) {
        return Kind::Word;
    }
    if text.chars().count() >= TRIGRAM { Kind::Part } else { Kind::Pair }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
