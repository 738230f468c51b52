//! Compares messages with a query one by one, where no index can be used.

use super::characters::{folded, is_plain};
use super::query::{Group, Kind, Term};

/// A query, prepared for comparison with many texts.
#[derive(Debug, Clone)]
pub(crate) struct Comparison {
    alternatives: Vec<Alternative>,
}

#[derive(Debug, Clone)]
struct Alternative {
    wanted: Vec<Folded>,
    unwanted: Vec<Folded>,
}

#[derive(Debug, Clone)]
struct Folded {
    text: String,
    /// Must begin, and must end, at a word boundary.
    begins: bool,
    ends: bool,
}

impl Comparison {
    pub(crate) fn new(groups: &[Group]) -> Self {
        let all = |terms: &[Term]| terms.iter().map(Folded::new).collect();
        let alternatives = groups
            .iter()
            .map(|group| Alternative { wanted: all(&group.wanted), unwanted: all(&group.unwanted) });
        Self { alternatives: alternatives.collect() }
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let text: String = folded(text).collect();
        let occurs = |term: &Folded| term.first_in(&text).is_some();
        let fits = |one: &Alternative| one.wanted.iter().all(occurs) && !one.unwanted.iter().any(occurs);
        self.alternatives.iter().any(fits)
    }

    /// Returns the wanted terms, for marking them in a snippet.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = &str> {
        self.alternatives.iter().flat_map(|one| &one.wanted).map(|term| term.text.as_str())
    }
}

impl Folded {
    fn new(term: &Term) -> Self {
        let is_word = term.kind == Kind::Word;
        // Separators inside a phrase are ignored.
        let text = if is_word { words(&term.text) } else { folded(&term.text).collect() };
        Self { text, begins: is_word, ends: is_word && !term.prefix }
    }

    fn first_in(&self, text: &str) -> Option<usize> {
        if self.text.contains(' ') && self.begins {
            return self.first_in_words(&words(text));
        }
        self.first_in_words(text)
    }

    fn first_in_words(&self, text: &str) -> Option<usize> {
        text.match_indices(&self.text).map(|(at, _)| at).find(|&at| {
            let before = text[..at].chars().next_back();
            let after = text[at + self.text.len()..].chars().next();
            let inside_a_word = |demanded, beside: Option<char>| demanded && beside.is_some_and(is_plain);
            !inside_a_word(self.begins, before) && !inside_a_word(self.ends, after)
        })
    }
}

/// Replaces everything but letters and digits by single spaces.
fn words(text: &str) -> String {
    let text: String = folded(text).collect();
    text.split(|c: char| !is_plain(c)).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::search::query::groups;

    #[test]
    fn comparison_agrees_with_the_indexes() {
        for (query, text, want) in [
            ("fox", "The Fox.", true),
            ("fox", "foxes", false),
            ("fox*", "foxes", true),
            ("ox*", "fox", false),
            (r#""quick brown""#, "quick, brown", true),
            (r#""quick brown""#, "quick brownie", false),
            ("C++", "about c++17", true),
            ("C#", "c and #", false),
            ("中文", "学中文的", true),
            ("中文 NOT 学", "学中文的", false),
            ("🎉 OR fox", "a fox", true),
            ("❤\u{fe0f}", "with ❤", true),
            ("ÉTÉ", "un été", true),
        ] {
            assert_eq!(Comparison::new(&groups(query)).matches(text), want, "{query} in {text}");
        }
    }
}
