//! What can go wrong between Hermes and its session database.

use hermes_conversation::{IntentId, MailId, MessageId, RecordError, SessionId, TurnId};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What can go wrong between Hermes and its session database.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error("could not open {path}")]
    Open {
        path: PathBuf,
        #[source]
        source: SqliteFailure,
    },
    #[error("could not create {path}: {cause}")]
    Create { path: PathBuf, cause: String },
    #[error("{path} is not a readable database; it was left as it is")]
    Corrupt {
        path: PathBuf,
        #[source]
        source: SqliteFailure,
    },
    #[error("{path} is a database of some other program; it was left as it is")]
    Foreign { path: PathBuf },
    #[error(
        "{path} says schema {found} but has no sessions to bring to schema {needs}; it was left as it is"
    )]
    SchemaTooOld { path: PathBuf, found: i64, needs: i64 },
    #[error(
        "could not upgrade {path} from schema {from}: failed to {doing}; it is as it was{}",
        kept_backup(backup.as_deref())
    )]
    Upgrade {
        path: PathBuf,
        from: i64,
        doing: &'static str,
        /// The copy made before the first step, unless making it is what failed.
        backup: Option<PathBuf>,
        #[source]
        source: SqliteFailure,
    },
    #[error("{path} uses schema {found}; this build understands up to {newest}")]
    SchemaTooNew { path: PathBuf, found: i64, newest: i64 },
    #[error("the SQLite library is {found}; 3.51.3 or newer is needed")]
    LibraryTooOld { found: &'static str },
    #[error("{path} stayed locked for {seconds} s{}", named_holder(*holder))]
    Locked {
        path: PathBuf,
        seconds: u64,
        /// The process that has the lock, if the system tells.
        holder: Option<u32>,
    },
    #[error("{path} was removed or replaced while open; restart before going on")]
    WalReplaced { path: PathBuf },
    #[error("session {session} is in use by process {pid}")]
    Busy { session: SessionId, pid: u32 },
    #[error("session {session} was taken over by another process")]
    Fenced { session: SessionId },
    #[error("no session matches `{wanted}`")]
    UnknownSession { wanted: String },
    #[error("`{wanted}` matches several sessions: {}", joined(candidates))]
    AmbiguousSession { wanted: String, candidates: Vec<SessionId> },
    #[error("the title `{title}` belongs to session {owner}")]
    TitleTaken { title: String, owner: SessionId },
    #[error("a title has at most {limit} characters, this one has {length}")]
    TitleTooLong { length: usize, limit: usize },
    #[error("turn {turn} is not open in session {session}")]
    TurnNotOpen { turn: TurnId, session: SessionId },
    #[error("call {intent} was started before or is over")]
    IntentNotPlanned { intent: IntentId },
    #[error("call {intent} already has a result")]
    IntentSettled { intent: IntentId },
    #[error("message {mail} of the mailbox is in the conversation already, or has nothing to join")]
    MailNotDelivered { mail: MailId },
    #[error("session {session} cannot go back to message {}: {why}", message.0)]
    NotRewindable { session: SessionId, message: MessageId, why: &'static str },
    #[error("session {session} has an unfinished turn; continue it with --resume {session} first")]
    TurnOpen { session: SessionId },
    #[error("session {session} has no summary {number}; nothing was compacted")]
    UnknownNode { session: SessionId, number: u32 },
    #[error("there is a session {session} already; choose another id")]
    SessionExists { session: SessionId },
    #[error("could not read the files in {path}: {cause}")]
    Files { path: PathBuf, cause: String },
    #[error("the session store has stopped")]
    Stopped,
    #[error("could not {doing}")]
    Sqlite {
        doing: &'static str,
        #[source]
        source: SqliteFailure,
    },
}

/// A failure of the database library, kept opaque so that no caller depends on the library.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct SqliteFailure(Arc<rusqlite::Error>);

impl StoreError {
    /// The file, or the disk it is on, cannot be written.
    pub fn is_read_only(&self) -> bool {
        self.has_code(&[rusqlite::ErrorCode::ReadOnly, rusqlite::ErrorCode::PermissionDenied])
    }

    /// There is no space left for the file.
    pub fn is_full(&self) -> bool {
        // The log's index could not be made larger: SQLite does not ask why.
        let no_room =
            |error: &rusqlite::ffi::Error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
        self.has_code(&[rusqlite::ErrorCode::DiskFull])
            || self.failure().and_then(|failure| failure.0.sqlite_error()).is_some_and(no_room)
    }

    /// What a person can do about it, where that is not plain from the error.
    pub fn remedy(&self) -> Option<&'static str> {
        if self.is_full() {
            Some("free some space and try again; what was recorded before is kept")
        } else if self.is_read_only() {
            Some("make the home folder and its files writable for you, or set HERMES_HOME to another folder")
        } else if self.is_damaged() {
            Some("`hermes doctor` says what can be done")
        } else {
            None
        }
    }

    /// The file is damaged.
    pub fn is_damaged(&self) -> bool {
        matches!(self, Self::Corrupt { .. })
            || self.has_code(&[rusqlite::ErrorCode::DatabaseCorrupt, rusqlite::ErrorCode::NotADatabase])
    }

    /// The tables do not take a value: the fault of whoever gave it, not of the store.
    pub(crate) fn is_refused_value(&self) -> bool {
        use rusqlite::ErrorCode::{ConstraintViolation, TooBig, TypeMismatch};
        self.has_code(&[ConstraintViolation, TooBig, TypeMismatch])
    }

    fn has_code(&self, codes: &[rusqlite::ErrorCode]) -> bool {
        let code = self.failure().and_then(|failure| failure.0.sqlite_error_code());
        code.is_some_and(|code| codes.contains(&code))
    }

    fn failure(&self) -> Option<&SqliteFailure> {
        match self {
            Self::Sqlite { source, .. } | Self::Open { source, .. } | Self::Upgrade { source, .. } => {
                Some(source)
            }
            _ => None,
        }
    }
}

impl From<rusqlite::Error> for SqliteFailure {
    fn from(source: rusqlite::Error) -> Self {
        Self(Arc::new(source))
    }
}

/// Says what a statement was for when it fails.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError>;
}

impl<T> Doing<T> for rusqlite::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::Sqlite { doing, source: error.into() })
    }
}

impl From<StoreError> for RecordError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Fenced { session } => Self::Fenced { session },
            other => {
                let cause = with_causes(&other);
                let cause = other.remedy().map_or(cause.clone(), |remedy| format!("{cause}; {remedy}"));
                Self::Store { cause }
            }
        }
    }
}

/// The error and its causes on one line, for callers that can carry only text.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text.push_str(": ");
        text.push_str(&source.to_string());
        cause = source.source();
    }
    text
}

fn named_holder(holder: Option<u32>) -> impl fmt::Display {
    holder.map_or_else(String::new, |pid| format!(", probably by process {pid}"))
}

fn kept_backup(backup: Option<&Path>) -> impl fmt::Display {
    backup.map_or_else(String::new, |copy| format!(", and a copy of it is {}", copy.display()))
}

fn joined(candidates: &[SessionId]) -> impl fmt::Display {
    let names: Vec<_> = candidates.iter().map(SessionId::as_str).collect();
    names.join(", ")
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
