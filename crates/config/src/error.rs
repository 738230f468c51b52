//! Errors of settings, with the place and the expected value.

use std::fmt;
use std::path::PathBuf;

use crate::home::HomeError;

/// The place of a value, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Flag,
    Variable {
        name: String,
        place: &'static str,
    },
    File {
        path: PathBuf,
        line: Option<usize>,
    },
    /// Text given to `config set`.
    CommandLine,
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag => f.write_str("a command-line flag"),
            Origin::Variable { name, place } => write!(f, "{name} in {place}"),
            Origin::File { path, line: Some(line) } => write!(f, "{} line {line}", path.display()),
            Origin::File { path, line: None } => write!(f, "{}", path.display()),
            Origin::CommandLine => f.write_str("the command line"),
            Origin::Default => f.write_str("the built-in default"),
        }
    }
}

/// A value that cannot be used. No variant carries the value of a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("`{key}` must be {wanted}, but {origin} has {found}")]
    WrongType { origin: Origin, key: String, found: String, wanted: String },
    #[error("`{key}` at {origin} uses ${{{variable}}}, which is not set: `hermes config set {variable} ...`")]
    UnsetVariable { origin: Origin, key: String, variable: String },
}

/// An error of the settings. No variant carries the value of a secret.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{} line {line} is not valid YAML{}: {reason}; nothing was changed", path.display(), near(key))]
    Malformed { path: PathBuf, line: usize, key: Option<String>, reason: String },
    #[error("{} is not valid UTF-8; nothing was changed", path.display())]
    NotText { path: PathBuf },
    #[error(transparent)]
    Value(#[from] Problem),
    #[error("{} has {} MiB; settings have at most {} MiB", path.display(), size >> 20, most >> 20)]
    TooLarge { path: PathBuf, size: u64, most: u64 },
    #[error("`{key}` is not a key: use names joined by dots, such as `agent.max_turns`")]
    BadKey { key: String },
    #[error("`{name}` is not a variable name: use letters, digits and underscores")]
    BadVariable { name: String },
    #[error("the value for {name} holds control characters, which .env cannot keep")]
    BadVariableValue { name: String },
    #[error("`{section}` in {} is a value, not a section, so `{key}` cannot be set; unset it first", path.display())]
    NotASection { path: PathBuf, section: String, key: String },
    #[error("could not change `{key}` in {} safely ({reason}); edit the file by hand", path.display())]
    CannotEdit { path: PathBuf, key: String, reason: String },
    #[error(transparent)]
    Home(#[from] HomeError),
}

fn near(key: &Option<String>) -> String {
    key.as_ref().map(|key| format!(" near `{key}`")).unwrap_or_default()
}
