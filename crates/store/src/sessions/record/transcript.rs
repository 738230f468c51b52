//! The record of a turn: each method is one transaction under the session's lease.
//!
//! Messages are encoded before they are queued, so that the writer thread only inserts.

use super::append::{self, Place};
use super::lease::{fence, move_to};
use super::observations::{self, CallSpan, ToolTimes};
use super::{inner_calls, mailbox};
use crate::error::Doing;
use crate::sessions::compaction::epoch::{self, Epoch};
use crate::sessions::compaction::failures;
use crate::sessions::connection::writer::Level;
use crate::sessions::costs::call_costs;
use crate::sessions::rows::counts::stored;
use crate::sessions::rows::encode::{self, Columns};
use crate::sessions::{SessionDb, StoreError};
use hermes_conversation::{
    AssistantMessage, BoxFuture, Closing, Compaction, Decided, FileChange, InnerCall, InnerEnd, Intent,
    IntentId, IntentState, Lease, Message, MessageId, Node, OpenTurn, Opening, Permits, ProcessMark,
    RecordError, SessionId, Settlement, SpentCall, StartPermit, TraceSpan, Transcript, TurnId,
};
use rusqlite::{Connection, params};

impl Transcript for SessionDb {
    fn open_turn<'a>(
        &'a self,
        lease: &'a Lease,
        opening: Opening,
    ) -> BoxFuture<'a, Result<OpenTurn, RecordError>> {
        let columns = encode::user(&opening.message);
        let now = self.now();
        self.record(lease, move |db, lease| {
            let turn = insert_turn(db, lease, now).doing("open a turn")?;
            let said = opening.at.unwrap_or(now);
            let place = Place { session: &lease.session, turn: Some(turn), at: said };
            let message = append::message(db, place, &columns)?;
            mailbox::deliver(db, &lease.session, &opening.mail, turn, Some(message), now)?;
            Ok(OpenTurn { id: turn, session: lease.session.clone() })
        })
    }

    fn annotate<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        sent: &'a str,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let (turn, sent) = (turn.id, sent.to_owned());
        self.record(lease, move |db, lease| {
            // The prompt is the newest message: the turn has no other yet.
            db.prepare_cached(
                "UPDATE messages SET api_content = ?3 WHERE role = 'user' AND id =
                   (SELECT message_id FROM (SELECT message_id, turn FROM hx_message_ext WHERE session = ?1
                      ORDER BY seq DESC LIMIT 1) WHERE turn = ?2)",
            )
            .and_then(|mut note| note.execute(params![lease.session.as_str(), turn.0, sent]))
            .doing("annotate the prompt")?;
            Ok(())
        })
    }

    fn plan<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        reply: &'a AssistantMessage,
        spent: Option<&'a SpentCall>,
        intents: &'a [Intent],
    ) -> BoxFuture<'a, Result<Permits, RecordError>> {
        let columns = encode::assistant(reply);
        let entry = self.entry(turn, vec![columns], spent);
        let (intents, hints) = (intents.to_vec(), self.shared.hints.clone());
        self.record(lease, move |db, lease| {
            entry.write(db, lease)?;
            if mailbox::may_steer(db, &lease.session).doing("read the mailbox")? {
                hints.note(&lease.session);
            }
            let mut permits = Permits::default();
            for (n, intent) in intents.iter().enumerate() {
                let id = insert_intent(db, &entry, lease, n, intent).doing("record a call")?;
                permits.ids.push(id);
                let started = intent.state == IntentState::Started;
                permits.started.push(started.then(|| StartPermit::issue(id)));
            }
            Ok(permits)
        })
    }

    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        settlement: Settlement,
    ) -> BoxFuture<'a, Result<Vec<StartPermit>, RecordError>> {
        let results = settlement.results.iter().map(|settled| encode::tool(&settled.message)).collect();
        let entry = self.entry(turn, results, None);
        let ran = self.shared.observed.tools(settlement.results.iter().map(|settled| settled.intent));
        self.record(lease, move |db, lease| {
            let last = entry.write(db, lease)?;
            mailbox::deliver(db, &lease.session, &settlement.mail, entry.turn, last, entry.at)?;
            for (settled, times) in settlement.results.iter().zip(&ran) {
                end_intent(db, &entry, settled.intent, settled.state, *times)?;
            }
            for decided in &settlement.decided {
                decide(db, &entry, lease, decided).doing("record a decision")?;
            }
            if let Some(cwd) = &settlement.cwd {
                move_to(db, &lease.session, &cwd.to_string_lossy())?;
            }
            let starts = settlement.start.iter();
            starts
                .map(|&intent| start_intent(db, &entry, intent).map(|()| StartPermit::issue(intent)))
                .collect()
        })
    }

    fn extend<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        messages: &'a [Message],
        spent: Option<&'a SpentCall>,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let entry = self.entry(turn, messages.iter().map(encode::columns).collect(), spent);
        self.record(lease, move |db, lease| entry.write(db, lease).map(drop))
    }

    fn lock_compaction<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<bool, RecordError>> {
        let now = self.now();
        self.record(lease, move |db, lease| failures::hold(db, &lease.session, now))
    }

    fn unlock_compaction<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), RecordError>> {
        self.record(lease, |db, lease| failures::leave(db, &lease.session))
    }

    fn compact<'a>(
        &'a self,
        lease: &'a Lease,
        turn: Option<&'a OpenTurn>,
        compaction: &'a Compaction,
    ) -> BoxFuture<'a, Result<Vec<Node>, RecordError>> {
        let (epoch, turn, now) = (Epoch::new(compaction), turn.map(|turn| turn.id), self.now());
        self.record(lease, move |db, lease| {
            if let Some(turn) = turn {
                require_open(db, &lease.session, turn)?;
            }
            failures::leave(db, &lease.session)?;
            epoch::open(db, &lease.session, &epoch, now)
        })
    }

    fn begin_inner<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        call: InnerCall,
    ) -> BoxFuture<'a, Result<(IntentId, Option<StartPermit>), RecordError>> {
        let entry = self.entry(turn, Vec::new(), None);
        self.record(lease, move |db, lease| {
            entry.write(db, lease)?;
            inner_calls::require_running(db, entry.turn, call.parent)?;
            let id = inner_calls::begin(db, &entry, lease, &call).doing("record a call of a script")?;
            if let Some(decided) = call.decided {
                decide(db, &entry, lease, &Decided { intent: id, ..decided }).doing("record a decision")?;
            }
            let is_started = call.intent.state == IntentState::Started;
            Ok((id, is_started.then(|| StartPermit::issue(id))))
        })
    }

    fn end_inner<'a>(
        &'a self,
        lease: &'a Lease,
        turn: &'a OpenTurn,
        end: InnerEnd,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let entry = self.entry(turn, Vec::new(), None);
        let ran = self.shared.observed.tools(std::iter::once(end.intent)).pop().flatten();
        self.record(lease, move |db, lease| {
            entry.write(db, lease)?;
            end_intent(db, &entry, end.intent, end.state, ran)?;
            inner_calls::note_result(db, end.intent, &end.result)
                .doing("record the end of a call of a script")
        })
    }

    fn note_process<'a>(
        &'a self,
        intent: IntentId,
        mark: &'a ProcessMark,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let mark = mark.clone();
        let written = self.write(Level::Normal, move |db| {
            db.prepare_cached(
                "UPDATE hx_intents SET process_group = ?2, process_started = ?3, process_boot = ?4 WHERE id = ?1",
            )
            .and_then(|mut note| {
                note.execute(params![intent.0, mark.group, mark.started.cast_signed(), mark.boot])
            })
            .doing("record a process")?;
            Ok(())
        });
        Box::pin(async move { Ok(written.await?) })
    }

    fn note_change<'a>(
        &'a self,
        intent: IntentId,
        change: &'a FileChange,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let text =
            serde_json::to_string(change).map_err(|error| RecordError::Store { cause: error.to_string() });
        Box::pin(async move {
            let text = text?;
            let written = self.write(Level::Normal, move |db| {
                db.prepare_cached("UPDATE hx_intents SET change = ?2 WHERE id = ?1")
                    .and_then(|mut note| note.execute(params![intent.0, text]))
                    .doing("record a change of a file")?;
                Ok(())
            });
            Ok(written.await?)
        })
    }

    fn close<'a>(
        &'a self,
        lease: &'a Lease,
        turn: OpenTurn,
        closing: Closing,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let last = closing.message.iter().map(encode::assistant).collect();
        let entry = self.entry(&turn, last, closing.spent.as_ref());
        self.record(lease, move |db, lease| {
            entry.write(db, lease)?;
            db.prepare_cached(
                "UPDATE hx_turns SET state = 'closed', exit_reason = ?2, ended_at = ?3 WHERE id = ?1",
            )
            .and_then(|mut end| end.execute(params![turn.id.0, closing.exit_reason, entry.at]))
            .doing("close a turn")?;
            mailbox::queue_steering(db, &lease.session).doing("queue undelivered steering mail")?;
            Ok(())
        })
    }

    fn note_span(&self, span: TraceSpan) {
        self.note(span);
    }
}

impl SessionDb {
    /// Queues one durable, fenced transaction.
    fn record<'a, T, F>(&self, lease: &Lease, work: F) -> BoxFuture<'a, Result<T, RecordError>>
    where
        T: Send + 'static,
        F: FnOnce(&Connection, &Lease) -> Result<T, StoreError> + Send + 'static,
    {
        let lease = lease.clone();
        let written = self.write(Level::Full, move |db| {
            fence(db, &lease)?;
            work(db, &lease)
        });
        Box::pin(async move { Ok(written.await?) })
    }

    fn entry(&self, turn: &OpenTurn, messages: Vec<Columns>, spent: Option<&SpentCall>) -> TurnEntry {
        let calls = self.shared.observed.calls(turn.id);
        TurnEntry { turn: turn.id, messages, spent: spent.cloned(), calls, at: self.now() }
    }
}

/// Messages and costs to add to an open turn.
pub(super) struct TurnEntry {
    turn: TurnId,
    messages: Vec<Columns>,
    spent: Option<SpentCall>,
    /// Model calls that have ended since the last entry.
    calls: Vec<CallSpan>,
    at: f64,
}

impl TurnEntry {
    /// Writes the entry and returns the last message.
    fn write(&self, db: &Connection, lease: &Lease) -> Result<Option<MessageId>, StoreError> {
        require_open(db, &lease.session, self.turn)?;
        let place = Place { session: &lease.session, turn: Some(self.turn), at: self.at };
        let mut last = None;
        for columns in &self.messages {
            last = Some(append::message(db, place, columns)?);
        }
        for call in &self.calls {
            observations::insert(db, self.turn, call)?;
        }
        if let Some(spent) = &self.spent {
            call_costs::count(db, lease.session.as_str(), spent, self.at)?;
        }
        Ok(last)
    }
}

fn require_open(db: &Connection, session: &SessionId, turn: TurnId) -> Result<(), StoreError> {
    let open = db
        .prepare_cached("SELECT 1 FROM hx_turns WHERE id = ?1 AND session = ?2 AND state = 'open'")
        .and_then(|mut find| find.exists(params![turn.0, session.as_str()]))
        .doing("read a turn")?;
    if open {
        return Ok(());
    }
    Err(StoreError::TurnNotOpen { turn, session: session.clone() })
}

fn insert_turn(db: &Connection, lease: &Lease, now: f64) -> rusqlite::Result<TurnId> {
    let owner = &lease.owner;
    db.prepare_cached(
        "INSERT INTO hx_turns (session, seq, state, owner, generation, started_at)
         VALUES (?1, (SELECT COALESCE(MAX(seq), 0) + 1 FROM hx_turns WHERE session = ?1), 'open', ?2, ?3, ?4)",
    )?
    .execute(params![
        lease.session.as_str(),
        format!("{}:{}:{}", owner.pid, owner.started, owner.boot),
        lease.generation,
        now,
    ])?;
    Ok(TurnId(db.last_insert_rowid()))
}

pub(super) fn insert_intent(
    db: &Connection,
    entry: &TurnEntry,
    lease: &Lease,
    n: usize,
    intent: &Intent,
) -> rusqlite::Result<IntentId> {
    let started_at = (intent.state == IntentState::Started).then_some(entry.at);
    db.prepare_cached(
        "INSERT INTO hx_intents (turn, n, session, tool, call_id, arguments, args_hash, effect, decision,
                                 state, created_at, started_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        entry.turn.0,
        stored(n),
        lease.session.as_str(),
        intent.tool,
        intent.call_id.as_str(),
        intent.arguments,
        args_hash(&intent.tool, &intent.arguments),
        intent.effect.as_str(),
        intent.decision,
        intent.state.as_str(),
        entry.at,
        started_at,
    ])?;
    Ok(IntentId(db.last_insert_rowid()))
}

/// Ends a call. A second end is an error: it would be a second result in the history.
fn end_intent(
    db: &Connection,
    entry: &TurnEntry,
    intent: IntentId,
    state: IntentState,
    ran: Option<ToolTimes>,
) -> Result<(), StoreError> {
    // Calls that ran in parallel have their own times; the commit has only one.
    let (started_at, ended_at) = (ran.map(|ran| ran.started_at), ran.map_or(entry.at, |ran| ran.ended_at));
    let ended = db
        .prepare_cached(
            "UPDATE hx_intents SET state = ?3, ended_at = ?4, started_at = COALESCE(?5, started_at)
             WHERE id = ?1 AND turn = ?2 AND ended_at IS NULL",
        )
        .and_then(|mut end| {
            end.execute(params![intent.0, entry.turn.0, state.as_str(), ended_at, started_at])
        })
        .doing("record the end of a call")?;
    if ended == 1 {
        return Ok(());
    }
    Err(StoreError::IntentSettled { intent })
}

/// Starts a call, at most once and only from the state `planned`.
fn start_intent(db: &Connection, entry: &TurnEntry, intent: IntentId) -> Result<(), StoreError> {
    let started = db
        .prepare_cached(
            "UPDATE hx_intents SET state = 'started', started_at = ?3
             WHERE id = ?1 AND turn = ?2 AND state = 'planned'",
        )
        .and_then(|mut start| start.execute(params![intent.0, entry.turn.0, entry.at]))
        .doing("record the start of a call")?;
    if started == 1 {
        return Ok(());
    }
    Err(StoreError::IntentNotPlanned { intent })
}

fn decide(db: &Connection, entry: &TurnEntry, lease: &Lease, decided: &Decided) -> rusqlite::Result<usize> {
    db.prepare_cached("UPDATE hx_intents SET decision = ?3 WHERE id = ?1 AND turn = ?2")?
        .execute(params![decided.intent.0, entry.turn.0, decided.decision])?;
    db.prepare_cached(
        "INSERT OR REPLACE INTO hx_decisions (intent, session, at, decision, decided_by, scope, rules, asked)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        decided.intent.0,
        lease.session.as_str(),
        entry.at,
        decided.decision,
        decided.by,
        decided.scope,
        decided.rules.join("\n"),
        decided.was_asked,
    ])
}

/// Returns a hash of tool and arguments (FNV-1a), for a quick comparison of calls. It is not
/// cryptographic; the arguments are stored, too.
fn args_hash(tool: &str, arguments: &str) -> String {
    let bytes = tool.bytes().chain([0]).chain(arguments.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
