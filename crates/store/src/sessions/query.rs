//! Turns what a person typed into a question for the search index.
//!
//! Words are joined by AND; `"phrases"`, `OR`, `NOT` and a trailing `*` mean what they usually do.
//! Every term is quoted and every other character is data, so no input is a syntax error.

/// What is looked at of a query.
const LONGEST: usize = 2_048;
const MOST_TERMS: usize = 64;
/// The trigram index cannot find anything shorter.
const TRIGRAM: usize = 3;

/// Where and how to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Question {
    /// There is nothing to look for.
    Nothing,
    /// For the index of words.
    Words(String),
    /// For the index of trigrams, which finds parts of scripts that do not separate words.
    Trigrams(String),
    /// Too short for the trigram index: for comparing with every message.
    Scan(Vec<Group>),
}

/// Terms that must all occur, and terms that must not. Groups are alternatives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Group {
    pub wanted: Vec<Term>,
    pub unwanted: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub text: String,
    prefix: bool,
}

/// Understands a query.
pub(crate) fn question(query: &str) -> Question {
    let groups = groups(query);
    let terms = || groups.iter().flat_map(|group| group.wanted.iter().chain(&group.unwanted));
    if groups.is_empty() {
        Question::Nothing
    } else if !terms().any(|term| term.text.chars().any(is_unspaced)) {
        Question::Words(match_text(&groups, Term::as_words))
    } else if terms().all(|term| term.text.chars().count() >= TRIGRAM) {
        Question::Trigrams(match_text(&groups, Term::as_trigrams))
    } else {
        Question::Scan(groups)
    }
}

/// The alternatives of a query, for a search that cannot use an index.
pub(crate) fn groups(query: &str) -> Vec<Group> {
    let mut groups = vec![Group::default()];
    let mut negated = false;
    for piece in pieces(query).into_iter().take(MOST_TERMS) {
        let Some(group) = groups.last_mut() else { break };
        match piece {
            Piece::Or => {
                groups.push(Group::default());
                negated = false;
            }
            Piece::Not => negated = true,
            // A NOT with nothing before it has nothing to take away from, and is ignored.
            Piece::Term(term) if negated && !group.wanted.is_empty() => {
                group.unwanted.push(term);
                negated = false;
            }
            Piece::Term(term) => {
                group.wanted.push(term);
                negated = false;
            }
        }
    }
    groups.retain(|group| !group.wanted.is_empty());
    groups
}

enum Piece {
    Term(Term),
    Or,
    Not,
}

fn pieces(query: &str) -> Vec<Piece> {
    // A NUL would end the text early for the index.
    let query: String = query.chars().take(LONGEST).map(|c| if c == '\0' { ' ' } else { c }).collect();
    let mut found = Vec::new();
    let mut rest = query.as_str();
    while let Some((words, after)) = rest.split_once('"') {
        found.extend(words.split_whitespace().filter_map(word));
        let Some((phrase, after)) = after.split_once('"') else {
            // An unmatched quote is only a separator.
            rest = after;
            break;
        };
        found.extend(Term::new(phrase.trim()).map(Piece::Term));
        rest = after;
    }
    found.extend(rest.split_whitespace().filter_map(word));
    found
}

fn word(word: &str) -> Option<Piece> {
    match word {
        "AND" => None,
        "OR" => Some(Piece::Or),
        "NOT" => Some(Piece::Not),
        _ => {
            let stem = word.trim_end_matches('*');
            let term = Term::new(stem)?;
            Some(Piece::Term(Term { prefix: stem.len() < word.len(), ..term }))
        }
    }
}

impl Term {
    /// A term must have something the index would keep; pure punctuation finds nothing and would
    /// make every AND fail.
    fn new(text: &str) -> Option<Self> {
        text.chars().any(char::is_alphanumeric).then(|| Self { text: text.to_owned(), prefix: false })
    }

    fn as_words(&self) -> String {
        let star = if self.prefix { "*" } else { "" };
        format!("\"{}\"{star}", self.text)
    }

    /// Trigrams find parts of words anyway.
    fn as_trigrams(&self) -> String {
        format!("\"{}\"", self.text)
    }
}

fn match_text(groups: &[Group], quoted: fn(&Term) -> String) -> String {
    let joined = |terms: &[Term], by: &str| terms.iter().map(quoted).collect::<Vec<_>>().join(by);
    let alternatives: Vec<_> = groups
        .iter()
        .map(|group| {
            let wanted = joined(&group.wanted, " AND ");
            if group.unwanted.is_empty() {
                format!("({wanted})")
            } else {
                format!("(({wanted}) NOT ({}))", joined(&group.unwanted, " OR "))
            }
        })
        .collect();
    alternatives.join(" OR ")
}

/// Scripts written without spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese, and
/// Korean, whose particles stick to the word.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3130}'..='\u{318f}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
