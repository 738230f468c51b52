//! Errors of the sandbox.

use std::path::PathBuf;

/// The reason for which a command cannot be confined.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("the sandbox cannot enforce {layer} on this machine: {reason}; {remedy}")]
    LayerMissing { layer: &'static str, reason: String, remedy: &'static str },
    #[error("the sandbox needs {} as an absolute path without links", .path.display())]
    NotAbsolute { path: PathBuf },
    #[error("the sandbox could not {doing}{}", .path.as_ref().map(|path| format!(" {}", path.display())).unwrap_or_default())]
    Io {
        doing: &'static str,
        path: Option<PathBuf>,
        #[source]
        source: std::io::Error,
    },
}

impl SandboxError {
    /// For `map_err`.
    pub(crate) fn io(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, path: None, source }
    }

    pub(crate) fn at(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, path: Some(path.into()), source }
    }
}
