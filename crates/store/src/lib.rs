//! Everything kept on disk between turns: the session database and the memory files.
//!
//! [`SessionDb`] speaks the file format of the Python release (schema 22) and adds tables of its
//! own, named `hx_*`. It is also the [`Transcript`](hermes_conversation::Transcript) of a turn.
//! [`memory`] keeps the two files that every session begins with, shared with that release, too.
//! Nothing here decides what is said or run; it keeps what was decided, in order, once.

mod error;
pub mod memory;
mod sessions;

pub use error::{SqliteFailure, StoreError};
pub use sessions::{
    Acquired, Archived, AutoPrune, AutoPruned, BackupError, Check, Clock, ContextMessage, CopiedFiles,
    CostSummary, Count, Drained, Existing, ExportError, ExportFilter, ExportFormat, FileKind, FileRule,
    FilesHealth, Finding, Health, ImportError, ImportProblem, Imported, ImportedParts, Include, IndexHealth,
    Insights, InsightsFilter, LONGEST_PAUSE, LastSent, LedgerEntry, LedgerRow, ListFilter, Liveness,
    MAX_IMPORT, MAX_TITLE, MessageCounts, MessageState, NamedTally, NewSession, Optimized, OriginalRange,
    OrphanIntent, Pin, Prunable, PrunableFile, PruneFilter, Quarter, Reason, Recovery, RecoveryTexts,
    Refused, Reindexed, Reservation, Reserved, Rewound, SearchFilter, SearchHit, SearchReport, SessionDb,
    SessionSummary, SessionUse, Share, Sort, SpendLimit, SpendLimits, Spending, Statistics, Stats,
    StoredCompaction, StoredFile, StoredMessage, StoredSession, Tally, Target, TraceEnd, TracedCall,
    TracedTool, Trouble, TurnTrace, Verification, check, check_files, is_alive, sanitize_title, this_process,
    verify,
};
