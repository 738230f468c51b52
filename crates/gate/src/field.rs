//! Fields: the arguments of a command after expansion.
//!
//! Parts of a field that are not known are single control characters, so that what is known around them can still be
//! judged and a payload that is built from them stays marked when it is parsed again.

/// The value of a variable that the text does not set.
pub(crate) const UNKNOWN: char = '\0';
/// The output of a command that is not evaluated.
pub(crate) const OUTPUT: char = '\u{1}';
/// A process substitution; its number follows.
pub(crate) const PROCESS: char = '\u{2}';
/// An item of standard input, as `xargs` appends it.
pub(crate) const INPUT: char = '\u{4}';

/// One argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) text: String,
    /// Holds `*`, `?` or `[` outside of quotes.
    pub(crate) is_pattern: bool,
}

impl Field {
    pub(crate) fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_pattern: false }
    }

    pub(crate) fn unknown() -> Self {
        Self::literal(UNKNOWN)
    }

    pub(crate) fn pattern(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_pattern: true }
    }

    pub(crate) fn is_known(&self) -> bool {
        is_known(&self.text)
    }

    pub(crate) fn is_literal(&self) -> bool {
        self.is_known() && !self.is_pattern
    }

    /// The number of the process substitution that this field names.
    pub(crate) fn process(&self) -> Option<usize> {
        self.text.strip_prefix(PROCESS)?.parse().ok()
    }

    /// The text with unknown parts shown as `…`.
    pub(crate) fn shown(&self) -> String {
        shown(&self.text)
    }
}

pub(crate) fn is_known(text: &str) -> bool {
    !text.contains(is_mark)
}

pub(crate) fn is_mark(character: char) -> bool {
    matches!(character, UNKNOWN | OUTPUT | PROCESS | INPUT)
}

pub(crate) fn shown(text: &str) -> String {
    text.chars().map(|character| if is_mark(character) { '…' } else { character }).take(200).collect()
}
