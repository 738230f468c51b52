//! Leases: the right of one process to write to a session.
//!
//! Taking a lease raises the session's generation. Every commit names its generation and is refused if it
//! is not the newest, so a process that was wrongly considered dead cannot write.

use super::create::{self, NewSession};
use super::{process, session_end};
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::{Liveness, SessionDb};
use hermes_conversation::{
    CallId, FileChange, IntentId, IntentState, Lease, OpenTurn, Owner, ProcessMark, Quirks, SessionId, TurnId,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// The model that a session uses from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelTarget {
    pub model: String,
    pub provider: String,
    pub base_url: String,
    pub system_prompt: String,
}

/// A lease, and the unfinished work of the last owner.
#[derive(Debug, Clone, PartialEq)]
pub struct Acquired {
    pub lease: Lease,
    /// Unfinished calls of open turns; their processes may still run.
    pub orphans: Vec<OrphanIntent>,
    /// The newest open turn.
    pub open_turn: Option<OpenTurn>,
}

/// An unfinished call whose owner is gone.
#[derive(Debug, Clone, PartialEq)]
pub struct OrphanIntent {
    pub id: IntentId,
    pub call_id: CallId,
    pub tool: String,
    pub arguments: String,
    /// The possible effect, as `Effect::as_str` names it.
    pub effect: String,
    pub state: IntentState,
    pub process: Option<ProcessMark>,
    /// The planned change of a file.
    pub change: Option<FileChange>,
    /// Boot id of the machine when its turn began.
    pub boot: String,
    /// The call of the script that made this one.
    pub parent: Option<IntentId>,
}

impl SessionDb {
    /// Creates the session if necessary and takes its lease.
    pub async fn acquire(&self, session: NewSession, owner: Owner) -> Result<Acquired, StoreError> {
        let (now, is_alive) = (self.now(), self.is_alive);
        self.write(Level::Normal, move |db| {
            create::ensure(db, &session, now).doing("create a session")?;
            take(db, session.id, owner, now, is_alive)
        })
        .await
    }

    /// Takes the lease of an existing session and reopens it if it has ended.
    pub async fn acquire_existing(&self, id: SessionId, owner: Owner) -> Result<Acquired, StoreError> {
        let (now, is_alive) = (self.now(), self.is_alive);
        self.write(Level::Normal, move |db| {
            session_end::reopen(db, &id)?;
            take(db, id, owner, now, is_alive)
        })
        .await
    }

    /// Releases the lease. Does nothing if it was lost.
    pub async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.write(Level::Normal, move |db| release(db, &lease).map(drop)).await
    }

    /// Releases the lease and ends the session in one transaction. Does nothing if another process took the
    /// lease over.
    pub async fn release_ending(&self, lease: &Lease, reason: &str) -> Result<(), StoreError> {
        let (lease, reason, now) = (lease.clone(), reason.to_owned(), self.now());
        self.write(Level::Normal, move |db| {
            if release(db, &lease)? {
                session_end::end(db, &lease.session, &reason, now).doing("end a session")?;
            }
            Ok(())
        })
        .await
    }

    /// Changes the model of the session, with a new system prompt.
    pub async fn retarget(&self, lease: &Lease, target: ModelTarget) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.write(Level::Normal, move |db| {
            fence(db, &lease)?;
            db.execute(
                "UPDATE sessions SET model = ?2, billing_provider = ?3, billing_base_url = ?4,
                 system_prompt = ?5 WHERE id = ?1",
                params![
                    lease.session.as_str(),
                    target.model,
                    target.provider,
                    target.base_url,
                    target.system_prompt
                ],
            )
            .doing("change a session's model")?;
            Ok(())
        })
        .await
    }

    /// Records the working directory of the session.
    pub async fn set_cwd(&self, lease: &Lease, cwd: String) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.write(Level::Normal, move |db| {
            fence(db, &lease)?;
            move_to(db, &lease.session, &cwd)
        })
        .await
    }

    /// Records the quirks of the provider for the rest of the session.
    pub async fn set_quirks(&self, lease: &Lease, quirks: Quirks) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.write(Level::Normal, move |db| {
            fence(db, &lease)?;
            let text = serde_json::to_string(&quirks).unwrap_or_default();
            db.execute(
                "INSERT INTO hx_session_ext (session, quirks) VALUES (?1, ?2)
                 ON CONFLICT DO UPDATE SET quirks = excluded.quirks",
                params![lease.session.as_str(), text],
            )
            .doing("record a session's quirks")?;
            Ok(())
        })
        .await
    }
}

/// Releases the lease; returns false if it was lost.
pub(crate) fn release(db: &Connection, lease: &Lease) -> Result<bool, StoreError> {
    let given = db
        .execute(
            "UPDATE hx_leases SET held = 0 WHERE session = ?1 AND generation = ?2",
            params![lease.session.as_str(), lease.generation],
        )
        .doing("release a lease")?;
    Ok(given == 1)
}

/// Refuses a lease that is not the newest one.
pub(crate) fn fence(db: &Connection, lease: &Lease) -> Result<(), StoreError> {
    let current: Option<(i64, bool)> = db
        .prepare_cached("SELECT generation, held FROM hx_leases WHERE session = ?1")
        .and_then(|mut find| {
            find.query_row([lease.session.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })
        .doing("read a lease")?;
    if current == Some((lease.generation, true)) {
        return Ok(());
    }
    Err(StoreError::Fenced { session: lease.session.clone() })
}

/// Returns the live process that holds the session, if any.
pub(crate) fn holder(
    db: &Connection,
    session: &SessionId,
    is_alive: Liveness,
) -> Result<Option<Owner>, StoreError> {
    let held: Option<Owner> = db
        .query_row(
            "SELECT pid, started, boot FROM hx_leases WHERE session = ?1 AND held = 1",
            [session.as_str()],
            |row| {
                Ok(Owner {
                    pid: row.get(0)?,
                    started: row.get::<_, i64>(1)?.cast_unsigned(),
                    boot: row.get(2)?,
                })
            },
        )
        .optional()
        .doing("read a lease")?;
    Ok(held.filter(is_alive))
}

/// Returns an error if another live process holds the session.
pub(crate) fn require_free(
    db: &Connection,
    session: &SessionId,
    is_alive: Liveness,
) -> Result<(), StoreError> {
    match holder(db, session, is_alive)?.filter(|owner| *owner != process::this_process()) {
        Some(other) => Err(StoreError::Busy { session: session.clone(), pid: other.pid }),
        None => Ok(()),
    }
}

pub(crate) fn take(
    db: &Connection,
    session: SessionId,
    owner: Owner,
    now: f64,
    is_alive: Liveness,
) -> Result<Acquired, StoreError> {
    if let Some(other) = holder(db, &session, is_alive)?.filter(|other| *other != owner) {
        return Err(StoreError::Busy { session, pid: other.pid });
    }
    let generation = db
        .query_row(
            "INSERT INTO hx_leases (session, pid, started, boot, generation, held, taken_at)
             VALUES (?1, ?2, ?3, ?4, 1, 1, ?5)
             ON CONFLICT DO UPDATE SET pid = excluded.pid, started = excluded.started, boot = excluded.boot,
                 generation = generation + 1, held = 1, taken_at = excluded.taken_at
             RETURNING generation",
            params![session.as_str(), owner.pid, owner.started.cast_signed(), owner.boot, now],
            |row| row.get(0),
        )
        .doing("take a lease")?;
    let orphans = orphans(db, &session).doing("find unfinished calls")?;
    let open_turn = newest_open_turn(db, &session).doing("find an unfinished turn")?;
    Ok(Acquired { lease: Lease { session, owner, generation }, orphans, open_turn })
}

pub(crate) fn move_to(db: &Connection, session: &SessionId, cwd: &str) -> Result<(), StoreError> {
    db.execute("UPDATE sessions SET cwd = ?2 WHERE id = ?1", params![session.as_str(), cwd])
        .doing("record a session's working directory")?;
    Ok(())
}

fn orphans(db: &Connection, session: &SessionId) -> rusqlite::Result<Vec<OrphanIntent>> {
    db.prepare_cached(
        "SELECT i.id, i.call_id, i.tool, i.state, i.process_group, i.process_started, i.process_boot,
                i.arguments, i.effect, i.change, t.owner, c.parent
         FROM hx_turns AS t JOIN hx_intents AS i ON i.turn = t.id
         LEFT JOIN hx_inner_calls AS c ON c.intent = i.id
         WHERE t.session = ?1 AND t.state = 'open' AND i.ended_at IS NULL ORDER BY i.id",
    )?
    .query_map([session.as_str()], orphan)?
    .collect()
}

fn orphan(row: &Row<'_>) -> rusqlite::Result<OrphanIntent> {
    let state: String = row.get(3)?;
    let process = match (row.get(4)?, row.get::<_, Option<i64>>(5)?, row.get(6)?) {
        (Some(group), Some(started), Some(boot)) => {
            Some(ProcessMark { group, started: started.cast_unsigned(), boot })
        }
        _ => None,
    };
    let change: Option<String> = row.get(9)?;
    Ok(OrphanIntent {
        id: IntentId(row.get(0)?),
        call_id: CallId::new(row.get::<_, String>(1)?),
        tool: row.get(2)?,
        arguments: row.get(7)?,
        effect: row.get(8)?,
        state: IntentState::parse(&state).unwrap_or(IntentState::Unknown),
        process,
        // An unreadable change counts as none: the outcome is unknown.
        change: change.and_then(|text| serde_json::from_str(&text).ok()),
        boot: row.get::<_, String>(10)?.splitn(3, ':').nth(2).unwrap_or_default().to_owned(),
        parent: row.get::<_, Option<i64>>(11)?.map(IntentId),
    })
}

pub(crate) fn newest_open_turn(db: &Connection, session: &SessionId) -> rusqlite::Result<Option<OpenTurn>> {
    db.query_row(
        "SELECT id FROM hx_turns WHERE session = ?1 AND state = 'open' ORDER BY id DESC LIMIT 1",
        [session.as_str()],
        |row| Ok(OpenTurn { id: TurnId(row.get(0)?), session: session.clone() }),
    )
    .optional()
}
