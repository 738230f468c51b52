//! Makes sessions.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use hermes_conversation::{CallId, SessionId};
use rusqlite::{Connection, params};
use serde_json::{Map, Value, json};

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
    /// The settings that it was made with, under the names that the Python release gives them.
    pub model_config: Map<String, Value>,
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
             model_config = COALESCE(model_config, excluded.model_config),
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
        model_config(new),
    ])
}

/// The settings, and the marks by which a helper is told from other sessions that have a parent; the first mark
/// is shared with the Python release.
fn model_config(new: &NewSession) -> Option<String> {
    let mut config = new.model_config.clone();
    if let (Some(parent), Some(call)) = (&new.parent, &new.works_for) {
        config.insert("_delegate_from".to_owned(), json!(parent));
        config.insert("_delegate_call".to_owned(), json!(call));
    }
    (!config.is_empty()).then(|| Value::Object(config).to_string())
}
