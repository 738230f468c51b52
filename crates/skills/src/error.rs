//! Errors of the crate.

use super::PackageError;
use std::path::{Path, PathBuf};

/// Errors when finding, changing or installing skills.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    #[error("unknown skill `{name}`{}; run `hermes skills list` to see all skills", likely(near))]
    Unknown { name: String, near: Option<String> },
    #[error("cannot use skill `{name}`: {reason} ({})", path.display())]
    Broken { name: String, path: PathBuf, reason: String },
    #[error("cannot change skill `{name}`: it {why}")]
    ReadOnly { name: String, why: &'static str },
    #[error("skill `{name}` already exists ({}); {next}", path.display())]
    Taken { name: String, path: PathBuf, next: &'static str },
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Package(#[from] PackageError),
    #[error("cannot read {}: {cause}; the file was not changed, move it away and run the command again", path.display())]
    Unreadable { path: PathBuf, cause: String },
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
}

impl SkillError {
    pub(crate) fn io<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(std::io::Error) -> Self + 'a {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }
}

fn likely(near: &Option<String>) -> String {
    near.as_ref().map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}
