//! Copies the chat of each session from the gateway's file, where it was kept before version 18.

use super::steps::OldFile;
use rusqlite::{Result, params};
use serde_json::{Map, Value};

/// Fills empty columns. The file may be missing, outdated or damaged: the gateway works without it, so this
/// must not prevent the upgrade.
pub(super) fn back_fill(old: &OldFile<'_>) -> Result<()> {
    if old.version >= 18 {
        return Ok(());
    }
    let Ok(text) = std::fs::read(old.home.join("sessions/sessions.json")) else { return Ok(()) };
    let Ok(entries) = serde_json::from_slice::<Map<String, Value>>(&text) else {
        tracing::warn!("cannot read sessions.json; its chats are not copied");
        return Ok(());
    };
    let chats = entries.iter().filter(|(key, _)| !key.starts_with('_'));
    for (key, entry) in chats.filter_map(|(key, entry)| Some((key, entry.as_object()?))) {
        copy(old, key, entry)?;
    }
    Ok(())
}

fn copy(old: &OldFile<'_>, key: &str, entry: &Map<String, Value>) -> Result<()> {
    let Some(session) = text(entry.get("session_id")) else { return Ok(()) };
    let origin = entry.get("origin").filter(|origin| origin.is_object());
    let of_origin = |name| origin.and_then(|origin| text(origin.get(name)));
    let is_set = |name| entry.get(name).is_some_and(|flag| flag.as_bool() == Some(true));
    old.db
        .prepare_cached(
            "UPDATE sessions SET session_key = COALESCE(session_key, ?2), chat_id = COALESCE(chat_id, ?3),
                 chat_type = COALESCE(chat_type, ?4), thread_id = COALESCE(thread_id, ?5),
                 display_name = COALESCE(display_name, ?6), origin_json = COALESCE(origin_json, ?7),
                 expiry_finalized = MAX(COALESCE(expiry_finalized, 0), ?8)
             WHERE id = ?1",
        )?
        .execute(params![
            session,
            text(entry.get("session_key")).unwrap_or_else(|| key.to_owned()),
            of_origin("chat_id"),
            text(entry.get("chat_type")),
            of_origin("thread_id"),
            text(entry.get("display_name")),
            origin.map(Value::to_string),
            is_set("expiry_finalized") || is_set("memory_flushed"),
        ])?;
    Ok(())
}

/// Returns an id as text; some platforms use numbers.
fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
