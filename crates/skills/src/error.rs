//! What can go wrong with skills, in words for a person.

use super::ParcelError;
use std::path::{Path, PathBuf};

/// What can go wrong with skills.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    #[error("no skill is called `{name}`{}; `hermes skills list` shows them", likely(near))]
    Unknown { name: String, near: Option<String> },
    #[error("the skill `{name}` cannot be used: {reason} ({})", path.display())]
    Broken { name: String, path: PathBuf, reason: String },
    #[error("the skill `{name}` {why}")]
    ReadOnly { name: String, why: &'static str },
    #[error("a skill called `{name}` is there already ({}); {next}", path.display())]
    Taken { name: String, path: PathBuf, next: &'static str },
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Parcel(#[from] ParcelError),
    #[error("{} cannot be read: {cause}; it was left as it is, move it away to go on", path.display())]
    Unreadable { path: PathBuf, cause: String },
    #[error("could not {doing} {}: {source}", path.display())]
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
