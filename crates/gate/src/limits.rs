//! Limits of one assessment. They are counts, so that equal text always gets an equal verdict.

/// Characters of a command.
pub(crate) const MAX_CHARACTERS: usize = 128_000;
/// Nesting of the grammar, of wrappers and of payloads together.
pub(crate) const MAX_DEPTH: usize = 64;
/// Arguments of a command text, payloads included.
pub(crate) const MAX_WORDS: usize = 4_000;
/// Simple commands that are judged, payloads and calls of functions included.
pub(crate) const MAX_COMMANDS: usize = 2_000;
/// Bytes that are read by the parser, payloads included. Text that is read twice counts twice.
pub(crate) const MAX_READ: usize = 600_000;
/// Bytes of the value of a variable; a longer one is unknown.
pub(crate) const MAX_VALUE: usize = 4_096;
/// Possible values of one word.
pub(crate) const MAX_ALTERNATIVES: usize = 16;
/// Fields that one word expands to, and bytes of all expansions together.
pub(crate) const MAX_FIELDS: usize = 256;
pub(crate) const MAX_EXPANDED: usize = 600_000;
/// Arguments of all calls together; those of a call inside of another count again.
pub(crate) const MAX_ARGUMENTS: usize = 40_000;
/// Looks into the tables of protected paths. A pattern counts as several.
pub(crate) const MAX_LOOKUPS: usize = 3_000;
/// Findings that are kept; more do not change the verdict.
pub(crate) const MAX_FINDINGS: usize = 64;

/// The reason why a text cannot be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    Syntax,
    TooLong,
    TooDeep,
    TooManyWords,
}

impl Unreadable {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Syntax => "the command cannot be parsed as shell text",
            Self::TooLong => "the command is longer than 128,000 characters or expands to too much text",
            Self::TooDeep => "the command is nested more than 64 levels deep",
            Self::TooManyWords => "the command has more than 4,000 arguments or 2,000 commands",
        }
    }
}

/// The counts of one assessment, shared by the parser and the walk.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    words: usize,
    commands: usize,
    read: usize,
    expanded: usize,
    arguments: usize,
    lookups: usize,
}

impl Spent {
    pub(crate) fn word(&mut self) -> Result<(), Unreadable> {
        self.words += 1;
        if self.words > MAX_WORDS { Err(Unreadable::TooManyWords) } else { Ok(()) }
    }

    pub(crate) fn command(&mut self) -> Result<(), Unreadable> {
        self.commands += 1;
        if self.commands > MAX_COMMANDS { Err(Unreadable::TooManyWords) } else { Ok(()) }
    }

    pub(crate) fn arguments(&mut self, count: usize) -> Result<(), Unreadable> {
        self.arguments += count;
        if self.arguments > MAX_ARGUMENTS { Err(Unreadable::TooManyWords) } else { Ok(()) }
    }

    /// Returns false if too many paths were looked up.
    pub(crate) fn lookup(&mut self, count: usize) -> bool {
        self.lookups = self.lookups.saturating_add(count);
        self.lookups <= MAX_LOOKUPS
    }

    pub(crate) fn read(&mut self, bytes: usize) -> Result<(), Unreadable> {
        self.read = self.read.saturating_add(bytes);
        if self.read > MAX_READ { Err(Unreadable::TooLong) } else { Ok(()) }
    }

    pub(crate) fn expanded(&mut self, bytes: usize) -> Result<(), Unreadable> {
        self.expanded = self.expanded.saturating_add(bytes);
        if self.expanded > MAX_EXPANDED { Err(Unreadable::TooLong) } else { Ok(()) }
    }
}
