//! Creates sessions.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use hermes_conversation::{CallId, SessionId};
use rusqlite::{Connection, params};
use serde_json::{Map, Value, json};

/// The data of a session that may not exist yet.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    pub id: SessionId,
    /// The front end that opened it: `cli`, `tui`, `cron`, a platform.
    pub source: String,
    pub model: String,
    pub provider: String,
    pub base_url: String,
    /// Frozen for the life of the session.
    pub system_prompt: String,
    pub cwd: Option<String>,
    pub parent: Option<SessionId>,
    /// The tool call of the parent that started it, if it is a sub-agent.
    pub delegating_call: Option<CallId>,
    /// Settings of the model, with the Python release's names.
    pub model_config: Map<String, Value>,
}

impl SessionDb {
    /// Creates the session without taking its lease. An existing one keeps its values; missing ones are
    /// filled in.
    pub async fn ensure(&self, session: NewSession) -> Result<(), StoreError> {
        let now = self.now();
        self.write(Level::Normal, move |db| ensure(db, &session, now).map(drop).doing("create a session"))
            .await
    }
}

/// Inserts the session. An existing one keeps its values; missing ones are filled in.
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

/// Returns the settings with the marks of a sub-agent, which distinguish it from other sessions with a
/// parent. The first mark is shared with the Python release.
fn model_config(new: &NewSession) -> Option<String> {
    let mut config = new.model_config.clone();
    if let (Some(parent), Some(call)) = (&new.parent, &new.delegating_call) {
        config.insert("_delegate_from".to_owned(), json!(parent));
        config.insert("_delegate_call".to_owned(), json!(call));
    }
    (!config.is_empty()).then(|| Value::Object(config).to_string())
}
