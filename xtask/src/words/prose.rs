//! A piece of prose with the line numbers it came from.

/// The place where a piece of prose was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A paragraph of a Markdown file.
    Markdown,
    /// A doc comment.
    Doc,
    /// A string literal of at least three words, or a help text.
    Literal,
    /// The name of a test function, with spaces for underscores.
    TestName,
    /// A file or directory name without its extension.
    FileName,
}

/// Text that a reader sees. Code spans are masked, so that offsets stay as they were.
#[derive(Debug, PartialEq)]
pub(super) struct Prose {
    pub(super) kind: Kind,
    pub(super) text: String,
    /// The offset at which each line begins, and its number.
    lines: Vec<(usize, usize)>,
}

impl Prose {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, text: String::new(), lines: Vec::new() }
    }

    /// Prose of one line.
    pub(super) fn of(kind: Kind, line: usize, text: &str) -> Self {
        let mut prose = Self::new(kind);
        prose.push(line, text);
        prose
    }

    /// The names in a path, without the directories that cargo prescribes.
    pub(super) fn path(path: &str) -> impl Iterator<Item = Self> {
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let skip = if stem.starts_with("crates/") { 3 } else { 1 };
        stem.split('/').skip(skip).map(|name| Self::of(Kind::FileName, 1, &name.replace('_', " ")))
    }

    /// Adds a line.
    pub(super) fn push(&mut self, line: usize, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.lines.push((self.text.len(), line));
        self.text.push_str(text);
    }

    /// Masks code spans and link targets; call this once all lines are there.
    pub(super) fn masked(mut self) -> Self {
        self.text = without_targets(&without_code(&self.text));
        self
    }

    pub(super) fn line_at(&self, offset: usize) -> usize {
        let after = self.lines.partition_point(|(begin, _)| *begin <= offset);
        self.lines.get(after.saturating_sub(1)).map_or(1, |(_, line)| *line)
    }
}

/// Replaces what is between backticks by as many bytes of `x`.
fn without_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('`').peekable();
    let mut is_code = false;
    while let Some(piece) = pieces.next() {
        let is_closed = pieces.peek().is_some();
        match is_code && is_closed {
            true => out.extend(piece.bytes().map(|byte| if byte == b'\n' { '\n' } else { 'x' })),
            false => out.push_str(piece),
        }
        if is_closed {
            out.push('`');
        }
        is_code = !is_code;
    }
    out
}

/// Replaces the targets of Markdown links.
fn without_targets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find("](") {
        let (before, target) = rest.split_at(begin + 2);
        let end = target.find(')').unwrap_or(0);
        out.push_str(before);
        out.extend(target[..end].bytes().map(|byte| if byte == b'\n' { '\n' } else { 'x' }));
        rest = &target[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_targets_are_masked_in_place() {
        for (text, want) in [
            ("a `b c` d", "a `xxx` d"),
            ("a ``b`` c", "a ``b`` c"),
            ("one ` tick", "one ` tick"),
            ("[a](b.md) c", "[a](xxxx) c"),
            ("[a](b", "[a](b"),
        ] {
            assert_eq!(Prose::of(Kind::Doc, 1, text).masked().text, want);
        }
    }

    #[test]
    fn offsets_have_lines() {
        let mut prose = Prose::of(Kind::Doc, 7, "ab");
        prose.push(9, "cd");
        assert_eq!([0, 2, 3, 4].map(|offset| prose.line_at(offset)), [7, 7, 9, 9]);
    }

    #[test]
    fn paths_have_names() {
        let names = |path: &str| Prose::path(path).map(|prose| prose.text).collect::<Vec<_>>();
        assert_eq!(names("crates/a/src/b_c/d.rs"), ["b c", "d"]);
        assert_eq!(names("docs/e.md"), ["e"]);
        assert_eq!(names("README.md"), [""; 0]);
    }
}
