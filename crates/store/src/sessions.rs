//! The session database: sessions, their messages, and leases to write to them.
//!
//! [`SessionDb`] runs work on connections. All writes go through one thread (`connection::writer`),
//! reads through connections of their own (`connection::readers`); each folder below is one subject.

mod artifacts;
mod compaction;
mod connection;
mod costs;
mod import_export;
mod lineage;
mod listing;
mod maintenance;
mod reading;
mod record;
mod rows;
mod schema;
mod search;
mod statistics;

pub use artifacts::{
    CopiedFiles, FileKind, FileRule, FilesHealth, PrunableFile, PruneReason, StoredFile, check_files,
};
pub use compaction::failures::CompactionFailures;
pub use compaction::originals::OriginalRange;
pub use compaction::pins::Pin;
pub use compaction::summaries::StoredCompaction;
pub use connection::writer::WriterStats;
pub use costs::budget::{
    LimitExceeded, Reservation, Reserved, SpendLimit, SpendLimits, Spending, SpendingRow,
};
pub use import_export::export::{ExportError, ExportFilter, ExportFormat};
pub use import_export::import::{ImportError, ImportProblem, Imported, ImportedParts, MAX_IMPORT};
pub use listing::titles::{MAX_TITLE, sanitize_title};
pub use listing::{Archived, ListFilter, SessionSummary};
pub use maintenance::auto_prune::{AutoPrune, AutoPruned};
pub use maintenance::backup::{BackupError, Existing};
pub use maintenance::health::{Health, IndexHealth, check};
pub use maintenance::optimize::Optimized;
pub use maintenance::prune::{Prunable, PruneFilter};
pub use maintenance::verify::{Check, Finding, Verification, verify};
pub use reading::load::StoredSession;
pub use reading::messages::{Include, MessageState, StoredMessage};
pub use reading::prompt_cache::{CacheLedgerEntry, LastSent};
pub use reading::turn_trace::{TraceEnd, TracedCall, TracedTool, TurnTrace};
pub use record::create::NewSession;
pub use record::delegations::NewDelegation;
pub use record::inner_calls::StoredInnerCall;
pub use record::lease::{Acquired, ModelTarget, OrphanIntent};
pub use record::process::{Liveness, is_alive, this_process};
pub use record::processes::{NewProcess, ProcessEnd, StoredProcess};
pub use record::recovery::{Recovery, RecoveryTexts};
pub use record::rewind::Rewound;
pub use search::full_text::{Drained, Reindexed};
pub use search::{ContextMessage, SearchFilter, SearchHit, SearchReport, Sort};
pub use statistics::insights::{
    ApprovalCounts, CostSummary, Count, Insights, InsightsFilter, LONGEST_PAUSE, MessageCounts, Quarter,
    SessionUse, Share,
};
pub use statistics::totals::{NamedTally, Statistics, Tally};

use crate::StoreError;
use connection::readers::Readers;
use connection::writer::{Level, Writer};
use connection::{connect, lock_wait};
use record::{mailbox, observations, process};
use rusqlite::Connection;
use search::pair_index::PairIndex;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns the time in seconds since 1970.
pub type Clock = Arc<dyn Fn() -> f64 + Send + Sync>;

/// The session database of one home. Clones share one writer thread.
#[derive(Clone)]
pub struct SessionDb {
    shared: Arc<Shared>,
    is_alive: Liveness,
    /// The directory of files that messages mention.
    files: Option<Arc<PathBuf>>,
}

struct Shared {
    clock: Clock,
    writer: Writer,
    readers: Readers,
    pairs: PairIndex,
    /// Observations that are not yet written.
    observed: observations::Pending,
    /// Sessions that may have mail.
    hints: Arc<mailbox::Hints>,
    reindexed: Option<Reindexed>,
}

impl SessionDb {
    /// Opens or creates the file. Its directory must exist.
    ///
    /// A file of an older version is upgraded after a backup beside it. A file of a newer version or of
    /// another program is an error and stays unchanged.
    pub fn open(path: &Path, clock: Clock) -> Result<Self, StoreError> {
        let (db, reindexed) = connect::open_writer(path)?;
        let writer = Writer::start(db, path.to_owned(), lock_wait::WRITE_WAIT)?;
        let (readers, pairs) = (Readers::new(path.to_owned()), PairIndex::beside(path));
        let shared = Arc::new(Shared {
            clock,
            writer,
            readers,
            pairs,
            observed: observations::Pending::default(),
            hints: Arc::default(),
            reindexed,
        });
        Ok(Self { shared, is_alive: process::is_alive, files: None })
    }

    /// Replaces the function that decides if the owner of a lease is alive.
    pub fn with_liveness(mut self, is_alive: Liveness) -> Self {
        self.is_alive = is_alive;
        self
    }

    /// Returns the part of the search index that was rebuilt when the file was opened.
    pub fn reindexed(&self) -> Option<Reindexed> {
        self.shared.reindexed
    }

    /// Returns commit counts of this handle and its clones.
    pub fn stats(&self) -> WriterStats {
        self.shared.writer.stats()
    }

    fn now(&self) -> f64 {
        (self.shared.clock)()
    }

    fn write<T, F>(&self, level: Level, work: F) -> impl Future<Output = Result<T, StoreError>> + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.shared.writer.submit(level, work)
    }

    async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.shared.readers.read(work).await
    }
}

impl fmt::Debug for SessionDb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionDb").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
