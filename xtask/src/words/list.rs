//! The word list: rejected phrases, phrases that are allowed although they hold one, and exceptions.

use anyhow::{Context, Result, bail, ensure};

/// The parsed `list.txt`.
#[derive(Debug, Default)]
pub(super) struct WordList {
    pub(super) rejected: Vec<Rule>,
    pub(super) allowed: Vec<Phrase>,
    /// First words that a doc comment must not have.
    pub(super) doc_starts: Vec<Rule>,
    pub(super) file_names: Vec<Rule>,
    pub(super) exceptions: Vec<Exception>,
}

/// A rejected phrase and the wording to use instead.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) phrase: Phrase,
    pub(super) advice: String,
}

/// A sequence of words. Each is a list of alternatives; an empty list matches any word.
#[derive(Debug, PartialEq)]
pub(super) struct Phrase(pub(super) Vec<Vec<String>>);

/// A place where a rejected phrase is right.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Exception {
    /// The beginning of the path.
    pub(super) path: String,
    /// Text around the phrase; `*` is any.
    pub(super) snippet: String,
    pub(super) reason: String,
}

impl WordList {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut list = Self::default();
        let mut section = "";
        for (line, number) in text.lines().map(str::trim).zip(1..) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                Some(name) => section = name,
                None => list.add(section, line).with_context(|| format!("line {number}"))?,
            }
        }
        Ok(list)
    }

    fn add(&mut self, section: &str, line: &str) -> Result<()> {
        match section {
            "rejected" => self.rejected.push(rule(line)?),
            "doc starts" => self.doc_starts.push(rule(line)?),
            "file names" => self.file_names.push(rule(line)?),
            "allowed" => self.allowed.push(Phrase::parse(line)),
            "exceptions" => self.exceptions.push(exception(line)?),
            other => bail!("unknown section `{other}`"),
        }
        Ok(())
    }
}

impl Phrase {
    fn parse(text: &str) -> Self {
        let word = |word: &str| match word {
            "*" => Vec::new(),
            word => word.to_lowercase().split('|').map(str::to_owned).collect(),
        };
        Self(text.split_whitespace().map(word).collect())
    }
}

fn rule(line: &str) -> Result<Rule> {
    let (phrase, advice) = line.split_once("=>").context("expected `phrase => use`")?;
    ensure!(!phrase.trim().is_empty(), "the phrase is empty");
    Ok(Rule { phrase: Phrase::parse(phrase), advice: advice.trim().to_owned() })
}

fn exception(line: &str) -> Result<Exception> {
    let parts: Vec<&str> = line.split(" | ").map(str::trim).collect();
    let [path, snippet, reason] = parts[..] else { bail!("expected `path | snippet | reason`") };
    ensure!(!reason.is_empty(), "an exception needs a reason");
    let own = str::to_owned;
    Ok(Exception { path: own(path), snippet: snippet.to_lowercase(), reason: own(reason) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_read() {
        let text =
            "# c\n[rejected]\nput|puts away => x, y\n[allowed]\nis no *\n[exceptions]\na/b | C d | why\n";
        let list = WordList::parse(text).unwrap();
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(list.rejected[0].phrase, Phrase(vec![own(&["put", "puts"]), own(&["away"])]));
        assert_eq!(list.rejected[0].advice, "x, y");
        assert_eq!(list.allowed, [Phrase(vec![own(&["is"]), own(&["no"]), vec![]])]);
        let Exception { path, snippet, reason } = &list.exceptions[0];
        assert_eq!((path.as_str(), snippet.as_str(), reason.as_str()), ("a/b", "c d", "why"));
    }

    #[test]
    fn faults_name_their_line() {
        for text in ["x", "[rejected]\nno arrow", "[rejected]\n => y", "[exceptions]\na | b", "[odd]\nx"] {
            let error = WordList::parse(text).unwrap_err();
            assert!(error.to_string().starts_with("line "), "{text}: {error}");
        }
    }
}
