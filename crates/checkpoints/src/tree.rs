//! Trees of git and the differences between them, as values.

use serde::{Deserialize, Serialize};

/// A file in a tree: its mode and the id of its content. Equal versions are equal files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Version {
    pub(crate) mode: String,
    pub(crate) id: String,
}

impl Version {
    pub(crate) fn new(mode: &str, id: &str) -> Self {
        Self { mode: mode.to_owned(), id: id.to_owned() }
    }

    /// Returns true for a regular file or a symbolic link. Anything else is not restored.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.mode.as_str(), "100644" | "100755" | "120000")
    }
}

/// A path with different versions in two trees; `None` if the tree does not have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) path: String,
    pub(crate) before: Option<Version>,
    pub(crate) after: Option<Version>,
}

/// Reads `git diff-tree -r -z --raw`.
pub(crate) fn parse_raw_diff(text: &str) -> Vec<Changed> {
    let mut fields = text.split('\0');
    let mut changes = Vec::new();
    while let Some(head) = fields.next().and_then(|head| head.strip_prefix(':')) {
        let [old_mode, new_mode, old, new, _] = *head.split(' ').collect::<Vec<_>>() else { break };
        let Some(path) = fields.next() else { break };
        let version = |mode: &str, id: &str| (mode != "000000").then(|| Version::new(mode, id));
        let (before, after) = (version(old_mode, old), version(new_mode, new));
        changes.push(Changed { path: path.to_owned(), before, after });
    }
    changes
}

/// The numbers of `git diff --shortstat`: files, added lines, removed lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) files: u64,
    pub(crate) insertions: u64,
    pub(crate) deletions: u64,
}

pub(crate) fn parse_shortstat(text: &str) -> Counts {
    let number = |word: &str| {
        let part = text.split(',').find(|part| part.contains(word))?;
        part.split_whitespace().next()?.parse().ok()
    };
    Counts {
        files: number("file").unwrap_or_default(),
        insertions: number("insertion").unwrap_or_default(),
        deletions: number("deletion").unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_diff_becomes_changes() {
        let text =
            ":100644 100755 aa bb M\0a b\0:000000 120000 00 cc A\0new\nline\0:100644 000000 dd 00 D\0gone\0";
        let version = |mode: &str, id: &str| Some(Version::new(mode, id));
        let want = [
            ("a b", version("100644", "aa"), version("100755", "bb")),
            ("new\nline", None, version("120000", "cc")),
            ("gone", version("100644", "dd"), None),
        ];
        let want = want.map(|(path, before, after)| Changed { path: path.to_owned(), before, after });
        assert_eq!(parse_raw_diff(text), want);
        assert_eq!(parse_raw_diff(""), []);
    }

    #[test]
    fn shortstat_becomes_numbers() {
        for (text, want) in [
            (" 3 files changed, 12 insertions(+), 1 deletion(-)\n", (3, 12, 1)),
            (" 1 file changed, 1 insertion(+)\n", (1, 1, 0)),
            ("", (0, 0, 0)),
        ] {
            let counts = parse_shortstat(text);
            assert_eq!((counts.files, counts.insertions, counts.deletions), want, "{text}");
        }
    }
}
