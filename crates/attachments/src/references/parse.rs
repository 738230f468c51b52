//! Finds references such as `@file:PATH` in a prompt.

use std::ops::RangeInclusive;

/// Something that a prompt refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    /// The changes of the working tree that are not staged.
    Diff,
    Staged,
    File {
        path: String,
        lines: Option<RangeInclusive<usize>>,
    },
    Folder {
        path: String,
    },
    /// The newest commits with their changes.
    Git {
        commits: usize,
    },
    /// Not supported yet.
    Url {
        address: String,
    },
}

/// A prompt and its references.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    /// The prompt without the references.
    pub(crate) text: String,
    /// Each with its original text.
    pub(crate) references: Vec<(String, Reference)>,
}

const MOST_COMMITS: usize = 10;

pub(crate) fn parse(text: &str) -> Parsed {
    let (mut out, mut references) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        let before = rest[..at].chars().next_back().or_else(|| out.chars().next_back().filter(|_| at == 0));
        // An @ inside of an address or a path does not start a reference.
        let is_inside = before.is_some_and(|sign| sign.is_alphanumeric() || sign == '_' || sign == '/');
        let found = (!is_inside).then(|| reference(&rest[at + 1..])).flatten();
        match found {
            Some((reference, length)) => {
                out.push_str(&rest[..at]);
                references.push((rest[at..at + 1 + length].to_owned(), reference));
                rest = &rest[at + 1 + length..];
            }
            None => {
                out.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    let text = if references.is_empty() { out } else { tidied(&out) };
    Parsed { text, references }
}

/// The reference at the beginning of a text, and its length in bytes.
fn reference(text: &str) -> Option<(Reference, usize)> {
    for (word, reference) in [("diff", Reference::Diff), ("staged", Reference::Staged)] {
        if text.strip_prefix(word).is_some_and(ends_word) {
            return Some((reference, word.len()));
        }
    }
    let (kind, after) = text.split_once(':')?;
    if !["file", "folder", "git", "url"].contains(&kind) {
        return None;
    }
    let (value, more, taken) = value(after)?;
    let length = kind.len() + 1 + taken;
    let reference = match kind {
        "file" => file(value, more),
        "folder" => Reference::Folder { path: value.to_owned() },
        "git" => {
            Reference::Git { commits: value.parse().ok().filter(|count| (1..=MOST_COMMITS).contains(count))? }
        }
        _ => Reference::Url { address: value.to_owned() },
    };
    Some((reference, length))
}

fn ends_word(after: &str) -> bool {
    after.chars().next().is_none_or(|sign| !sign.is_alphanumeric() && !"_-:/".contains(sign))
}

/// A value, the suffix of a quoted one, and the length of both in bytes.
fn value(text: &str) -> Option<(&str, &str, usize)> {
    let quote = text.chars().next().filter(|sign| "`\"'".contains(*sign));
    if let Some(quote) = quote {
        let inside = &text[1..];
        let end = inside.find(quote)?;
        let more =
            inside[end + 1..].split_whitespace().next().filter(|more| more.starts_with(':')).unwrap_or("");
        let more = trimmed(more);
        return Some((&inside[..end], more, end + 2 + more.len())).filter(|(value, ..)| !value.is_empty());
    }
    let word = trimmed(text.split_whitespace().next().filter(|_| !text.starts_with(char::is_whitespace))?);
    (!word.is_empty()).then_some((word, "", word.len()))
}

/// The value without punctuation at the end of a sentence.
fn trimmed(word: &str) -> &str {
    word.trim_end_matches([',', '.', ';', '!', '?'])
}

/// `path`, `path:12` or `path:12-20`; a quoted path has its lines after the quote.
fn file(value: &str, more: &str) -> Reference {
    let (path, lines) = match (more.strip_prefix(':'), value.rsplit_once(':')) {
        (Some(more), _) => (value, range(more)),
        (None, Some((path, more))) if range(more).is_some() && !path.is_empty() => (path, range(more)),
        _ => (value, None),
    };
    Reference::File { path: path.to_owned(), lines }
}

fn range(text: &str) -> Option<RangeInclusive<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (first >= 1 && first <= last).then_some(first..=last)
}

/// The text without the spaces that removed references leave.
fn tidied(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: Option<RangeInclusive<usize>>) -> Reference {
        Reference::File { path: path.into(), lines }
    }

    #[test]
    fn references_are_found_and_other_text_is_kept() {
        for (text, want, references) in [
            ("plain  words\n", "plain  words\n", vec![]),
            ("mail me@diff or a@file:x", "mail me@diff or a@file:x", vec![]),
            ("see @diff, please", "see , please", vec![Reference::Diff]),
            ("@staged", "", vec![Reference::Staged]),
            ("@different @difftool @diff-x", "@different @difftool @diff-x", vec![]),
            ("why @file:src/a.rs?", "why ?", vec![file("src/a.rs", None)]),
            (
                "@file:a.rs:7 and @file:b.rs:3-9.",
                "and .",
                vec![file("a.rs", Some(7..=7)), file("b.rs", Some(3..=9))],
            ),
            ("@file:`my notes.md`:2-4 ok", "ok", vec![file("my notes.md", Some(2..=4))]),
            (
                "@file:\"x y\" @folder:'a b'",
                "",
                vec![file("x y", None), Reference::Folder { path: "a b".into() }],
            ),
            ("@file:a:9-3", "", vec![file("a:9-3", None)]),
            ("@git:3 @git:11 @git:x", "@git:11 @git:x", vec![Reference::Git { commits: 3 }]),
            ("@url:https://h/p", "", vec![Reference::Url { address: "https://h/p".into() }]),
            ("@file: x @file:` @other:x", "@file: x @file:` @other:x", vec![]),
            ("/path/@file:x", "/path/@file:x", vec![]),
            ("ü@file:x 中", "ü@file:x 中", vec![]),
            ("一 @folder:src 二", "一 二", vec![Reference::Folder { path: "src".into() }]),
        ] {
            let parsed = parse(text);
            let found: Vec<Reference> =
                parsed.references.iter().map(|(_, reference)| reference.clone()).collect();
            assert_eq!((parsed.text.as_str(), found), (want, references), "{text}");
        }
        assert_eq!(parse("@file:a.rs:7.").references[0].0, "@file:a.rs:7");
    }
}
