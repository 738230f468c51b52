//! What became of a turn that was cut off.
//!
//! A call that was running when Hermes died may have a result after all: its command went on under
//! the supervisor, or the file it was to change tells whether that happened. Whatever can be found out
//! is recorded as the call's result; the rest is unknown, and nothing is run a second time.

use crate::delegation::{interrupted, said_last};
use crate::{Resuming, Runtime, RuntimeError};
use hermes_agent::{CrashTexts, crash_texts};
use hermes_conversation::{Disposition, Effect, FileChange, IntentState, SessionId, Settled, ToolMessage};
use hermes_exec::supervisor::{Attached, Finished, Key, Outcome, Stop, SuperviseError, Supervised};
use hermes_exec::{Group, reap, this_boot};
use hermes_store::{Acquired, OrphanIntent, Recovery, RecoveryTexts, this_process};
use hermes_tools::{ToolContext, collected, command_key, kept_output, recollected};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The tool whose calls are commands.
const TERMINAL: &str = "terminal";
/// The tool whose calls are other sessions.
const DELEGATE: &str = "delegate_task";

/// Finds out what can be found out about the calls of a dead process, ends what must not go on, and
/// closes the turn in the record.
pub(crate) async fn recover(
    runtime: &Runtime,
    acquired: &Acquired,
    how: Resuming<'_>,
) -> Result<Recovery, RuntimeError> {
    if acquired.open_turn.is_none() {
        return Ok(Recovery::default());
    }
    let (session, orphans) = (acquired.lease.session.as_str(), acquired.orphans.len());
    tracing::warn!(session, orphans, "the last turn was cut off; closing it");
    let context = runtime.tool_context(&acquired.lease.session, runtime.launch.cwd.clone(), None, false)?;
    let mut search = Search {
        runtime,
        supervised: runtime.supervised(),
        session: &acquired.lease.session,
        context,
        how,
        moved_to: None,
        keys: Vec::new(),
    };
    let mut ends = Vec::new();
    for orphan in &acquired.orphans {
        ends.extend(search.end_of(orphan).await);
    }
    let CrashTexts { unknown, not_started, closing, .. } = crash_texts();
    let texts = RecoveryTexts { unknown, not_started, closing };
    let store = runtime.store()?;
    if let Some(cwd) = &search.moved_to {
        store.set_cwd(&acquired.lease, cwd.display().to_string()).await?;
    }
    let recovery = store.recover(&acquired.lease, texts, ends).await?;
    if let Some(supervised) = runtime.supervised().filter(|_| !search.keys.is_empty())
        && let Err(error) = supervised.forget_all(&search.keys).await
    {
        tracing::debug!(%error, "records of commands stay for a while");
    }
    Ok(recovery)
}

/// Looks for what unfinished calls left.
struct Search<'a> {
    runtime: &'a Runtime,
    supervised: Option<&'a Supervised>,
    session: &'a SessionId,
    context: Arc<ToolContext>,
    how: Resuming<'a>,
    /// Where the last command left the session.
    moved_to: Option<PathBuf>,
    /// Commands that need not be remembered any more.
    keys: Vec<Key>,
}

impl Search<'_> {
    /// How a call ended, if that can be told.
    async fn end_of(&mut self, orphan: &OrphanIntent) -> Option<Settled> {
        if orphan.state != IntentState::Started {
            return None;
        }
        if let Some(change) = &orphan.change {
            return changed(orphan, change).await;
        }
        if orphan.tool == TERMINAL {
            return self.command(orphan).await;
        }
        if orphan.tool == DELEGATE {
            return self.helpers(orphan).await;
        }
        match orphan.effect.as_str() {
            // A change is noted before it is made.
            "write" => Some(not_run(orphan)),
            _ => looked(orphan),
        }
    }

    /// Helpers are sessions that were cut off too. They are closed like any other, and what they had said
    /// by then is told.
    async fn helpers(&self, orphan: &OrphanIntent) -> Option<Settled> {
        let store = self.runtime.store().ok()?;
        let mut reports = Vec::new();
        for id in store.sub_agents(self.session, &orphan.call_id).await.ok()? {
            let acquired = store.acquire_existing(id.clone(), this_process()).await.ok()?;
            Box::pin(recover(self.runtime, &acquired, self.how)).await.ok()?;
            let stored = store.load(&id).await.ok()?;
            let _ = store.release_ending(&acquired.lease, "interrupted").await;
            let words = said_last(stored.messages.iter());
            reports.push(interrupted(id, words));
        }
        if reports.is_empty() {
            // A helper is stored before it does anything.
            return Some(not_run(orphan));
        }
        Some(settled(orphan, IntentState::Failed, said(orphan, recollected(reports, &self.context))))
    }

    async fn command(&mut self, orphan: &OrphanIntent) -> Option<Settled> {
        let key = command_key(self.session.as_str(), orphan.id);
        let found = match self.supervised {
            Some(supervised) => self.outcome(supervised, &key).await,
            None => Ok(Outcome::NoRecord),
        };
        let found = found.inspect_err(|error| tracing::warn!(%error, "a command was not found again"));
        if !matches!(found, Ok(Outcome::NoRecord) | Err(_)) {
            self.keys.push(key);
        }
        match found {
            Ok(Outcome::Finished(finished)) => Some(self.finished(orphan, finished)),
            Ok(Outcome::NeverStarted) => Some(not_run(orphan)),
            Ok(Outcome::Running(_) | Outcome::Unknown { .. }) => looked(orphan),
            // Nothing of a command runs before its group is on record; but records do not outlive the machine.
            Ok(Outcome::NoRecord) if orphan.process.is_none() && orphan.boot == this_boot() => {
                Some(not_run(orphan))
            }
            Ok(Outcome::NoRecord) | Err(_) => {
                end_group(orphan).await;
                looked(orphan)
            }
        }
    }

    /// Finds a command, and waits for its end if it runs. A person may be tired of waiting.
    async fn outcome(&self, supervised: &Supervised, key: &Key) -> Result<Outcome, SuperviseError> {
        match supervised.reattach(key, kept_output(&self.context)).await? {
            Outcome::Running(running) => self.wait(supervised, running).await,
            over => Ok(over),
        }
    }

    async fn wait(&self, supervised: &Supervised, running: Attached) -> Result<Outcome, SuperviseError> {
        tracing::info!("waiting for a command of the last turn");
        (self.how.tell)("a command of the last turn still runs; waiting for its result (Ctrl-C ends it)");
        let key = running.key().clone();
        let ended = running.finished();
        tokio::pin!(ended);
        tokio::select! {
            outcome = &mut ended => return outcome,
            () = self.how.stop.cancelled() => {}
        }
        supervised.stop(&key, Stop::Politely).await?;
        ended.await
    }

    fn finished(&mut self, orphan: &OrphanIntent, finished: Finished) -> Settled {
        if let Some(cwd) = &finished.output.cwd {
            self.moved_to = Some(cwd.clone());
        }
        let message = collected(orphan.call_id.clone(), &orphan.arguments, finished, &self.context);
        settled(orphan, IntentState::Done, message)
    }
}

/// The end of a call that was to change a file.
async fn changed(orphan: &OrphanIntent, change: &FileChange) -> Option<Settled> {
    let path = change.path.clone();
    let now = tokio::task::spawn_blocking(move || digest_of(&path)).await.ok()??;
    match change.was_made(now.as_deref())? {
        true => Some(settled(orphan, IntentState::Done, said(orphan, change.result.clone()))),
        false => Some(not_run(orphan)),
    }
}

/// Names what a file holds; the inner `None` means that there is no file, the outer one that it
/// cannot be told.
fn digest_of(path: &Path) -> Option<Option<String>> {
    match std::fs::read(path) {
        Ok(bytes) => Some(Some(FileChange::digest(&bytes))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(None),
        Err(_) => None,
    }
}

/// Ends what a command left that ran without the supervisor.
async fn end_group(orphan: &OrphanIntent) {
    if let Some(mark) = orphan.process.clone() {
        reap(&Group { id: mark.group, started: mark.started, boot: mark.boot }).await;
    }
}

/// The end of a call that only looks: it can have done nothing, however far it came.
fn looked(orphan: &OrphanIntent) -> Option<Settled> {
    let is_read = orphan.effect == Effect::Read.as_str();
    is_read.then(|| settled(orphan, IntentState::Failed, said(orphan, crash_texts().looking)))
}

fn not_run(orphan: &OrphanIntent) -> Settled {
    let message = said(orphan, crash_texts().not_started).with_disposition(Disposition::None);
    settled(orphan, IntentState::Refused, message)
}

fn said(orphan: &OrphanIntent, text: String) -> ToolMessage {
    ToolMessage::new(orphan.call_id.clone(), orphan.tool.clone(), text)
}

fn settled(orphan: &OrphanIntent, state: IntentState, message: ToolMessage) -> Settled {
    Settled { intent: orphan.id, state, message }
}
