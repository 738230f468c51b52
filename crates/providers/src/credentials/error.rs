//! Errors of `auth.json`. The file is never changed by one.

use std::io;
use std::path::PathBuf;

/// An error of `auth.json`. No variant has anything of its content.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error("could not {doing} {}; the stored credentials are left as they are", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "{} is not valid JSON ({cause}) and is left as it is; repair it, or move it away and add the \
         credentials again with `hermes auth add`",
        path.display()
    )]
    Malformed { path: PathBuf, cause: String },
    #[error("{} is left as it is: {what}", path.display())]
    Unexpected { path: PathBuf, what: String },
    #[error(
        "{} is in use by {holder}; waited {waited} s and changed nothing. Try again when that is done",
        path.display()
    )]
    Busy { path: PathBuf, holder: String, waited: u64 },
}

impl AuthError {
    pub(super) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }
}
