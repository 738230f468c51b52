//! The outline of a session's system prompt, for display only.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use hermes_conversation::SessionId;
use rusqlite::{OptionalExtension, params};

impl SessionDb {
    /// Records the outline of a session's prompt as JSON. The write is queued at once; awaiting it is
    /// optional.
    pub fn record_prompt_outline(
        &self,
        session: &SessionId,
        outline: String,
    ) -> impl Future<Output = Result<(), StoreError>> + use<> {
        let session = session.clone();
        self.write(Level::Normal, move |db| {
            db.execute(
                "INSERT INTO hx_prompts (session, outline) VALUES (?1, ?2)
                 ON CONFLICT (session) DO UPDATE SET outline = excluded.outline",
                params![session.as_str(), outline],
            )
            .doing("record the outline of a prompt")?;
            Ok(())
        })
    }

    /// Returns the outline of a session's prompt, if recorded.
    pub async fn prompt_outline(&self, session: &SessionId) -> Result<Option<String>, StoreError> {
        let session = session.clone();
        self.read(move |db| {
            db.prepare_cached("SELECT outline FROM hx_prompts WHERE session = ?1")
                .and_then(|mut found| found.query_row([session.as_str()], |row| row.get(0)).optional())
                .doing("read the outline of a prompt")
        })
        .await
    }
}
