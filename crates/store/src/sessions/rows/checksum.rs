//! A sum of each message we wrote, by which a changed byte is noticed.
//!
//! The database itself has no sums: a byte that the disk changes inside a text is just another
//! text. Only columns that nobody has a reason to change later count; `api_content` is not one of
//! them, the Python program sets it on messages of ours.

use super::decode;
use super::encode::Columns;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

/// The one of [`decode::COLUMNS`] that does not count.
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
    let mut sum = Sum::default();
    fields.iter().for_each(|field| sum.add(field.map(str::as_bytes)));
    sum.value()
}

/// The sum of a row that begins with [`decode::COLUMNS`].
pub(crate) fn of_row(row: &Row<'_>) -> rusqlite::Result<i64> {
    let mut sum = Sum::default();
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

/// Notes the sum of a message that was not written from [`Columns`].
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

/// Every step can be undone, so two texts of the same length never meet again once they differ in
/// one place.
#[derive(Debug)]
struct Sum(u64);

impl Default for Sum {
    fn default() -> Self {
        Self(0x6865_726d_6573_0001)
    }
}

impl Sum {
    fn add(&mut self, field: Option<&[u8]>) {
        // The length tells where a field ends, and no field from an empty one.
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
        let mut sum = Sum::default();
        fields.iter().for_each(|field| sum.add(field.map(str::as_bytes)));
        sum.value()
    }

    #[test]
    fn what_differs_has_another_sum() {
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
            sum(&[Some("a long text of several words")]),
            sum(&[Some("a long text of several words")])
        );
    }
}
