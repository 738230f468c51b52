//! Parts of an imported session that are not used until the user trusts them.
//!
//! An imported file is data. Its messages are history, but its system prompt gives instructions, its queued
//! mail would be sent as the user's prompts, and its working directory selects the project files that are
//! read. They stay unused until [`SessionDb::trust_import`]; [`SessionDb::settle_import`] continues without
//! them.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use crate::sessions::record::lease::fence;
use hermes_conversation::{Lease, SessionId};
use rusqlite::{Connection, OptionalExtension};

/// The parts of an imported session that a resume does not use without the user's approval.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportedParts {
    pub system_prompt: Option<String>,
    pub cwd: Option<String>,
    /// Settings of the model and its tools, as JSON.
    pub settings: Option<String>,
    /// Queued mail, which would be sent as the user's prompts.
    pub mail: Vec<String>,
}

impl ImportedParts {
    /// Returns true if nothing needs approval.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl SessionDb {
    /// Returns the parts of a session that need approval; `None` for a session that was not imported or is
    /// already trusted.
    pub async fn imported_parts(&self, id: &SessionId) -> Result<Option<ImportedParts>, StoreError> {
        let id = id.clone();
        let found = self.read(move |db| parts(db, &id).doing("read an imported session")).await?;
        Ok(found.filter(|parts| !parts.is_empty()))
    }

    /// Records that the user trusts all parts of the session.
    pub async fn trust_import(&self, id: &SessionId) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(Level::Full, move |db| {
            db.execute(
                "UPDATE hx_mailbox SET state = 'waiting' WHERE session = ?1 AND state = 'held'",
                [id.as_str()],
            )
            .and_then(|_| unmark(db, &id))
            .doing("trust an imported session")
        })
        .await
    }

    /// Records that the session continues with a prompt and working directory of this home. Its mail stays
    /// held.
    pub async fn settle_import(&self, lease: &Lease) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.write(Level::Full, move |db| {
            fence(db, &lease)?;
            unmark(db, &lease.session).doing("settle an imported session")
        })
        .await
    }
}

/// Marks a session as imported.
pub(super) fn mark(db: &Connection, session: &str) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO hx_session_ext (session, imported) VALUES (?1, 1)
         ON CONFLICT DO UPDATE SET imported = 1",
    )?
    .execute([session])?;
    Ok(())
}

fn unmark(db: &Connection, session: &SessionId) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE hx_session_ext SET imported = 0 WHERE session = ?1")?
        .execute([session.as_str()])?;
    Ok(())
}

fn parts(db: &Connection, id: &SessionId) -> rusqlite::Result<Option<ImportedParts>> {
    let mail: Vec<String> = db
        .prepare_cached("SELECT text FROM hx_mailbox WHERE session = ?1 AND state = 'held' ORDER BY id")?
        .query_map([id.as_str()], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let brought = db
        .prepare_cached(
            "SELECT s.system_prompt, s.cwd, s.model_config FROM sessions AS s
             JOIN hx_session_ext AS x ON x.session = s.id WHERE s.id = ?1 AND x.imported = 1",
        )?
        .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(match brought {
        Some((system_prompt, cwd, settings)) => Some(ImportedParts { system_prompt, cwd, settings, mail }),
        None => (!mail.is_empty()).then(|| ImportedParts { mail, ..ImportedParts::default() }),
    })
}
