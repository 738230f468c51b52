//! Crash recovery: closes the turn that a dead process left.
//!
//! A tool call that ran when Hermes died may still have a result: its command continued under the supervisor, or
//! the file that it changes shows if the change was made. Such a result is recorded; all others are unknown, and
//! no call is run a second time.

use crate::delegation::newest_reply;
use crate::tool_setup::SessionTools;
use crate::{Resuming, Runtime, RuntimeError};
use hermes_agent::{CrashTexts, crash_texts};
use hermes_conversation::{
    Disposition, Effect, FileChange, IntentState, RunsIn, SessionId, Settled, ToolMessage, ToolTable,
};
use hermes_delegation::interrupted;
use hermes_exec::supervisor::{
    Attached, EndReason, Finished, Key, Outcome, Stop, SuperviseError, Supervised,
};
use hermes_exec::{Group, reap, this_boot};
use hermes_processes::id_of;
use hermes_store::{Acquired, OrphanIntent, Recovery, RecoveryTexts, StoredInnerCall, this_process};
use hermes_tools::{
    CutOffCall, Places, ToolContext, collected, collected_start, command_key, interrupted_script,
    kept_output, kept_result, project_of, recollected,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Collects the results of the calls of a dead process, ends commands that must not continue, and closes the
/// turn in the record.
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
    let context =
        runtime.tool_context(SessionTools::of(&acquired.lease.session, runtime.launch.cwd.clone()))?;
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
    // Scripts come last, because their results tell how their calls ended.
    let (scripts, others): (Vec<_>, Vec<_>) =
        acquired.orphans.iter().partition(|orphan| search.runs_in(orphan) == RunsIn::Script);
    for orphan in others {
        ends.extend(search.end_of(orphan).await);
    }
    for orphan in scripts {
        ends.extend(search.script(orphan, &ends).await);
    }
    let CrashTexts { unknown, not_started, closing, .. } = crash_texts();
    let texts = RecoveryTexts { unknown, not_started, closing };
    let store = runtime.store()?;
    if let Some(cwd) = &search.moved_to {
        let before = store.load(&acquired.lease.session).await?.cwd;
        if before.is_some_and(|before| is_in_project(runtime, Path::new(&before), cwd)) {
            store.set_cwd(&acquired.lease, cwd.display().to_string()).await?;
        }
    }
    let recovery = store.recover(&acquired.lease, texts, ends).await?;
    if let Some(supervised) = runtime.supervised().filter(|_| !search.keys.is_empty())
        && let Err(error) = supervised.forget_all(&search.keys).await
    {
        tracing::debug!(%error, "cannot delete records of commands");
    }
    Ok(recovery)
}

/// Returns true if a command that started in `before` stayed in the project of that directory. Another one would become
/// the project of the resumed session.
fn is_in_project(runtime: &Runtime, before: &Path, cwd: &Path) -> bool {
    let places = Places::new(runtime.launch.home.path(), runtime.launch.shell.get("HOME").map(Path::new));
    let before = before.canonicalize().unwrap_or_else(|_| before.to_owned());
    cwd.starts_with(project_of(&before, &places))
}

/// Looks for results of unfinished calls.
struct Search<'a> {
    runtime: &'a Runtime,
    supervised: Option<&'a Supervised>,
    session: &'a SessionId,
    context: Arc<ToolContext>,
    how: Resuming<'a>,
    /// The working directory after the last command.
    moved_to: Option<PathBuf>,
    /// Commands whose records can be deleted.
    keys: Vec<Key>,
}

impl Search<'_> {
    /// Returns how a call ended, if that can be determined.
    async fn end_of(&mut self, orphan: &OrphanIntent) -> Option<Settled> {
        if orphan.state != IntentState::Started {
            return None;
        }
        if let Some(change) = &orphan.change {
            return self.changed(orphan, change).await;
        }
        match (self.runs_in(orphan), orphan.effect.as_str()) {
            (RunsIn::Command, _) => self.command(orphan).await,
            (RunsIn::Subagents, _) => self.helpers(orphan).await,
            (RunsIn::Script, _) => None,
            // A change is recorded before it is made.
            (RunsIn::Process, "write") => Some(not_run(orphan)),
            (RunsIn::Process, _) => looked(orphan),
        }
    }

    fn runs_in(&self, orphan: &OrphanIntent) -> RunsIn {
        self.runtime.registry().facts(&orphan.tool).runs_in
    }

    /// Ends a script, and returns what its calls came to. `ends` has those whose end was found now.
    async fn script(&mut self, orphan: &OrphanIntent, ends: &[Settled]) -> Option<Settled> {
        if orphan.state != IntentState::Started {
            return None;
        }
        let calls = self.runtime.store().ok()?.inner_calls(orphan.id).await.ok()?;
        if orphan.process.is_none() && calls.is_empty() && orphan.boot == this_boot() {
            // Its processes are recorded before it does anything.
            return Some(not_run(orphan));
        }
        let output = self.ended_script(orphan).await;
        let calls: Vec<CutOffCall> = calls.into_iter().map(|call| cut_off(call, ends)).collect();
        let message = interrupted_script(orphan.call_id.clone(), output.as_deref(), &calls, &self.context);
        Some(settled(orphan, IntentState::Failed, message))
    }

    /// Ends the processes of a script, and returns its output if it is known.
    async fn ended_script(&mut self, orphan: &OrphanIntent) -> Option<String> {
        let key = command_key(self.session.as_str(), orphan.id);
        let Some(supervised) = self.supervised else {
            end_group(orphan).await;
            return None;
        };
        let found = match supervised.reattach(&key, kept_output(&self.context)).await {
            Ok(Outcome::Running(running)) => match supervised.stop(&key, Stop::Politely).await {
                Ok(()) => running.finished().await,
                Err(error) => Err(error),
            },
            found => found,
        };
        match found {
            Ok(Outcome::Finished(finished)) => {
                self.keys.push(key);
                Some(finished.output.text)
            }
            Ok(_) | Err(_) => {
                end_group(orphan).await;
                None
            }
        }
    }

    /// Closes the sub-agents of a call like any other session, and returns their last replies.
    async fn helpers(&self, orphan: &OrphanIntent) -> Option<Settled> {
        let store = self.runtime.store().ok()?;
        let mut reports = Vec::new();
        for id in store.sub_agents(self.session, &orphan.call_id).await.ok()? {
            let acquired = store.acquire_existing(id.clone(), this_process()).await.ok()?;
            Box::pin(recover(self.runtime, &acquired, self.how)).await.ok()?;
            let stored = store.load(&id).await.ok()?;
            let _ = store.release_ending(&acquired.lease, "interrupted").await;
            let words = newest_reply(stored.messages.iter());
            reports.push(interrupted(id, words));
        }
        if reports.is_empty() {
            // A sub-agent is stored before it does anything.
            return Some(not_run(orphan));
        }
        // The result tells of those that would have reported later.
        store.withdraw_delegations(self.session, &orphan.call_id).await.ok()?;
        Some(settled(orphan, IntentState::Failed, said(orphan, recollected(reports, &self.context))))
    }

    /// Returns how a call ended that changes a file. One of another place is looked at there; if that is not possible,
    /// the outcome is unknown.
    async fn changed(&self, orphan: &OrphanIntent, change: &FileChange) -> Option<Settled> {
        let path = change.path.clone();
        let now = match &change.place {
            Some(place) => self.context.far_digest(place, &path).await?,
            None => tokio::task::spawn_blocking(move || digest_of(&path)).await.ok()??,
        };
        match change.was_made(now.as_deref())? {
            true => Some(settled(orphan, IntentState::Done, said(orphan, change.result.clone()))),
            false => Some(not_run(orphan)),
        }
    }

    async fn command(&mut self, orphan: &OrphanIntent) -> Option<Settled> {
        let key = command_key(self.session.as_str(), orphan.id);
        if let Some(started) = self.process(orphan, &key).await {
            return Some(started);
        }
        let found = match self.supervised {
            Some(supervised) => self.outcome(supervised, &key).await,
            None => Ok(Outcome::NoRecord),
        };
        let found =
            found.inspect_err(|error| tracing::warn!(%error, "cannot find a command of the last turn"));
        if !matches!(found, Ok(Outcome::NoRecord) | Err(_)) {
            self.keys.push(key);
        }
        match found {
            Ok(Outcome::Finished(finished)) => Some(self.finished(orphan, finished)),
            Ok(Outcome::NeverStarted) => Some(not_run(orphan)),
            Ok(Outcome::Running(_) | Outcome::Unknown { .. }) => looked(orphan),
            // A command's group is recorded before the command starts; but groups do not survive a reboot.
            Ok(Outcome::NoRecord) if orphan.process.is_none() && orphan.boot == this_boot() => {
                Some(not_run(orphan))
            }
            Ok(Outcome::NoRecord) | Err(_) => {
                end_group(orphan).await;
                looked(orphan)
            }
        }
    }

    /// The end of a call that started a background process; `None` if the call did not.
    async fn process(&self, orphan: &OrphanIntent, key: &Key) -> Option<Settled> {
        let id = id_of(key);
        let row = self.runtime.store().ok()?.process(&id).await.ok()??;
        let peeked = self.supervised?.peek(key).await.ok()?;
        let end = peeked.and_then(|peeked| peeked.end);
        if end.is_some_and(|end| end.how == EndReason::NeverStarted) {
            return Some(not_run(orphan));
        }
        let message = collected_start(orphan.call_id.clone(), &orphan.arguments, &id, row.process.pid);
        Some(settled(orphan, IntentState::Done, message))
    }

    /// Finds a command, and waits for its end if it runs. The user can stop it.
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

/// Returns the checksum of a file; the inner `None` means that the file does not exist, the outer one that it cannot be
/// read.
fn digest_of(path: &Path) -> Option<Option<String>> {
    match std::fs::read(path) {
        Ok(bytes) => Some(Some(FileChange::digest(&bytes))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(None),
        Err(_) => None,
    }
}

/// Ends the processes of a command that ran without the supervisor.
async fn end_group(orphan: &OrphanIntent) {
    if let Some(mark) = orphan.process.clone() {
        reap(&Group { id: mark.group, started: mark.started, boot: mark.boot }).await;
    }
}

/// The end of a call that only reads: it has changed nothing.
fn looked(orphan: &OrphanIntent) -> Option<Settled> {
    let is_read = orphan.effect == Effect::Read.as_str();
    is_read.then(|| settled(orphan, IntentState::Failed, said(orphan, crash_texts().looking)))
}

/// A call of a script, for the result of the script.
fn cut_off(call: StoredInnerCall, ends: &[Settled]) -> CutOffCall {
    let found = ends.iter().find(|end| end.intent == call.id);
    let state = match found.map_or(call.state, |end| end.state) {
        // Nothing was found out about it.
        IntentState::Started => IntentState::Unknown,
        state => state,
    };
    let said = found.map(|end| kept_result(end.message.content.as_text()));
    CutOffCall {
        tool: call.tool,
        arguments: call.arguments,
        state: state.as_str(),
        result: said.or(call.result),
    }
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
