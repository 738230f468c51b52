//! The writer thread.
//!
//! Queued jobs are committed together: one transaction, one sync, each job in its own savepoint, so that a
//! failing job does not affect the others. A job is answered only after the commit. In WAL mode a `Full`
//! commit is one sync and a `Normal` commit none; a normal commit becomes durable with the next full one.

use super::begin_write::{begin, locked, real_path};
use super::checkpoint::{Log, WriterLoad};
use super::lock_wait::{is_locked, retry_while_locked};
use super::write_queue::{QueueTurn, WriteQueue};
use crate::StoreError;
use crate::error::Doing;
use rusqlite::Connection;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use tokio::sync::oneshot;

/// Idle time before a checkpoint.
const PAUSE: Duration = Duration::from_millis(100);

/// Durability of a job when it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Survives the death of this process.
    Normal,
    /// Survives a power cut.
    Full,
}

impl Level {
    fn pragma(self) -> &'static str {
        match self {
            Self::Normal => "NORMAL",
            Self::Full => "FULL",
        }
    }
}

/// Commit counts, for tests that count syncs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriterStats {
    /// Commits that were synced to the disk.
    pub full_commits: u64,
    /// All commits.
    pub commits: u64,
}

#[derive(Debug, Default)]
struct Counts {
    full: AtomicU64,
    all: AtomicU64,
}

/// The handle of the writer thread. Dropping it ends the thread after the queued jobs.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Sender<Request>,
    counts: Arc<Counts>,
}

impl Writer {
    /// Starts the thread on an opened connection.
    pub(crate) fn start(db: Connection, path: PathBuf, max_wait: Duration) -> Result<Self, StoreError> {
        let (queue, requests) = channel();
        let counts = Arc::new(Counts::default());
        let bench = WriterThread::new(db, path, max_wait, counts.clone());
        std::thread::Builder::new()
            .name("hermes-store".into())
            .spawn(move || bench.work(&requests))
            .map_err(|_| StoreError::Stopped)?;
        Ok(Self { queue, counts })
    }

    /// Runs `work` in a transaction and answers after the commit. The job is queued at once and runs even if
    /// the answer is not awaited.
    pub(crate) fn submit<T, F>(
        &self,
        level: Level,
        work: F,
    ) -> impl Future<Output = Result<T, StoreError>> + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = TypedJob { level, work: Some(work), outcome: None, reply };
        let sent = self.queue.send(Request::Job(Box::new(job)));
        async move {
            sent.map_err(|_| StoreError::Stopped)?;
            answer.await.unwrap_or(Err(StoreError::Stopped))
        }
    }

    /// Waits until the log is small enough to be left behind.
    pub(crate) async fn tidy(&self) {
        let (done, tidied) = oneshot::channel();
        if self.queue.send(Request::Tidy(done)).is_ok() {
            let _ = tidied.await;
        }
    }

    pub(crate) fn stats(&self) -> WriterStats {
        WriterStats {
            full_commits: self.counts.full.load(Ordering::Relaxed),
            commits: self.counts.all.load(Ordering::Relaxed),
        }
    }
}

enum Request {
    Job(Box<dyn Job>),
    Tidy(oneshot::Sender<()>),
}

/// A job, erased over the type of its answer.
trait Job: Send {
    fn level(&self) -> Level;
    /// Runs the job and keeps its result; returns true if it should be committed.
    fn run(&mut self, db: &Connection) -> bool;
    /// Sends the result, or the error of a rolled back transaction.
    fn answer(self: Box<Self>, undone: Option<StoreError>);
}

struct TypedJob<T, F> {
    level: Level,
    work: Option<F>,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for TypedJob<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, StoreError> + Send,
{
    fn level(&self) -> Level {
        self.level
    }

    fn run(&mut self, db: &Connection) -> bool {
        let outcome = self.work.take().map(|work| work(db));
        let fine = matches!(outcome, Some(Ok(_)));
        self.outcome = outcome;
        fine
    }

    fn answer(self: Box<Self>, undone: Option<StoreError>) {
        let outcome = match (self.outcome, undone) {
            // The job's own error is more specific.
            (Some(Err(own)), _) => Err(own),
            (_, Some(undone)) => Err(undone),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => Err(StoreError::Stopped),
        };
        // The caller may have stopped waiting.
        let _ = self.reply.send(outcome);
    }
}

/// State of the writer thread.
struct WriterThread {
    db: Connection,
    path: PathBuf,
    max_wait: Duration,
    counts: Arc<Counts>,
    queue: WriteQueue,
    files: Vec<FileMark>,
    log: Log,
    level: Level,
}

/// Identity of a file at the time it was opened.
struct FileMark {
    path: PathBuf,
    inode: u64,
}

impl FileMark {
    fn take(path: PathBuf) -> Option<Self> {
        let file = std::fs::metadata(&path).ok()?;
        Some(Self { path, inode: file.ino() })
    }

    fn is_current(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|file| file.ino() == self.inode)
    }
}

impl WriterThread {
    fn new(db: Connection, path: PathBuf, max_wait: Duration, counts: Arc<Counts>) -> Self {
        let main = real_path(&db, &path);
        let log = Log::of(&main);
        let watched = std::iter::once(main.as_path()).chain(log.path());
        Self {
            files: watched.map(Path::to_owned).filter_map(FileMark::take).collect(),
            queue: WriteQueue::for_writes(&main),
            log,
            db,
            path,
            max_wait,
            counts,
            level: Level::Normal,
        }
    }

    fn work(mut self, requests: &Receiver<Request>) {
        while let Some(first) = self.next(requests) {
            let mut waiting = Vec::new();
            let mut tidied = Vec::new();
            for request in std::iter::once(first).chain(requests.try_iter()) {
                match request {
                    Request::Job(job) => waiting.push(job),
                    Request::Tidy(done) => tidied.push(done),
                }
            }
            while !waiting.is_empty() {
                waiting = self.commit_group(waiting);
            }
            if !tidied.is_empty() && self.log.is_too_large_to_leave_behind() {
                self.checkpoint(WriterLoad::Idle);
            }
            for done in tidied {
                let _ = done.send(());
            }
        }
    }

    /// Returns the next request. A due checkpoint runs in the pause before it.
    fn next(&mut self, requests: &Receiver<Request>) -> Option<Request> {
        if self.log.is_overdue() {
            self.checkpoint(WriterLoad::Busy);
        }
        if self.log.is_due() {
            match requests.recv_timeout(PAUSE) {
                Ok(request) => return Some(request),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    self.checkpoint(WriterLoad::Idle)
                }
            }
        }
        requests.recv().ok()
    }

    /// Commits a group and answers it. Returns the jobs that did not run because SQLite rolled the
    /// transaction back during an earlier job.
    fn commit_group(&mut self, group: Vec<Box<dyn Job>>) -> Vec<Box<dyn Job>> {
        let level = group.iter().map(|job| job.level()).max().unwrap_or(Level::Normal);
        let turn = match self.begin(level) {
            Ok(turn) => turn,
            Err(error) => {
                answer(group, Some(error));
                return Vec::new();
            }
        };
        // A single job needs no savepoint: rolling back the transaction is enough.
        let is_alone = group.len() == 1;
        let mut rest = group.into_iter();
        let mut ran = Vec::new();
        let mut worth_it = false;
        let mut outcome = Ok(());
        for mut job in rest.by_ref() {
            let kept = if is_alone { Ok(job.run(&self.db)) } else { self.run_in_savepoint(job.as_mut()) };
            ran.push(job);
            worth_it |= matches!(kept, Ok(true));
            if let Err(error) = kept {
                outcome = Err(error);
                break;
            }
        }
        let outcome = outcome.and_then(|()| self.finish(level, worth_it));
        if outcome.is_err() && !self.db.is_autocommit() {
            // If this fails, the next `begin` fails, too, and reports it.
            let _ = step(&self.db, "ROLLBACK");
        }
        // Releases the queue before the jobs are answered.
        drop(turn);
        answer(ran, outcome.err());
        rest.collect()
    }

    fn begin(&mut self, level: Level) -> Result<QueueTurn, StoreError> {
        if level != self.level {
            self.db.pragma_update(None, "synchronous", level.pragma()).doing("set the sync level")?;
            self.level = level;
        }
        begin(&self.db, &mut self.queue, &self.path, self.max_wait)
    }

    /// Returns true if the job's work stays in the transaction; an error if there is no transaction any more.
    fn run_in_savepoint(&self, job: &mut dyn Job) -> Result<bool, StoreError> {
        step(&self.db, "SAVEPOINT job").doing("begin a write")?;
        let kept = job.run(&self.db);
        if !kept {
            step(&self.db, "ROLLBACK TO job").doing("keep the transaction")?;
        }
        step(&self.db, "RELEASE job").doing("keep the transaction")?;
        Ok(kept)
    }

    fn finish(&mut self, level: Level, worth_it: bool) -> Result<(), StoreError> {
        if !worth_it {
            return step(&self.db, "ROLLBACK").doing("end a write");
        }
        match retry_while_locked(self.max_wait, || step(&self.db, "COMMIT")) {
            Err(error) if is_locked(&error) => {
                return Err(locked(&self.db, &self.path, self.max_wait));
            }
            outcome => outcome.doing("commit")?,
        }
        self.log.count_commit();
        self.counts.all.fetch_add(1, Ordering::Relaxed);
        if level == Level::Full {
            self.counts.full.fetch_add(1, Ordering::Relaxed);
        }
        match self.files.iter().find(|file| !file.is_current()) {
            Some(lost) => Err(StoreError::WalReplaced { path: lost.path.clone() }),
            None => Ok(()),
        }
    }

    fn checkpoint(&mut self, load: WriterLoad) {
        self.log.checkpoint(&self.db, &mut self.queue, load);
    }
}

/// Runs a statement without rows, prepared once.
pub(crate) fn step(db: &Connection, sql: &str) -> rusqlite::Result<()> {
    db.prepare_cached(sql)?.execute([]).map(drop)
}

fn answer(jobs: Vec<Box<dyn Job>>, undone: Option<StoreError>) {
    for job in jobs {
        job.answer(undone.clone());
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "writer_crowd_tests.rs"]
mod crowd_tests;
