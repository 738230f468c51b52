//! Continues in a new session instead of an epoch of the same one (`compression.in_place: false`).
//!
//! The old session keeps its messages and ends with the reason `compression`. The new one begins with the
//! epoch's messages and takes over the rest of the conversation: working directory, prompt, quirks, pins,
//! queued mail and the open turn. A crash right after the split is recovered in the new session, because
//! the copies there belong to the turn.

use super::epoch::{self, Epoch};
use super::failures;
use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::listing::titles::{numbered, titles_like};
use crate::sessions::record::{lease, session_end};
use crate::sessions::{SessionDb, StoreError};
use hermes_conversation::{Compaction, Lease, Node, SessionId};
use rusqlite::{Connection, OptionalExtension, params};

impl SessionDb {
    /// Compacts a conversation into the new session `new_id`, in one durable, fenced transaction. Returns its
    /// lease and the numbered summaries; the old lease is released. An open turn moves along and is continued
    /// and closed under the new lease.
    pub async fn split_compacted(
        &self,
        lease: &Lease,
        compaction: &Compaction,
        new_id: &SessionId,
    ) -> Result<(Lease, Vec<Node>), StoreError> {
        let epoch = Epoch::new(compaction);
        let (lease, child, now, is_alive) = (lease.clone(), new_id.clone(), self.now(), self.is_alive);
        // Mail for the old session may steer the turn that moves along.
        self.shared.hints.note(new_id);
        self.write(Level::Full, move |db| {
            lease::fence(db, &lease)?;
            let parent = &lease.session;
            failures::leave(db, parent)?;
            create(db, parent, &child, now)?;
            let nodes = epoch::open_in(db, parent, &child, &epoch, now)?;
            for (sql, doing) in TAKEN_OVER {
                db.execute(sql, params![parent.as_str(), child.as_str()]).doing(doing)?;
            }
            session_end::reopen(db, parent)?;
            session_end::end(db, parent, "compression", now).doing("end a session")?;
            lease::release(db, &lease)?;
            let taken = lease::take(db, child, lease.owner, now, is_alive)?;
            Ok((taken.lease, nodes))
        })
        .await
    }
}

/// Statements that move data from one session (`?1`) to the other (`?2`).
const TAKEN_OVER: [(&str, &str); 9] = [
    (
        "INSERT INTO hx_session_ext (session, quirks, ineffective)
         SELECT ?2, quirks, ineffective FROM hx_session_ext WHERE session = ?1",
        "copy a session's quirks",
    ),
    (
        "INSERT INTO hx_prompts (session, outline) SELECT ?2, outline FROM hx_prompts WHERE session = ?1",
        "copy the outline of a prompt",
    ),
    (
        "INSERT INTO hx_pins (session, number, text, at)
         SELECT ?2, number, text, at FROM hx_pins WHERE session = ?1",
        "copy the pins",
    ),
    (
        "UPDATE hx_mailbox SET session = ?2 WHERE session = ?1 AND state IN ('waiting', 'held')",
        "move the queued mail",
    ),
    ("UPDATE hx_processes SET session = ?2 WHERE session = ?1", "move the processes"),
    ("UPDATE hx_delegations SET session = ?2 WHERE session = ?1", "move the sub-agents"),
    (
        "UPDATE hx_intents SET session = ?2
         WHERE turn IN (SELECT id FROM hx_turns WHERE session = ?1 AND state = 'open')",
        "move the open turn",
    ),
    // Negative at first, because two turns of a session must not have the same number.
    (
        "UPDATE hx_turns SET session = ?2, seq = -id WHERE session = ?1 AND state = 'open'",
        "move the open turn",
    ),
    (
        "UPDATE hx_turns AS t SET seq = (SELECT COUNT(*) FROM hx_turns AS o
             WHERE o.session = ?2 AND o.id <= t.id) WHERE t.session = ?2",
        "move the open turn",
    ),
];

/// Creates the new session with the columns of the old one. Marks of a branch or sub-agent remain on the old
/// session: the new one is its continuation.
fn create(db: &Connection, parent: &SessionId, child: &SessionId, now: f64) -> Result<(), StoreError> {
    let is_taken = db
        .prepare_cached("SELECT 1 FROM sessions WHERE id = ?1")
        .and_then(|mut find| find.exists([child.as_str()]))
        .doing("find a session")?;
    if is_taken {
        return Err(StoreError::SessionExists { session: child.clone() });
    }
    let title = next_title(db, parent).doing("read the titles")?;
    let made = db
        .execute(
            "INSERT INTO sessions (id, parent_session_id, started_at, title, source, user_id, session_key, chat_id,
                 chat_type, thread_id, display_name, origin_json, model, model_config, system_prompt, cwd,
                 git_branch, git_repo_root, billing_provider, billing_base_url, billing_mode, profile_name,
                 compression_failure_cooldown_until, compression_failure_error, compression_fallback_streak)
             SELECT ?2, id, ?3, ?4, source, user_id, session_key, chat_id, chat_type, thread_id, display_name,
                 origin_json, model,
                 CASE WHEN json_valid(model_config)
                      THEN json_remove(model_config, '$._branched_from', '$._delegate_from', '$._delegate_call')
                 END,
                 system_prompt, cwd, git_branch, git_repo_root, billing_provider, billing_base_url, billing_mode,
                 profile_name, compression_failure_cooldown_until, compression_failure_error,
                 compression_fallback_streak
             FROM sessions WHERE id = ?1",
            params![parent.as_str(), child.as_str(), now, title],
        )
        .doing("create a session")?;
    match made {
        0 => Err(StoreError::UnknownSession { wanted: parent.to_string() }),
        _ => Ok(()),
    }
}

/// Returns `Name #2` after `Name`, or `None` for a session without a title.
fn next_title(db: &Connection, parent: &SessionId) -> rusqlite::Result<Option<String>> {
    let title: Option<Option<String>> = db
        .prepare_cached("SELECT title FROM sessions WHERE id = ?1")?
        .query_row([parent.as_str()], |row| row.get(0))
        .optional()?;
    let Some(title) = title.flatten() else { return Ok(None) };
    let base = numbered(&title).0;
    let highest = titles_like(db, base)?.iter().map(|(_, title)| numbered(title).1).max();
    Ok(Some(format!("{base} #{}", highest.unwrap_or(1).saturating_add(1))))
}
