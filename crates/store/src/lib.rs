//! The session database.
//!
//! [`SessionDb`] speaks the file format of the Python release (schema 22) and adds tables of its
//! own, named `hx_*`. It is also the [`Transcript`](hermes_conversation::Transcript) of a turn. This crate decides
//! nothing about a turn; it records decisions, in order, once.

mod error;
mod sessions;

pub use error::{SqliteFailure, StoreError};
pub use sessions::{
    Acquired, ApprovalCounts, Archived, AutoPrune, AutoPruned, BackupError, CacheLedgerEntry, Check, Clock,
    CompactionFailures, ContextMessage, CopiedFiles, CostSummary, Count, Drained, Existing, ExportError,
    ExportFilter, ExportFormat, FileKind, FileRule, FilesHealth, Finding, Health, ImportError, ImportProblem,
    Imported, ImportedParts, Include, IndexHealth, Insights, InsightsFilter, LONGEST_PAUSE, LastSent,
    LimitExceeded, ListFilter, Liveness, MAX_IMPORT, MAX_TITLE, MessageCounts, MessageState, ModelTarget,
    NamedTally, NewDelegation, NewProcess, NewSession, Optimized, OriginalRange, OrphanIntent, Pin,
    ProcessEnd, Prunable, PrunableFile, PruneFilter, PruneReason, Quarter, Recovery, RecoveryTexts,
    Reindexed, Reservation, Reserved, Rewound, SearchFilter, SearchHit, SearchReport, SessionDb,
    SessionSummary, SessionUse, Share, Sort, SpendLimit, SpendLimits, Spending, SpendingRow, Statistics,
    StoredCompaction, StoredFile, StoredInnerCall, StoredMessage, StoredProcess, StoredSession, Tally,
    TraceEnd, TracedCall, TracedTool, TurnTrace, Verification, WriterStats, check, check_files, is_alive,
    sanitize_title, this_process, verify,
};
