//! The text that a command would print, as far as it is known without running it.

/// Standard output of one command, and standard input of the next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Output {
    /// Nothing is printed, or standard input is that of the caller.
    #[default]
    Nothing,
    /// A known text; it may hold marks of unknown parts.
    Text(String),
    /// Names of files below these directories or patterns, one a line.
    Paths(Vec<String>),
    /// A text that does not depend on files of the user, such as a date or a commit id.
    Harmless,
    Unknown,
    /// Text that the program of this name decoded, if it is known.
    Decoded(&'static str, Option<String>),
    /// Text from another machine.
    Remote,
}

impl Output {
    /// The output of two commands that run one after the other.
    pub(crate) fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Nothing, other) | (other, Self::Nothing) => other,
            (Self::Text(mut text), Self::Text(more)) => {
                text.push_str(&more);
                Self::Text(text)
            }
            (first, second) => first.worse(second),
        }
    }

    fn worse(self, other: Self) -> Self {
        fn rank(output: &Output) -> u8 {
            match output {
                Output::Nothing => 0,
                Output::Harmless => 1,
                Output::Text(_) => 2,
                Output::Paths(_) => 3,
                Output::Unknown => 4,
                Output::Decoded(..) => 5,
                Output::Remote => 6,
            }
        }
        let worst = if rank(&self) >= rank(&other) { self } else { other };
        // Two different texts are not one of them.
        if matches!(worst, Self::Text(_)) { Self::Unknown } else { worst }
    }

    /// The output of a filter that was given this: it selects lines or changes them.
    pub(crate) fn filtered(&self) -> Self {
        match self {
            Self::Nothing | Self::Text(_) => Self::Unknown,
            other => other.clone(),
        }
    }
}
