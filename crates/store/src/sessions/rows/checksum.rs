//! Checksums of our messages, which detect changed bytes.
//!
//! SQLite has no checksums: a byte that the disk changes inside a text goes unnoticed. Only columns that are
//! never updated are included; `api_content` is not, because the Python release sets it on our messages.

use super::decode;
use super::encode::Columns;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

/// The index in [`decode::COLUMNS`] of the column that is not included.
const API_CONTENT: usize = 12;

pub(crate) fn of_columns(columns: &Columns) -> i64 {
    let fields: [Option<&str>; decode::WIDTH - 1] = [
        Some(columns.role),
        Some(&columns.content),
        columns.tool_call_id.as_deref(),
        columns.tool_calls.as_deref(),
        columns.tool_name.as_deref(),
        columns.effect_disposition,
        columns.finish_reason,
        columns.reasoning.as_deref(),
        columns.reasoning_content.as_deref(),
        columns.reasoning_details.as_deref(),
        columns.codex_reasoning_items.as_deref(),
        columns.codex_message_items.as_deref(),
        columns.issuer.as_deref(),
        columns.anthropic_blocks.as_deref(),
        Some(if columns.plain { "1" } else { "0" }),
    ];
    let mut sum = Checksum::default();
    fields.iter().for_each(|field| sum.add(field.map(str::as_bytes)));
    sum.value()
}

/// Returns the checksum of a row that begins with [`decode::COLUMNS`].
pub(crate) fn of_row(row: &Row<'_>) -> rusqlite::Result<i64> {
    let mut sum = Checksum::default();
    for column in (0..decode::WIDTH).filter(|&column| column != API_CONTENT) {
        match row.get_ref(column)? {
            ValueRef::Null => sum.add(None),
            ValueRef::Integer(number) => sum.add(Some(number.to_string().as_bytes())),
            ValueRef::Real(number) => sum.add(Some(number.to_string().as_bytes())),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => sum.add(Some(bytes)),
        }
    }
    Ok(sum.value())
}

/// Records the checksum of a message that was not written from [`Columns`].
pub(crate) fn record(db: &Connection, message: i64) -> rusqlite::Result<()> {
    let sum = db
        .prepare_cached(&format!(
            "SELECT {} FROM messages AS m JOIN hx_message_ext AS x ON x.message_id = m.id WHERE m.id = ?1",
            decode::COLUMNS
        ))?
        .query_row([message], of_row)?;
    db.prepare_cached("UPDATE hx_message_ext SET sum = ?2 WHERE message_id = ?1")?.execute([message, sum])?;
    Ok(())
}

/// A checksum of invertible steps: texts of equal length that differ in one word of eight bytes never have
/// the same checksum.
#[derive(Debug)]
struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0x6865_726d_6573_0001)
    }
}

impl Checksum {
    fn add(&mut self, field: Option<&[u8]>) {
        // The length separates fields, and a missing field from an empty one.
        self.mix(field.map_or(u64::MAX, |bytes| bytes.len() as u64));
        for chunk in field.unwrap_or_default().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn mix(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 29;
    }

    fn value(&self) -> i64 {
        self.0.cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(fields: &[Option<&str>]) -> i64 {
        let mut sum = Checksum::default();
        fields.iter().for_each(|field| sum.add(field.map(str::as_bytes)));
        sum.value()
    }

    #[test]
    fn different_rows_have_different_checksums() {
        let different: [&[Option<&str>]; 8] = [
            &[Some("ab"), Some("c")],
            &[Some("a"), Some("bc")],
            &[Some("abc"), None],
            &[Some("abc"), Some("")],
            &[None, Some("abc")],
            &[Some("abc\0")],
            &[Some("abc")],
            &[],
        ];
        let sums: std::collections::HashSet<_> = different.iter().map(|fields| sum(fields)).collect();
        assert_eq!(sums.len(), different.len());
        assert_eq!(
            sum(&[Some("a long text of several parts")]),
            sum(&[Some("a long text of several parts")])
        );
    }
}
