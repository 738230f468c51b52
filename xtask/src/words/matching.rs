//! Matches the word list against one piece of prose.

use super::list::{Exception, Phrase, Rule, WordList};
use super::prose::{Kind, Prose};
use std::ops::Range;

/// A rejected phrase in a file.
#[derive(Debug, PartialEq)]
pub(super) struct Finding {
    pub(super) line: usize,
    pub(super) matched: String,
    pub(super) advice: String,
    /// The exception that permits it, if any.
    pub(super) exception: Option<Exception>,
}

/// Returns every rejected phrase, in order.
pub(super) fn findings(path: &str, prose: &Prose, list: &WordList) -> Vec<Finding> {
    let words = words(&prose.text);
    let rules = if prose.kind == Kind::FileName { &list.file_names } else { &list.rejected };
    let starts = (0..words.len()).flat_map(|at| rules.iter().map(move |rule| (at, rule)));
    let mut found: Vec<(Range<usize>, &Rule)> = starts
        .filter_map(|(at, rule)| Some((matched(&rule.phrase, &words[at..], &prose.text)?, rule)))
        .collect();
    found.retain(|(range, _)| !is_allowed(range, &words, prose, list));
    if prose.kind == Kind::Doc {
        let start = list.doc_starts.iter().find_map(|rule| {
            let range = matched(&rule.phrase, &words, &prose.text)?;
            prose.text[..range.start].trim().is_empty().then_some((range, rule))
        });
        found.splice(0..0, start);
    }
    found
        .into_iter()
        .map(|(range, rule)| Finding {
            line: prose.line_at(range.start),
            matched: prose.text[range.clone()].split_whitespace().collect::<Vec<_>>().join(" "),
            advice: rule.advice.clone(),
            exception: exception(path, &range, prose, list).cloned(),
        })
        .collect()
}

/// A word of the text and its place.
struct Word {
    range: Range<usize>,
    lower: String,
}

fn words(text: &str) -> Vec<Word> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found: Vec<Word> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| is_part(*c)) {
        let end = at + c.len_utf8();
        match found.last_mut().filter(|word| word.range.end == at) {
            Some(word) => {
                word.range.end = end;
                word.lower.extend(c.to_lowercase());
            }
            None => found.push(Word { range: at..end, lower: c.to_lowercase().collect() }),
        }
    }
    found
}

/// The range of the phrase if the words begin with it, with white space or the tick of a code span between them.
fn matched(phrase: &Phrase, words: &[Word], text: &str) -> Option<Range<usize>> {
    let words = words.get(..phrase.0.len())?;
    let fits = |(wanted, word): (&Vec<String>, &Word)| wanted.is_empty() || wanted.contains(&word.lower);
    let is_gap = |gap: &str| gap.chars().all(|c| c.is_whitespace() || c == '`');
    let is_match = phrase.0.iter().zip(words).all(fits)
        && words.windows(2).all(|pair| is_gap(&text[pair[0].range.end..pair[1].range.start]));
    is_match.then(|| words[0].range.start..words[words.len() - 1].range.end)
}

fn is_allowed(range: &Range<usize>, words: &[Word], prose: &Prose, list: &WordList) -> bool {
    let covers = |allowed: Range<usize>| allowed.start < range.end && range.start < allowed.end;
    (0..words.len()).any(|at| {
        let here = list.allowed.iter().filter_map(|phrase| matched(phrase, &words[at..], &prose.text));
        here.into_iter().any(covers)
    })
}

fn exception<'a>(
    path: &str,
    range: &Range<usize>,
    prose: &Prose,
    list: &'a WordList,
) -> Option<&'a Exception> {
    let text = prose.text.to_lowercase().replace('\n', " ");
    let covers = |snippet: &str| {
        snippet == "*"
            || text.match_indices(snippet).any(|(at, _)| at < range.end && range.start < at + snippet.len())
    };
    list.exceptions.iter().find(|it| path.starts_with(&it.path) && covers(&it.snippet))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "[rejected]\nwords => text\nput|puts away => summarised\nis no * => invalid\n\
        [allowed]\nthere is no\nis no longer\n[doc starts]\nwhat => a noun\n[file names]\npast => record\n\
        [exceptions]\na/ | stop words | a term\n";

    fn check(kind: Kind, text: &str) -> Vec<String> {
        let list = WordList::parse(LIST).unwrap();
        let open = |found: &Finding| found.exception.is_none();
        findings("a/b.rs", &Prose::of(kind, 1, text), &list)
            .into_iter()
            .filter(open)
            .map(|found| found.matched)
            .collect()
    }

    #[test]
    fn phrases_match_whole_words() {
        for (text, want) in [
            ("Words count", vec!["Words"]),
            ("keywords, my_words", vec![]),
            ("it puts\n away", vec!["puts away"]),
            ("put it away", vec![]),
            ("put, away", vec![]),
            ("`x` is no time", vec!["is no time"]),
            ("no, it is no.", vec![]),
            ("there is no time", vec![]),
            ("it is no longer there", vec![]),
            ("stop words and words", vec!["words"]),
            ("What it is", vec![]),
            ("past", vec![]),
        ] {
            assert_eq!(check(Kind::Literal, text), want, "{text}");
        }
    }

    #[test]
    fn doc_comments_have_a_first_word() {
        assert_eq!(check(Kind::Doc, "What it is"), ["What"]);
        assert_eq!(check(Kind::Doc, "Says what it is"), [""; 0]);
        assert_eq!(check(Kind::Doc, "`What` it is"), [""; 0]);
    }

    #[test]
    fn file_names_have_rules_of_their_own() {
        assert_eq!(check(Kind::FileName, "past turns"), ["past"]);
        assert_eq!(check(Kind::FileName, "words"), [""; 0]);
    }
}
