//! Makes sessions.

use super::SessionDb;
use super::writer::Level;
use crate::StoreError;
use crate::error::Doing;
use hermes_conversation::{CallId, SessionId};
use rusqlite::{Connection, params};

/// A session that may not exist yet.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    pub id: SessionId,
    /// Where it was opened: `cli`, `tui`, `cron`, a platform.
    pub source: String,
    pub model: String,
    pub provider: String,
    pub base_url: String,
    /// Frozen for the life of the session.
    pub system_prompt: String,
    pub cwd: Option<String>,
    pub parent: Option<SessionId>,
    /// The call of the parent that it works for, if it is a helper.
    pub works_for: Option<CallId>,
}

impl SessionDb {
    /// Makes the session if there is none, without taking its lease. One that is there keeps what
    /// it has and gains what it lacks.
    pub async fn ensure(&self, session: NewSession) -> Result<(), StoreError> {
        let now = self.now();
        self.write(Level::Normal, move |db| ensure(db, &session, now).map(drop).doing("create a session"))
            .await
    }
}

/// Adds the session; one that is there keeps what it has and gains what it lacks.
pub(crate) fn ensure(db: &Connection, new: &NewSession, now: f64) -> rusqlite::Result<usize> {
    db.prepare_cached(
        "INSERT INTO sessions (id, source, model, system_prompt, parent_session_id, started_at, cwd,
                               billing_provider, billing_base_url, model_config)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (id) DO UPDATE SET
             model = COALESCE(model, excluded.model),
             system_prompt = COALESCE(system_prompt, excluded.system_prompt),
             parent_session_id = COALESCE(parent_session_id, excluded.parent_session_id),
             cwd = COALESCE(cwd, excluded.cwd),
             billing_provider = COALESCE(billing_provider, excluded.billing_provider),
             billing_base_url = COALESCE(billing_base_url, excluded.billing_base_url)",
    )?
    .execute(params![
        new.id.as_str(),
        new.source,
        new.model,
        new.system_prompt,
        new.parent.as_ref().map(SessionId::as_str),
        now,
        new.cwd,
        new.provider,
        new.base_url,
        helper_marks(new),
    ])
}

/// How a helper is told from other sessions that have a parent; the first mark is shared with the Python
/// release.
fn helper_marks(new: &NewSession) -> Option<String> {
    let (parent, call) = (new.parent.as_ref()?, new.works_for.as_ref()?);
    Some(serde_json::json!({ "_delegate_from": parent, "_delegate_call": call }).to_string())
}
