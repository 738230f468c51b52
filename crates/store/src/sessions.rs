//! The session database: who said what in which session, and who may write to it now.
//!
//! [`SessionDb`] only brings work and connections together. All writes go through one thread
//! (`writer`), all reads through their own connections (`reader`); each file below is one subject.

mod append;
mod archive;
mod artifacts;
mod auto_prune;
mod backup;
mod begin;
mod cache_ledger;
mod checkpoint;
mod connect;
mod create;
mod decode;
mod delete;
mod encode;
mod ending;
mod epoch;
mod exchange;
mod export;
mod health;
mod history;
mod holder;
mod import;
mod index;
mod insights;
mod lease;
mod ledger;
mod lineage;
mod listing;
mod load;
mod mailbox;
mod migrate;
mod nodes;
mod numbers;
mod originals;
mod outline;
mod owner;
mod pairs;
mod patience;
mod pins;
mod prune;
mod query;
mod queue;
mod reader;
mod recovery;
mod resolve;
mod rewind;
mod rewrite;
mod schema;
mod script;
mod search;
mod spans;
mod spending;
mod split;
mod stats;
mod sums;
mod tail;
mod titles;
mod trace;
mod transcript;
mod trouble;
mod verify;
mod writer;

pub use artifacts::{
    CopiedFiles, FileKind, FileRule, FilesHealth, PrunableFile, Reason, StoredFile, check_files,
};
pub use auto_prune::{AutoPrune, AutoPruned};
pub use backup::{BackupError, Existing};
pub use cache_ledger::{LastSent, LedgerEntry};
pub use create::NewSession;
pub use export::{ExportError, ExportFilter, ExportFormat};
pub use health::{Health, IndexHealth, check};
pub use history::{Include, MessageState, StoredMessage};
pub use import::{ImportError, ImportProblem, Imported, ImportedParts, MAX_IMPORT};
pub use index::{Drained, Optimized, Reindexed};
pub use insights::{
    CostSummary, Count, Insights, InsightsFilter, LONGEST_PAUSE, MessageCounts, Quarter, SessionUse, Share,
};
pub use lease::{Acquired, OrphanIntent, Target};
pub use ledger::{LedgerRow, Refused, Reservation, Reserved, SpendLimit, SpendLimits, Spending};
pub use listing::{Archived, ListFilter, SessionSummary};
pub use load::StoredSession;
pub use nodes::StoredCompaction;
pub use originals::OriginalRange;
pub use owner::{Liveness, is_alive, this_process};
pub use pins::Pin;
pub use prune::{Prunable, PruneFilter};
pub use recovery::{Recovery, RecoveryTexts};
pub use rewind::Rewound;
pub use search::{ContextMessage, SearchFilter, SearchHit, SearchReport, Sort};
pub use stats::{NamedTally, Statistics, Tally};
pub use titles::{MAX_TITLE, sanitize_title};
pub use trace::{TraceEnd, TracedCall, TracedTool, TurnTrace};
pub use trouble::Trouble;
pub use verify::{Check, Finding, Verification, verify};
pub use writer::Stats;

use crate::StoreError;
use pairs::PairIndex;
use reader::Readers;
use rusqlite::Connection;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use writer::{Level, Writer};

/// Gives the time as seconds since 1970.
pub type Clock = Arc<dyn Fn() -> f64 + Send + Sync>;

/// The session database of one home. Clones share one writer thread.
#[derive(Clone)]
pub struct SessionDb {
    shared: Arc<Shared>,
    is_alive: Liveness,
    /// The directory of the files that messages mention.
    files: Option<Arc<PathBuf>>,
}

struct Shared {
    clock: Clock,
    writer: Writer,
    readers: Readers,
    pairs: PairIndex,
    /// What was observed and not yet written.
    observed: spans::Pending,
    /// Who may have mail.
    hints: Arc<mailbox::Hints>,
    reindexed: Option<Reindexed>,
}

impl SessionDb {
    /// Opens the file, or makes it. Its directory must exist.
    ///
    /// A file of an older version is upgraded, after a backup beside it. One that is no session
    /// database, or of a newer version, is refused unchanged.
    pub fn open(path: &Path, clock: Clock) -> Result<Self, StoreError> {
        let (db, reindexed) = connect::open_writer(path)?;
        let writer = Writer::start(db, path.to_owned(), patience::WRITE_PATIENCE)?;
        let (readers, pairs) = (Readers::new(path.to_owned()), PairIndex::beside(path));
        let shared = Arc::new(Shared {
            clock,
            writer,
            readers,
            pairs,
            observed: spans::Pending::default(),
            hints: Arc::default(),
            reindexed,
        });
        Ok(Self { shared, is_alive: owner::is_alive, files: None })
    }

    /// The same database, with another judge of whether a lease's owner still lives.
    pub fn with_liveness(mut self, is_alive: Liveness) -> Self {
        self.is_alive = is_alive;
        self
    }

    /// The part of the search index that was made anew when the file was opened.
    pub fn reindexed(&self) -> Option<Reindexed> {
        self.shared.reindexed
    }

    /// What was committed through this handle and its clones.
    pub fn stats(&self) -> Stats {
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
