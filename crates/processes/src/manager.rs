//! The background processes of a home directory, and the tasks that watch them.

use crate::bell::Bell;
use crate::notice::Wording;
use crate::pace::{Decision, ProcessPace, SharedPace};
use crate::screen::{piped, shown};
use hermes_conversation::{BoxFuture, MailMode, SessionId};
use hermes_exec::supervisor::{End, EndReason, Key, Peeked, Stop, StreamPart, Supervised};
use hermes_exec::{ExecError, Group, Started, TerminalSize};
use hermes_guard::Secrets;
use hermes_store::{NewProcess, ProcessEnd, SessionDb, StoredProcess};
use hermes_tools::{FenceKeys, KnownProcess, ProcessExit, ProcessStart, ProcessState};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Unfinished processes that a session may have.
const MOST: usize = 64;
/// Bytes of a line that is searched for patterns.
const LONGEST_LINE: usize = 8_192;
/// The pause before a supervisor that does not answer is asked again.
const PAUSE: Duration = Duration::from_secs(5);
pub(crate) const SIZE: TerminalSize = hermes_tools::PROCESS_TERMINAL;

/// Opens the session database on first use.
pub type StoreSource = Arc<dyn Fn() -> Result<SessionDb, String> + Send + Sync>;

/// The id of the process of a command.
pub fn id_of(key: &Key) -> String {
    let digest = Sha256::digest(key.as_str().as_bytes());
    let hex: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("proc_{hex}")
}

/// The background processes of a home directory. Cheap to clone.
#[derive(Clone)]
pub struct ProcessManager(Arc<Shared>);

struct Shared {
    supervised: Supervised,
    store: StoreSource,
    secrets: Arc<Secrets>,
    fence_key: FenceKeys,
    /// Processes that were started or looked at here, by their ids.
    known: Mutex<HashMap<String, Known>>,
    pace: Mutex<SharedPace>,
    bell: Bell,
    begun: Instant,
}

struct Known {
    process: KnownProcess,
    watch: Watch,
}

/// The state of the task that follows a process to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watch {
    Unwatched,
    Running,
    Over,
}

impl ProcessManager {
    pub fn new(
        supervised: Supervised,
        store: StoreSource,
        secrets: Arc<Secrets>,
        fence_key: FenceKeys,
    ) -> Self {
        let (known, pace, bell) = (Mutex::default(), Mutex::default(), Bell::default());
        let begun = Instant::now();
        Self(Arc::new(Shared { supervised, store, secrets, fence_key, known, pace, bell, begun }))
    }

    /// Waits until a notice is stored for a session.
    pub async fn noticed(&self, session: &SessionId) {
        self.0.bell.wait(session).await;
    }

    /// Returns true if a notice was stored for a session since this was last asked.
    pub fn take_noticed(&self, session: &SessionId) -> bool {
        self.0.bell.take(session)
    }

    pub(crate) fn store(&self) -> Result<SessionDb, String> {
        (self.0.store)()
    }

    /// Starts a process of a session. Its row is durable before its first instruction.
    pub(crate) async fn start(
        &self,
        session: &SessionId,
        start: ProcessStart,
    ) -> Result<ProcessState, String> {
        let store = self.store()?;
        let unfinished = store.processes(Some(session)).await.map_err(text)?;
        if unfinished.iter().filter(|row| row.end.is_none()).count() >= MOST {
            return Err(format!("{MOST} background processes of this session run already; end one first"));
        }
        let ProcessStart { key, command, input, notifies, patterns } = start;
        let row = NewProcess {
            id: id_of(&key),
            session: session.clone(),
            key: key.as_str().to_owned(),
            command: command.script.clone(),
            cwd: command.cwd.display().to_string(),
            pid: 0,
            has_terminal: matches!(input, hermes_exec::Input::Terminal(_)),
            notifies,
            patterns,
        };
        let id = row.id.clone();
        let record = Record { store: &store, row };
        let begun = self.0.supervised.start_detached(&key, session.as_str(), &command, input, &record).await;
        if let Err(error) = begun {
            if !matches!(error, ExecError::NotRecorded { .. }) {
                // The row may be there although the process never ran.
                let _ = store.end_process(&id, -1, "failed_start", "").await;
            }
            return Err(chain(&error));
        }
        let row = store.process(&id).await.map_err(text)?.ok_or("the process is not recorded")?;
        self.watch(&row);
        self.state(row).await
    }

    /// Looks at the unfinished processes of a session that is opened again.
    pub async fn adopt(&self, session: &SessionId) -> Result<(), String> {
        for row in self.store()?.processes(Some(session)).await.map_err(text)? {
            self.watch(&row);
        }
        Ok(())
    }

    /// All processes of the home directory, oldest first.
    pub async fn all(&self) -> Result<Vec<(SessionId, ProcessState)>, String> {
        let mut all = Vec::new();
        for row in self.store()?.processes(None).await.map_err(text)? {
            all.push((row.process.session.clone(), self.state(row).await?));
        }
        Ok(all)
    }

    /// The command of a process that was started or looked at here.
    pub(crate) fn known(&self, id: &str) -> Option<KnownProcess> {
        lock(&self.0.known).get(id).map(|known| known.process.clone())
    }

    /// A process and its output.
    pub(crate) async fn state(&self, row: StoredProcess) -> Result<ProcessState, String> {
        self.note(&row);
        let peeked = self.0.supervised.peek(&key(&row)?).await.map_err(|error| chain(&error))?;
        let mut row = row;
        if row.end.is_none() {
            let end = match &peeked {
                Some(Peeked { end: None, .. }) => None,
                Some(Peeked { end: Some(end), .. }) => Some(exit_of(end)),
                None => Some(lost()),
            };
            if let Some(exit) = end {
                self.record_end(&row, &exit, peeked.as_ref()).await?;
                let at = now();
                row.end = Some(ProcessEnd { at, exit_code: exit.code, reason: exit.reason });
            }
        }
        let (written, output) = match &peeked {
            Some(peeked) => (peeked.total, text_of(&row, &peeked.bytes)),
            None => (0, String::new()),
        };
        let StoredProcess { number, process, started_at, end } = row;
        Ok(ProcessState {
            number,
            id: process.id,
            command: process.command,
            cwd: process.cwd,
            pid: process.pid,
            started_at,
            uptime: (end.as_ref().map_or_else(now, |end| end.at) - started_at).max(0.0),
            has_terminal: process.has_terminal,
            notifies: process.notifies,
            patterns: process.patterns,
            exit: end.map(|end| ProcessExit { code: end.exit_code, reason: end.reason }),
            output,
            written,
        })
    }

    /// Waits for the end of a process.
    pub(crate) async fn ended(&self, row: &StoredProcess) -> Result<(), String> {
        if row.end.is_some() {
            return Ok(());
        }
        self.0.supervised.end_of(&key(row)?).await.map_err(|error| chain(&error))?;
        Ok(())
    }

    /// Ends a process and everything it started, and waits until it is gone.
    pub async fn kill(&self, row: &StoredProcess) -> Result<(), String> {
        let key = key(row)?;
        self.0.supervised.stop(&key, Stop::Politely).await.map_err(|error| chain(&error))?;
        let end = self.0.supervised.end_of(&key).await.map_err(|error| chain(&error))?;
        let exit = end.as_ref().map_or_else(lost, exit_of);
        self.record_end(row, &exit, None).await
    }

    /// As [`kill`](Self::kill), by id.
    pub async fn kill_by_id(&self, id: &str) -> Result<(), String> {
        let row = self.store()?.process(id).await.map_err(text)?;
        self.kill(&row.ok_or_else(|| format!("no background process has the id {id}"))?).await
    }

    /// The running processes that were started here, or that a session here has, oldest first.
    pub async fn watched(&self) -> Result<Vec<(SessionId, ProcessState)>, String> {
        let ids: Vec<String> = {
            let known = lock(&self.0.known);
            let running = known.iter().filter(|(_, known)| known.watch == Watch::Running);
            running.map(|(id, _)| id.clone()).collect()
        };
        let mut watched = Vec::new();
        for id in ids {
            let Some(row) = self.store()?.process(&id).await.map_err(text)? else { continue };
            watched.push((row.process.session.clone(), self.state(row).await?));
        }
        watched.retain(|(_, state)| state.exit.is_none());
        watched.sort_by_key(|(_, state)| state.number);
        Ok(watched)
    }

    /// Returns true if a notice may come for a session, or has come that it has not looked at.
    pub fn may_notice(&self, session: &SessionId) -> bool {
        // In this order: a process is over only after its notice is stored.
        lock(&self.0.known).values().any(|known| known.watch == Watch::Running) || self.0.bell.has(session)
    }

    /// Ends all running processes of a session. Returns their number.
    pub async fn kill_all(&self, session: &SessionId) -> Result<usize, String> {
        let rows = self.store()?.processes(Some(session)).await.map_err(text)?;
        let mut ended = 0;
        for row in rows.iter().filter(|row| row.end.is_none()) {
            self.kill(row).await?;
            self.store()?.withdraw_process_notice(&row.process.id).await.map_err(text)?;
            ended += 1;
        }
        Ok(ended)
    }

    pub(crate) async fn write(&self, row: &StoredProcess, data: &str, closes: bool) -> Result<(), String> {
        // Enter is a carriage return on a keyboard, and the end of input is Ctrl-D.
        let (data, closes) = match row.process.has_terminal {
            true => (data.replace('\n', "\r") + if closes { "\u{4}" } else { "" }, false),
            false => (data.to_owned(), closes),
        };
        self.0.supervised.write(&key(row)?, &data, closes).await.map_err(|error| chain(&error))
    }

    fn note(&self, row: &StoredProcess) {
        let process =
            KnownProcess { command: row.process.command.clone(), has_terminal: row.process.has_terminal };
        let mut known = lock(&self.0.known);
        known.entry(row.process.id.clone()).or_insert(Known { process, watch: Watch::Unwatched });
    }

    /// Watches an unfinished process, once.
    pub(crate) fn watch(&self, row: &StoredProcess) {
        if row.end.is_some() {
            return;
        }
        self.note(row);
        if let Some(known) = lock(&self.0.known).get_mut(&row.process.id) {
            if known.watch != Watch::Unwatched {
                return;
            }
            known.watch = Watch::Running;
        }
        let (manager, row) = (self.clone(), row.clone());
        tokio::spawn(async move {
            while let Err(error) = manager.follow(&row).await {
                let process = row.process.id.as_str();
                tracing::warn!(process, %error, "cannot watch a background process; trying again");
                tokio::time::sleep(PAUSE).await;
            }
            if let Some(known) = lock(&manager.0.known).get_mut(&row.process.id) {
                known.watch = Watch::Over;
            }
        });
    }

    /// Follows a process to its end and records it.
    async fn follow(&self, row: &StoredProcess) -> Result<(), String> {
        let key = key(row)?;
        if !row.process.patterns.is_empty() {
            self.search_output(row, &key).await?;
        }
        let end = self.0.supervised.end_of(&key).await.map_err(|error| chain(&error))?;
        let exit = end.as_ref().map_or_else(lost, exit_of);
        let peeked = self.0.supervised.peek(&key).await.map_err(|error| chain(&error))?;
        self.record_end(row, &exit, peeked.as_ref()).await
    }

    /// Tells the session of output with one of the patterns, until the process ends or has too much of it.
    async fn search_output(&self, row: &StoredProcess, key: &Key) -> Result<(), String> {
        let Some(mut output) = self.0.supervised.output_of(key, 0).await.map_err(|error| chain(&error))?
        else {
            return Ok(());
        };
        let (mut pace, mut line) = (ProcessPace::default(), Vec::new());
        loop {
            let bytes = match output.next().await.map_err(|error| chain(&error))? {
                Some(StreamPart::Output(bytes)) => bytes,
                Some(StreamPart::Gap(_)) => continue,
                Some(StreamPart::End(_)) | None => return Ok(()),
            };
            let (pattern, lines) = match matching(&mut line, &bytes, &row.process.patterns) {
                Some(found) => found,
                None => continue,
            };
            let decision = {
                let mut all = lock(&self.0.pace);
                pace.decide(self.0.begun.elapsed(), &mut all)
            };
            match decision {
                Decision::Notify { suppressed } => {
                    let words = self.words(row, |wording| wording.of_output(&pattern, &lines, suppressed));
                    self.post(row, &words).await?;
                }
                Decision::Suppress => {}
                Decision::OnlyTheEnd => {
                    self.store()?.notify_of_end(&row.process.id).await.map_err(text)?;
                    let words = self.words(row, |wording| wording.of_too_much());
                    return self.post(row, &words).await;
                }
            }
        }
    }

    /// Sends a message to the session that the process belongs to now.
    async fn post(&self, row: &StoredProcess, words: &str) -> Result<(), String> {
        let store = self.store()?;
        let Some(row) = store.process(&row.process.id).await.map_err(text)? else { return Ok(()) };
        store.post(&row.process.session, MailMode::Queue, words).await.map_err(text)?;
        self.0.bell.ring(row.process.session);
        Ok(())
    }

    async fn record_end(
        &self,
        row: &StoredProcess,
        exit: &ProcessExit,
        peeked: Option<&Peeked>,
    ) -> Result<(), String> {
        let output = peeked.map(|peeked| text_of(row, &peeked.bytes)).unwrap_or_default();
        let notice = self.words(row, |wording| wording.of_end(exit.code, &exit.reason, &output));
        let ended = self.store()?.end_process(&row.process.id, exit.code, &exit.reason, &notice).await;
        if let Some(session) = ended.map_err(text)? {
            self.0.bell.ring(session);
        }
        Ok(())
    }

    fn words(&self, row: &StoredProcess, write: impl FnOnce(&Wording<'_>) -> String) -> String {
        let key = (self.0.fence_key)();
        let (id, command) = (row.process.id.as_str(), row.process.command.as_str());
        write(&Wording { id, command, secrets: &self.0.secrets, key: &key })
    }
}

/// Records a process before its first instruction.
struct Record<'a> {
    store: &'a SessionDb,
    row: NewProcess,
}

impl Started for Record<'_> {
    fn started<'a>(&'a self, group: &'a Group) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let row = NewProcess { pid: group.id, ..self.row.clone() };
            self.store.begin_process(row).await.map(drop).map_err(text)
        })
    }
}

/// The first pattern in complete lines of the output, and those lines. Keeps an incomplete line for the next call.
fn matching(line: &mut Vec<u8>, bytes: &[u8], patterns: &[String]) -> Option<(String, String)> {
    line.extend(bytes);
    let end = match line.iter().rposition(|&byte| byte == b'\n') {
        Some(end) => end + 1,
        None if line.len() > LONGEST_LINE => line.len(),
        None => return None,
    };
    let complete: Vec<u8> = line.drain(..end).collect();
    let text = piped(&complete);
    let mut first = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some(pattern) = patterns.iter().find(|pattern| line.contains(pattern.as_str())) {
            first.get_or_insert_with(|| pattern.clone());
            lines.push(line);
        }
    }
    first.map(|pattern| (pattern, lines.join("\n")))
}

fn exit_of(end: &End) -> ProcessExit {
    let reason = match end.how {
        EndReason::Exited => "exited",
        EndReason::TimedOut => "timed_out",
        EndReason::Stopped | EndReason::Orphaned | EndReason::OwnerLeft => "killed",
        EndReason::NeverStarted => "failed_start",
        EndReason::Unknown => "lost",
    };
    ProcessExit { code: end.exit_code, reason: reason.to_owned() }
}

fn lost() -> ProcessExit {
    ProcessExit { code: -1, reason: "lost".to_owned() }
}

fn text_of(row: &StoredProcess, bytes: &[u8]) -> String {
    if row.process.has_terminal { shown(bytes, SIZE) } else { piped(bytes) }
}

fn key(row: &StoredProcess) -> Result<Key, String> {
    Key::new(row.process.key.clone()).map_err(text)
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

pub(crate) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        words = format!("{words}: {next}");
        cause = next.source();
    }
    words
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_found_in_complete_lines() {
        let patterns = ["ready".to_owned(), "ERROR".to_owned()];
        let mut line = Vec::new();
        assert_eq!(matching(&mut line, b"starting\nrea", &patterns), None);
        let found = matching(&mut line, b"dy on 80\nquiet\nERROR x\nhalf", &patterns);
        assert_eq!(found, Some(("ready".to_owned(), "ready on 80\nERROR x".to_owned())));
        assert_eq!(line, b"half");
        assert_eq!(matching(&mut line, &[b'.'; LONGEST_LINE], &patterns), None);
        assert!(line.is_empty(), "a line without an end is not kept forever");
    }

    #[test]
    fn ids_are_short_and_stable() {
        let id = id_of(&Key::of("20260101_000000_abcdef", 3));
        assert!(id.starts_with("proc_") && id.len() == 17);
        assert_eq!(id, id_of(&Key::of("20260101_000000_abcdef", 3)));
    }
}
