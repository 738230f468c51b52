//! Calls that a script made: the link to the call of the script, and their results after a crash.

use super::transcript::{TurnEntry, insert_intent};
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::rows::counts::{count, stored};
use hermes_conversation::{InnerCall, IntentId, IntentState, Lease, Settled, TurnId};
use rusqlite::{Connection, params};

/// A call that a script made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredInnerCall {
    pub id: IntentId,
    /// Its number within the script, from 1.
    pub number: u64,
    pub tool: String,
    pub arguments: String,
    pub state: IntentState,
    /// The beginning of its result; `None` if its end was not recorded.
    pub result: Option<String>,
}

impl SessionDb {
    /// Returns the calls that the script of this call made, in order.
    pub async fn inner_calls(&self, parent: IntentId) -> Result<Vec<StoredInnerCall>, StoreError> {
        self.read(move |db| of(db, parent).doing("read the calls of a script")).await
    }
}

fn of(db: &Connection, parent: IntentId) -> rusqlite::Result<Vec<StoredInnerCall>> {
    db.prepare_cached(
        "SELECT i.id, c.number, i.tool, i.arguments, i.state, c.result
         FROM hx_inner_calls AS c JOIN hx_intents AS i ON i.id = c.intent
         WHERE c.parent = ?1 ORDER BY c.number, i.id",
    )?
    .query_map([parent.0], |row| {
        Ok(StoredInnerCall {
            id: IntentId(row.get(0)?),
            number: count(row, 1)?,
            tool: row.get(2)?,
            arguments: row.get(3)?,
            state: IntentState::parse(&row.get::<_, String>(4)?).unwrap_or(IntentState::Unknown),
            result: row.get(5)?,
        })
    })?
    .collect()
}

/// Inserts a call with the link to its script.
pub(super) fn begin(
    db: &Connection,
    entry: &TurnEntry,
    lease: &Lease,
    call: &InnerCall,
) -> rusqlite::Result<IntentId> {
    let number = stored(usize::try_from(call.number).unwrap_or(usize::MAX));
    let id =
        insert_intent(db, entry, lease, usize::try_from(call.number).unwrap_or(usize::MAX), &call.intent)?;
    db.prepare_cached("INSERT INTO hx_inner_calls (intent, parent, number) VALUES (?1, ?2, ?3)")?
        .execute(params![id.0, call.parent.0, number])?;
    Ok(id)
}

/// Refuses calls of a script that has not begun, or that has ended.
pub(super) fn require_running(db: &Connection, turn: TurnId, script: IntentId) -> Result<(), StoreError> {
    let runs = db
        .prepare_cached(
            "SELECT 1 FROM hx_intents WHERE id = ?1 AND turn = ?2 AND state = 'started' AND ended_at IS NULL",
        )
        .and_then(|mut find| find.exists(params![script.0, turn.0]))
        .doing("read the call of a script")?;
    if runs {
        return Ok(());
    }
    Err(StoreError::IntentSettled { intent: script })
}

pub(super) fn note_result(db: &Connection, intent: IntentId, result: &str) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE hx_inner_calls SET result = ?2 WHERE intent = ?1")?
        .execute(params![intent.0, result])?;
    Ok(())
}

/// Records how a call of a dead process's script ended. Other calls are not touched.
pub(super) fn settle(db: &Connection, turn: TurnId, end: &Settled, now: f64) -> Result<(), StoreError> {
    db.execute(
        "UPDATE hx_intents SET state = ?2, ended_at = ?3
         WHERE id = ?1 AND turn = ?4 AND ended_at IS NULL AND id IN (SELECT intent FROM hx_inner_calls)",
        params![end.intent.0, end.state.as_str(), now, turn.0],
    )
    .doing("record the end of a call of a script")?;
    Ok(())
}
