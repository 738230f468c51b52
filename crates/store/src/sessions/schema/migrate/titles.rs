//! Makes titles unique. Before version 4 two sessions could have the same title.

use super::steps::OldFile;
use rusqlite::{Connection, Result};

/// Numbers equal titles. The oldest session keeps its title; later ones get the next free number, so that the
/// bare title still resolves to the newest.
pub(super) fn make_unique(old: &OldFile<'_>) -> Result<()> {
    old.db.execute_batch("UPDATE sessions SET title = NULL WHERE title = ''")?;
    let mut last: Option<(String, u64)> = None;
    for (row, title) in shared_titles(old.db)? {
        let used = match last {
            Some((ref same, used)) if *same == title => used,
            _ => {
                last = Some((title, 1));
                continue;
            }
        };
        let number = give_number(old.db, row, &title, used + 1)?;
        last = Some((title, number));
    }
    Ok(())
}

fn shared_titles(db: &Connection) -> Result<Vec<(i64, String)>> {
    db.prepare(
        "SELECT rowid, title FROM sessions
         WHERE title IN (SELECT title FROM sessions WHERE title IS NOT NULL GROUP BY title HAVING COUNT(*) > 1)
         ORDER BY title, started_at, rowid",
    )?
    .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
    .collect()
}

/// Gives the row the first free number from `number` on, and returns it.
fn give_number(db: &Connection, row: i64, title: &str, mut number: u64) -> Result<u64> {
    let base = without_number(title);
    let mut is_taken = db.prepare_cached("SELECT EXISTS (SELECT 1 FROM sessions WHERE title = ?1)")?;
    let free = loop {
        let numbered = format!("{base} #{number}");
        if !is_taken.query_row([&numbered], |row| row.get::<_, bool>(0))? {
            break numbered;
        }
        number += 1;
    };
    db.prepare_cached("UPDATE sessions SET title = ?1 WHERE rowid = ?2")?.execute((free, row))?;
    Ok(number)
}

fn without_number(title: &str) -> &str {
    match title.rsplit_once(" #") {
        Some((base, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => title,
    }
}
