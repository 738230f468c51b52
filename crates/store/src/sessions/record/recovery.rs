//! Crash recovery: closes the turns that a dead process left open.
//!
//! The caller first kills the processes of the dead one. Then every call gets exactly one result, the history
//! ends with an assistant message, and the turn is closed, in one transaction.

use super::append::{self, Place};
use super::{inner_calls, lease, mailbox};
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use crate::sessions::rows::{decode, encode};
use hermes_conversation::{
    AssistantMessage, Disposition, IntentId, IntentState, Lease, SessionId, Settled, ToolCall, ToolMessage,
    TurnId,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::sessions::reading::turn_trace::KILLED as EXIT_REASON;

/// Texts for interrupted work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryTexts {
    /// The result of a call that was started, or may have been.
    pub unknown: String,
    /// The result of a call that was never started.
    pub not_started: String,
    /// The assistant message that closes the turn.
    pub closing: String,
}

/// The result of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovery {
    /// Number of turns closed.
    pub turns: usize,
    /// Number of calls whose real result was found.
    pub collected: usize,
    pub unknown: usize,
    pub not_started: usize,
}

impl SessionDb {
    /// Closes the session's open turns, if any. `ends` are the calls with a known result, those of scripts among them;
    /// the others are answered from their intents.
    pub async fn recover(
        &self,
        lease: &Lease,
        texts: RecoveryTexts,
        ends: Vec<Settled>,
    ) -> Result<Recovery, StoreError> {
        let (lease, now) = (lease.clone(), self.now());
        self.write(Level::Full, move |db| {
            lease::fence(db, &lease)?;
            recover(db, &lease.session, &texts, &ends, now)
        })
        .await
    }
}

fn recover(
    db: &Connection,
    session: &SessionId,
    texts: &RecoveryTexts,
    ends: &[Settled],
    now: f64,
) -> Result<Recovery, StoreError> {
    let turns = open_turns(db, session).doing("find unfinished turns")?;
    let mut found = Recovery { turns: turns.len(), ..Recovery::default() };
    for &turn in &turns {
        let place = Place { session, turn: Some(turn), at: now };
        for call in unanswered(db, session, turn).doing("find unfinished calls")? {
            let intent = intent(db, turn, &call).doing("read an unfinished call")?;
            let end = ends.iter().find(|end| Some(end.intent) == intent.as_ref().map(|(id, _)| *id));
            if let Some(end) = end {
                collect(db, place, end, now)?;
                match end.message.disposition {
                    Some(Disposition::None) => found.not_started += 1,
                    Some(Disposition::Unknown) | None => found.collected += 1,
                }
                continue;
            }
            match answer(db, place, intent.map(|(_, state)| state), &call, texts)? {
                Disposition::Unknown => found.unknown += 1,
                Disposition::None => found.not_started += 1,
            }
        }
        for end in ends {
            inner_calls::settle(db, turn, end, now)?;
        }
        close(db, turn, now).doing("close an unfinished turn")?;
    }
    if let Some(&turn) = turns.last() {
        let closing = AssistantMessage { text: texts.closing.clone(), ..AssistantMessage::default() };
        let place = Place { session, turn: Some(turn), at: now };
        append::message(db, place, &encode::assistant(&closing))?;
        mailbox::queue_steering(db, session).doing("queue undelivered steering mail")?;
    }
    Ok(found)
}

fn answer(
    db: &Connection,
    place: Place<'_>,
    state: Option<IntentState>,
    call: &ToolCall,
    texts: &RecoveryTexts,
) -> Result<Disposition, StoreError> {
    let disposition_of = disposition_of(state);
    let text = match disposition_of {
        Disposition::Unknown => &texts.unknown,
        Disposition::None => &texts.not_started,
    };
    let result =
        ToolMessage::new(call.id.clone(), call.name.clone(), text.clone()).with_disposition(disposition_of);
    append::message(db, place, &encode::tool(&result))?;
    Ok(disposition_of)
}

/// Records the real result of a call.
fn collect(db: &Connection, place: Place<'_>, end: &Settled, now: f64) -> Result<(), StoreError> {
    append::message(db, place, &encode::tool(&end.message))?;
    db.execute(
        "UPDATE hx_intents SET state = ?2, ended_at = ?3 WHERE id = ?1",
        params![end.intent.0, end.state.as_str(), now],
    )
    .doing("record the end of a call")?;
    Ok(())
}

fn open_turns(db: &Connection, session: &SessionId) -> rusqlite::Result<Vec<TurnId>> {
    db.prepare_cached("SELECT id FROM hx_turns WHERE session = ?1 AND state = 'open' ORDER BY id")?
        .query_map([session.as_str()], |row| Ok(TurnId(row.get(0)?)))?
        .collect()
}

/// Returns the calls without result of the turn's newest assistant message.
fn unanswered(db: &Connection, session: &SessionId, turn: TurnId) -> rusqlite::Result<Vec<ToolCall>> {
    let newest: Option<(i64, Option<String>)> = db
        .query_row(
            "SELECT m.id, m.tool_calls FROM hx_message_ext AS x JOIN messages AS m ON m.id = x.message_id
             WHERE x.session = ?1 AND x.turn = ?2 AND m.role = 'assistant' AND m.active = 1
             ORDER BY m.id DESC LIMIT 1",
            params![session.as_str(), turn.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    let Some((message, Some(stored))) = newest else {
        return Ok(Vec::new());
    };
    let answered: Vec<String> = db
        .prepare_cached(
            "SELECT tool_call_id FROM messages
             WHERE session_id = ?1 AND id > ?2 AND role = 'tool' AND tool_call_id IS NOT NULL",
        )?
        .query_map(params![session.as_str(), message], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut calls = decode::calls(&stored);
    calls.retain(|call| !answered.iter().any(|id| id == call.id.as_str()));
    Ok(calls)
}

/// Returns the intent of a call and its state.
fn intent(
    db: &Connection,
    turn: TurnId,
    call: &ToolCall,
) -> rusqlite::Result<Option<(IntentId, IntentState)>> {
    db.query_row(
        "SELECT id, state FROM hx_intents WHERE turn = ?1 AND call_id = ?2 ORDER BY id DESC LIMIT 1",
        params![turn.0, call.id.as_str()],
        |row| {
            let state: String = row.get(1)?;
            Ok((IntentId(row.get(0)?), IntentState::parse(&state).unwrap_or(IntentState::Unknown)))
        },
    )
    .optional()
}

/// Returns the disposition of a call from the state of its intent; unknown without one.
fn disposition_of(state: Option<IntentState>) -> Disposition {
    match state {
        Some(IntentState::Planned | IntentState::Refused) => Disposition::None,
        Some(IntentState::Started | IntentState::Done | IntentState::Failed | IntentState::Unknown)
        | None => Disposition::Unknown,
    }
}

fn close(db: &Connection, turn: TurnId, now: f64) -> rusqlite::Result<()> {
    db.execute(
        "UPDATE hx_intents SET ended_at = ?2,
             state = CASE state WHEN 'started' THEN 'unknown' WHEN 'planned' THEN 'refused' ELSE state END
         WHERE turn = ?1 AND ended_at IS NULL",
        params![turn.0, now],
    )?;
    db.execute(
        "UPDATE hx_turns SET state = 'closed', exit_reason = ?2, ended_at = ?3 WHERE id = ?1",
        params![turn.0, EXIT_REASON, now],
    )?;
    Ok(())
}
