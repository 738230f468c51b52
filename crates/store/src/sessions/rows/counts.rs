//! Conversion between unsigned counts and the database's signed integers. It never fails: a count that is too
//! large is stored as the maximum, a negative one is read as zero.

use rusqlite::Row;

pub(crate) fn stored(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

pub(crate) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let stored: Option<i64> = row.get(column)?;
    Ok(stored.and_then(|count| count.try_into().ok()).unwrap_or_default())
}
