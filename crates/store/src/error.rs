//! Errors of the session database.

use hermes_conversation::{IntentId, MailId, MessageId, RecordError, SessionId, TurnId};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Errors of the session database.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error("cannot open {path}")]
    Open {
        path: PathBuf,
        #[source]
        source: SqliteFailure,
    },
    #[error("cannot create {path}: {cause}")]
    Create { path: PathBuf, cause: String },
    #[error("{path} is not a readable database; it was not changed")]
    Corrupt {
        path: PathBuf,
        #[source]
        source: SqliteFailure,
    },
    #[error("{path} is a database of another program; it was not changed")]
    Foreign { path: PathBuf },
    #[error(
        "{path} has schema {found} without sessions, which cannot be upgraded to schema {needs}; it was not changed"
    )]
    SchemaTooOld { path: PathBuf, found: i64, needs: i64 },
    #[error(
        "cannot upgrade {path} from schema {from}: failed to {doing}; it was not changed{}",
        kept_backup(backup.as_deref())
    )]
    Upgrade {
        path: PathBuf,
        from: i64,
        doing: &'static str,
        /// The copy made before the first step; `None` if copying failed.
        backup: Option<PathBuf>,
        #[source]
        source: SqliteFailure,
    },
    #[error("{path} has schema {found}; this build supports up to {newest}: install a newer Hermes")]
    SchemaTooNew { path: PathBuf, found: i64, newest: i64 },
    #[error("SQLite {found} is too old; 3.51.3 or newer is required")]
    LibraryTooOld { found: &'static str },
    #[error("{path} was locked for {seconds} s{}; try again", named_holder(*holder))]
    Locked {
        path: PathBuf,
        seconds: u64,
        /// The process that holds the lock, if known.
        holder: Option<u32>,
    },
    #[error("{path} was removed or replaced while open; restart Hermes")]
    WalReplaced { path: PathBuf },
    #[error("session {session} is in use by process {pid}")]
    Busy { session: SessionId, pid: u32 },
    #[error("session {session} was taken over by another process")]
    Fenced { session: SessionId },
    #[error("no session matches `{wanted}`")]
    UnknownSession { wanted: String },
    #[error("`{wanted}` matches several sessions: {}", joined(candidates))]
    AmbiguousSession { wanted: String, candidates: Vec<SessionId> },
    #[error("title `{title}` is used by session {owner}")]
    TitleTaken { title: String, owner: SessionId },
    #[error("title too long: {length} characters, the limit is {limit}")]
    TitleTooLong { length: usize, limit: usize },
    #[error("turn {turn} is not open in session {session}")]
    TurnNotOpen { turn: TurnId, session: SessionId },
    #[error("call {intent} was already started or has ended")]
    IntentNotPlanned { intent: IntentId },
    #[error("call {intent} already has a result")]
    IntentSettled { intent: IntentId },
    #[error("queued message {mail} was already delivered, or there is no message to deliver it with")]
    MailNotDelivered { mail: MailId },
    #[error("cannot rewind session {session} to message {}: {why}", message.0)]
    NotRewindable { session: SessionId, message: MessageId, why: &'static str },
    #[error("session {session} has an unfinished turn; resume it first with --resume {session}")]
    TurnOpen { session: SessionId },
    #[error("session {session} has no summary {number}; nothing was compacted")]
    UnknownNode { session: SessionId, number: u32 },
    #[error("session {session} already exists; choose another id")]
    SessionExists { session: SessionId },
    #[error("cannot read the files in {path}: {cause}")]
    Files { path: PathBuf, cause: String },
    #[error("the session store has stopped")]
    Stopped,
    #[error("cannot {doing}")]
    Sqlite {
        doing: &'static str,
        #[source]
        source: SqliteFailure,
    },
}

/// A failure of the database library, opaque so that no caller depends on the library.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct SqliteFailure(Arc<rusqlite::Error>);

impl StoreError {
    /// Returns true if the file or its disk is read-only.
    pub fn is_read_only(&self) -> bool {
        self.has_code(&[rusqlite::ErrorCode::ReadOnly, rusqlite::ErrorCode::PermissionDenied])
    }

    /// Returns true if the disk is full.
    pub fn is_full(&self) -> bool {
        // SQLite does not report why it could not enlarge the index of the log.
        let no_space =
            |error: &rusqlite::ffi::Error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
        self.has_code(&[rusqlite::ErrorCode::DiskFull])
            || self.failure().and_then(|failure| failure.0.sqlite_error()).is_some_and(no_space)
    }

    /// Returns advice for the user, if the error itself does not give it.
    pub fn remedy(&self) -> Option<&'static str> {
        if self.is_full() {
            Some("free some space and run the command again (everything recorded before is kept)")
        } else if self.is_read_only() {
            Some("make the home directory and its files writable, or set HERMES_HOME to another directory")
        } else if self.is_damaged() {
            Some("run `hermes doctor` to see what can be done")
        } else {
            None
        }
    }

    /// Returns true if the file is damaged.
    pub fn is_damaged(&self) -> bool {
        matches!(self, Self::Corrupt { .. })
            || self.has_code(&[rusqlite::ErrorCode::DatabaseCorrupt, rusqlite::ErrorCode::NotADatabase])
    }

    /// Returns true if the tables refuse a value, which is the caller's fault and not the store's.
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

/// Names the purpose of a statement in its error.
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

/// Joins an error and its causes on one line, for callers that carry only text.
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
    backup.map_or_else(String::new, |copy| format!("; a backup is in {}", copy.display()))
}

fn joined(candidates: &[SessionId]) -> impl fmt::Display {
    let names: Vec<_> = candidates.iter().map(SessionId::as_str).collect();
    names.join(", ")
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
