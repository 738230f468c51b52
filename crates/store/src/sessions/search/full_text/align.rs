//! Makes the trigram table independent of the SQLite version that reads it.
//!
//! The tokenizer of SQLite 3.40 stops at a NUL byte, with which structured content begins; newer ones
//! continue. A deletion tokenizes the stored text again, so a row that one version inserts and another one
//! deletes leaves index entries behind. Therefore no text in the table has a NUL: the triggers cut it off,
//! and older rows are corrected once, when the triggers are replaced.

use super::rebuild::recreate_index;
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::record::append;
use crate::sessions::rows::counts::stored;
use crate::sessions::schema;
use rusqlite::{Connection, params};

/// The part of the search index that was rebuilt because SQLite versions read it differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reindexed {
    /// The number of messages.
    Messages(u64),
    /// The whole index: it had entries without a message.
    Everything,
}

/// Replaces the triggers that let NUL bytes into the trigram table and corrects its rows. Runs inside a write
/// transaction, after our own tables were created.
pub(crate) fn align(db: &Connection) -> Result<Option<Reindexed>, StoreError> {
    let done = match align_rows(db).doing("align the search index")? {
        Some(0) => None,
        Some(rows) => Some(Reindexed::Messages(rows)),
        None => {
            recreate_index(db)?;
            Some(Reindexed::Everything)
        }
    };
    db.execute_batch(
        "DROP TRIGGER IF EXISTS messages_fts_trigram_insert; DROP TRIGGER IF EXISTS messages_fts_trigram_update;",
    )
    .and_then(|()| db.execute_batch(schema::TRIGRAM_TRIGGERS))
    .doing("replace the index triggers")?;
    Ok(done)
}

/// Corrects the rows and returns their number; `None` if the index must be rebuilt.
fn align_rows(db: &Connection) -> rusqlite::Result<Option<u64>> {
    if !totals_agree(db).unwrap_or(false) {
        return Ok(None);
    }
    let mut find = db.prepare(
        "SELECT c.id, c.c0, d.sz FROM messages_fts_trigram_content AS c
         JOIN messages_fts_trigram_docsize AS d ON d.id = c.id WHERE instr(c.c0, char(0)) > 0",
    )?;
    let mut rows = find.query([])?;
    let mut aligned = 0;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let text = row.get_ref(1)?.as_bytes().unwrap_or_default();
        let Some(indexed_extent) = std::str::from_utf8(text).ok().and_then(|text| {
            let terms = varint(&mut row.get_ref(2).ok()?.as_blob().ok()?)?;
            indexed_extent(text, terms)
        }) else {
            return Ok(None);
        };
        match indexed_extent {
            // The index already has these terms; only the stored text is corrected.
            IndexedExtent::UpTo(end) => {
                let shadow = "UPDATE messages_fts_trigram_content SET c0 = ?2 WHERE id = ?1";
                db.prepare_cached(shadow)?.execute(params![id, indexed_text(text, end)])?;
            }
            // This library removes the terms, and the indexer adds them again.
            IndexedExtent::Whole => {
                append::queue(db, id, "put")?;
            }
        }
        aligned += 1;
    }
    Ok(Some(aligned))
}

fn indexed_text(text: &[u8], end: usize) -> String {
    String::from_utf8_lossy(&text[..end]).into_owned()
}

/// The indexed part of a text with a NUL byte.
#[derive(Debug, PartialEq, Eq)]
enum IndexedExtent {
    /// Up to this byte, by older versions.
    UpTo(usize),
    /// All but the NUL bytes, by newer versions.
    Whole,
}

/// Derives the indexed part from the number of terms of the row.
fn indexed_extent(text: &str, terms: u64) -> Option<IndexedExtent> {
    let first = text.find('\0').unwrap_or(text.len());
    match terms {
        old if old == trigrams(&text[..first]) => Some(IndexedExtent::UpTo(first)),
        new if new == trigrams(text) => Some(IndexedExtent::Whole),
        _ => None,
    }
}

fn trigrams(text: &str) -> u64 {
    let chars = text.chars().filter(|&c| c != '\0').count();
    stored(chars.saturating_sub(2)).cast_unsigned()
}

/// Compares the totals of the index with its rows. They differ if another SQLite version than the inserting
/// one deleted rows.
fn totals_agree(db: &Connection) -> rusqlite::Result<bool> {
    let kept: Vec<u8> =
        db.query_row("SELECT block FROM messages_fts_trigram_data WHERE id = 1", [], |row| row.get(0))?;
    let mut rest = kept.as_slice();
    // An index that never had a row has an empty record.
    let totals = (varint(&mut rest).unwrap_or(0), varint(&mut rest).unwrap_or(0));
    let mut find = db.prepare("SELECT sz FROM messages_fts_trigram_docsize")?;
    let mut rows = find.query([])?;
    let mut counted = (0, 0);
    while let Some(row) = rows.next()? {
        let Some(terms) = row.get_ref(0)?.as_blob().ok().and_then(|mut size| varint(&mut size)) else {
            return Ok(false);
        };
        counted = (counted.0 + 1, counted.1 + terms);
    }
    Ok(totals == counted)
}

/// Decodes a number in SQLite's variable-length form: seven bits per byte, the highest first.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for (place, &byte) in bytes.iter().enumerate().take(8) {
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            *bytes = &bytes[place + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexed_part_is_derived_from_the_number_of_terms() {
        for (text, terms, want) in [
            ("\0json:[1]  ", 0, Some(IndexedExtent::UpTo(0))),
            ("\0json:[1]  ", 8, Some(IndexedExtent::Whole)),
            ("\0json:[1]  ", 7, None),
            ("ab漢字\0cd", 2, Some(IndexedExtent::UpTo(8))),
            ("ab漢字\0c\0d", 4, Some(IndexedExtent::Whole)),
            ("abc\0", 1, Some(IndexedExtent::UpTo(3))),
        ] {
            assert_eq!(indexed_extent(text, terms), want, "{text:?} with {terms}");
        }
    }

    #[test]
    fn variable_length_numbers_are_decoded() {
        for (bytes, want, left) in
            [(&[0x2b, 9][..], Some(43), 1), (&[0x81, 0x00], Some(128), 0), (&[0x80], None, 1), (&[], None, 0)]
        {
            let mut rest = bytes;
            assert_eq!((varint(&mut rest), rest.len()), (want, left), "{bytes:?}");
        }
    }
}
