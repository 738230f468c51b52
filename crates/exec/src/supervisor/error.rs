//! Errors of the supervisor and its clients.

use std::path::PathBuf;

/// A failure to use the supervisor.
#[derive(Debug, thiserror::Error)]
pub enum SuperviseError {
    #[error("`{key}` cannot name a command: use 1 to 64 letters, digits, `-` and `_`")]
    BadKey { key: String },
    #[error("{} {problem}; remove it, or choose another runtime directory", .path.display())]
    UnsafeFolder { path: PathBuf, problem: String },
    #[error(
        "the command supervisor's socket is answered by user {uid}, not by user {own}; nothing was sent to it"
    )]
    ForeignPeer { uid: u32, own: u32 },
    #[error(
        "the command supervisor that runs speaks protocol {theirs}, this program speaks {ours}; \
         it leaves as soon as its commands are over, then try again"
    )]
    OtherVersion { ours: u32, theirs: u32 },
    #[error("the command supervisor did not start: {cause}; details may be in {}", .log.display())]
    NotStarted { cause: String, log: PathBuf },
    #[error("the command supervisor does not answer; if it is stopped, continue or end it")]
    Silent,
    #[error("the command supervisor exited repeatedly before it answered")]
    KeepsLeaving,
    #[error("the command supervisor refused: {reason}")]
    Refused { reason: String },
    #[error("the command supervisor broke the protocol: {what}")]
    Protocol { what: String },
    #[error("{} cannot be read as a command's record: {problem}; it was not changed", .path.display())]
    BadRecord { path: PathBuf, problem: String },
    #[error("could not {doing}")]
    Io {
        doing: &'static str,
        #[source]
        source: std::io::Error,
    },
}

impl SuperviseError {
    /// For `map_err`.
    pub(crate) fn io(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }

    pub(crate) fn protocol(what: impl Into<String>) -> Self {
        Self::Protocol { what: what.into() }
    }
}
