//! Session titles: sanitised, short and unique.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::SessionDb;
use crate::sessions::connection::writer::Level;
use hermes_conversation::SessionId;
use rusqlite::{Connection, OptionalExtension, params};

/// Maximum characters of a title.
pub const MAX_TITLE: usize = 100;

/// Removes invisible characters and redundant space from a title; `None` if nothing is left.
pub fn sanitize_title(title: &str) -> Result<Option<String>, StoreError> {
    let visible: String = title.chars().filter(|&c| !is_invisible(c)).collect();
    let words: Vec<_> = visible.split_whitespace().collect();
    let clean = words.join(" ");
    match clean.chars().count() {
        0 => Ok(None),
        length if length > MAX_TITLE => Err(StoreError::TitleTooLong { length, limit: MAX_TITLE }),
        _ => Ok(Some(clean)),
    }
}

/// Returns true for control characters, invisible characters and direction marks.
fn is_invisible(c: char) -> bool {
    (c.is_control() && !c.is_whitespace())
        || matches!(c, '\u{061c}' | '\u{180e}' | '\u{feff}' | '\u{fff9}'..='\u{fffc}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
}

/// Splits `base #N` into base and N; 1 for a title without a number.
pub(crate) fn numbered(title: &str) -> (&str, u64) {
    title
        .rsplit_once(" #")
        .and_then(|(base, number)| {
            let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            Some((base, number.parse().ok().filter(|_| digits)?))
        })
        .unwrap_or((title, 1))
}

impl SessionDb {
    /// Sets the title of a session, or removes it if nothing visible is left. Returns the stored title.
    pub async fn set_title(&self, id: &SessionId, title: &str) -> Result<Option<String>, StoreError> {
        let title = sanitize_title(title)?;
        let id = id.clone();
        self.write(Level::Normal, move |db| {
            set(db, &id, title.as_deref())?;
            Ok(title)
        })
        .await
    }

    /// Sets the title of a session without one; returns true if it did. For automatic titles, which never
    /// overwrite the user's.
    pub async fn set_title_if_none(&self, id: &SessionId, title: &str) -> Result<bool, StoreError> {
        let Some(title) = sanitize_title(title)? else { return Ok(false) };
        let id = id.clone();
        self.write(Level::Normal, move |db| {
            let is_untitled = db
                .prepare_cached("SELECT 1 FROM sessions WHERE id = ?1 AND COALESCE(title, '') = ''")
                .and_then(|mut find| find.exists([id.as_str()]))
                .doing("find a title")?;
            if is_untitled {
                set(db, &id, Some(&title))?;
            }
            Ok(is_untitled)
        })
        .await
    }

    /// Returns the next free title: `base`, else `base #2`, `base #3` and so on.
    pub async fn next_title(&self, base: &str) -> Result<String, StoreError> {
        let base = numbered(base).0.to_owned();
        self.read(move |db| {
            let taken = titles_like(db, &base).doing("read the titles")?;
            let highest = taken.iter().map(|(_, title)| numbered(title).1).max();
            Ok(match highest {
                None => base,
                Some(highest) => format!("{base} #{}", highest + 1),
            })
        })
        .await
    }
}

fn set(db: &Connection, id: &SessionId, title: Option<&str>) -> Result<(), StoreError> {
    if let Some(title) = title {
        free_title(db, id, title)?;
    }
    let changed = db
        .execute("UPDATE sessions SET title = ?2 WHERE id = ?1", params![id.as_str(), title])
        .doing("set a title")?;
    match changed {
        0 => Err(StoreError::UnknownSession { wanted: id.to_string() }),
        _ => Ok(()),
    }
}

/// Returns sessions titled `base` or `base #N`, newest first.
pub(crate) fn titles_like(db: &Connection, base: &str) -> rusqlite::Result<Vec<(SessionId, String)>> {
    let mut find = db.prepare_cached(
        "SELECT id, title FROM sessions
         WHERE title IS NOT NULL AND substr(title, 1, length(?1)) = ?1 ORDER BY started_at DESC, rowid DESC",
    )?;
    let found = find.query_map([base], |row| Ok((SessionId::new(row.get::<_, String>(0)?), row.get(1)?)))?;
    let all: Vec<(SessionId, String)> = found.collect::<rusqlite::Result<_>>()?;
    Ok(all.into_iter().filter(|(_, title)| title == base || numbered(title).0 == base).collect())
}

/// Returns an error if another session has the title. A session that this one continues after a compaction
/// gives it up.
fn free_title(db: &Connection, id: &SessionId, title: &str) -> Result<(), StoreError> {
    let owner: Option<String> = db
        .query_row(
            "SELECT id FROM sessions WHERE title = ?1 AND id <> ?2",
            params![title, id.as_str()],
            |row| row.get(0),
        )
        .optional()
        .doing("find a title")?;
    let Some(owner) = owner else { return Ok(()) };
    if !continues(db, id, &owner).doing("find a title")? {
        return Err(StoreError::TitleTaken { title: title.to_owned(), owner: SessionId::new(owner) });
    }
    db.execute("UPDATE sessions SET title = NULL WHERE id = ?1", [owner]).doing("hand over a title")?;
    Ok(())
}

/// Returns true if `id` descends from `ancestor` through compactions only.
fn continues(db: &Connection, id: &SessionId, ancestor: &str) -> rusqlite::Result<bool> {
    db.query_row(
        "WITH RECURSIVE line(id, depth) AS (
             SELECT parent_session_id, 1 FROM sessions WHERE id = ?1
             UNION ALL
             SELECT s.parent_session_id, depth + 1 FROM line JOIN sessions AS s ON s.id = line.id
             WHERE s.end_reason = 'compression' AND depth < 100)
         SELECT EXISTS (SELECT 1 FROM line JOIN sessions AS s ON s.id = line.id
                        WHERE s.id = ?2 AND s.end_reason = 'compression')",
        params![id.as_str(), ancestor],
        |row| row.get(0),
    )
}

#[cfg(test)]
#[path = "titles_tests.rs"]
mod tests;
