//! Everything kept on disk between turns: the session database.
//!
//! [`SessionDb`] speaks the file format of the Python release (schema 22) and adds tables of its
//! own, named `hx_*`. It is also the [`Transcript`](hermes_conversation::Transcript) of a turn.
//! Nothing here decides what is said or run; it keeps what was decided, in order, once.

mod error;
mod sessions;

pub use error::{SqliteFailure, StoreError};
pub use sessions::{
    Acquired, Clock, Drained, ExportFilter, Health, ListFilter, Liveness, MAX_TITLE, NewSession,
    OrphanIntent, Recovery, RecoveryTexts, SearchHit, SearchReport, SessionDb, SessionSummary, Stats,
    StoredSession, Target, check, is_alive, sanitize_title, this_process,
};
