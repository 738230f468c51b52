//! One row of an import: JSON values as the columns of a table.

use super::Message;
use crate::sessions::import_export::column_json;
use rusqlite::types::Value as Stored;
use rusqlite::{Connection, params_from_iter};
use serde_json::{Map, Value};
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Sessions,
    Messages,
    Usage,
    Turns,
    Mailbox,
    Nodes,
    Compactions,
    Pins,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sessions => "sessions",
            Self::Messages => "messages",
            Self::Usage => "session_model_usage",
            Self::Turns => "hx_turns",
            Self::Mailbox => "hx_mailbox",
            Self::Nodes => "hx_nodes",
            Self::Compactions => "hx_compactions",
            Self::Pins => "hx_pins",
        })
    }
}

/// A row to insert. Its names are columns of the table, never text from the file.
pub(super) struct NewRow {
    table: Table,
    columns: Vec<(String, Stored)>,
}

/// Returns the columns that both the table and the file have. A NULL in a NOT NULL column is replaced by the
/// column's default.
pub(super) fn row_for(db: &Connection, table: Table, given: &Map<String, Value>) -> rusqlite::Result<NewRow> {
    let mut known =
        db.prepare_cached(&format!("SELECT name, \"notnull\" FROM pragma_table_info('{table}')"))?;
    let mut rows = known.query([])?;
    let mut columns = Vec::new();
    while let Some(row) = rows.next()? {
        let (name, needs_value): (String, bool) = (row.get(0)?, row.get(1)?);
        match given.get(&name) {
            None => {}
            Some(Value::Null) if needs_value => {}
            Some(value) if table == Table::Messages && column_json::is_exchanged(&name) => {
                let stored = exchanged(given, &name, value);
                columns.push((name, stored));
            }
            Some(value) => columns.push((name, plain(value))),
        }
    }
    Ok(NewRow { table, columns })
}

impl NewRow {
    pub(super) fn unset(&mut self, column: &str) {
        self.columns.retain(|(name, _)| name != column);
    }

    pub(super) fn set(&mut self, column: &str, value: Stored) {
        self.unset(column);
        self.columns.push((column.to_owned(), value));
    }

    pub(super) fn insert(self, db: &Connection) -> rusqlite::Result<()> {
        let (names, values): (Vec<_>, Vec<_>) = self.columns.into_iter().unzip();
        let places = vec!["?"; names.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({places})", self.table, names.join(", "));
        db.prepare_cached(&sql)?.execute(params_from_iter(values))?;
        Ok(())
    }
}

/// Returns the text from which `export` creates `value`.
fn exchanged(message: &Message, column: &str, value: &Value) -> Stored {
    let own = OwnFields::of(message);
    if let Some(text) = own.as_ref().and_then(|own| own.text(column, value)) {
        return Stored::Text(text.to_owned());
    }
    match value {
        Value::Null => Stored::Null,
        value => Stored::Text(column_json::to_text(column, value, own.is_some_and(|own| own.is_plain()))),
    }
}

fn plain(value: &Value) -> Stored {
    match value {
        Value::Null => Stored::Null,
        Value::String(text) => Stored::Text(text.clone()),
        Value::Bool(yes) => Stored::Integer((*yes).into()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Stored::Integer(whole),
            None => number.as_f64().map_or(Stored::Null, Stored::Real),
        },
        Value::Array(_) | Value::Object(_) => Stored::Text(value.to_string()),
    }
}

/// A message's `hx`: our own columns.
pub(super) struct OwnFields<'a>(&'a Map<String, Value>);

impl<'a> OwnFields<'a> {
    pub(super) fn of(message: &'a Message) -> Option<Self> {
        message.get("hx").and_then(Value::as_object).map(Self)
    }

    /// Returns true if Hermes wrote the message, and not the Python release.
    pub(super) fn is_ours(&self) -> bool {
        self.0.contains_key("turn")
    }

    pub(super) fn turn(&self) -> Option<i64> {
        self.0.get("turn").and_then(Value::as_i64)
    }

    pub(super) fn field(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Value::as_str)
    }

    pub(super) fn is_plain(&self) -> bool {
        self.0.get("plain").and_then(Value::as_bool).unwrap_or_default()
    }

    /// Returns true if a compaction generated the message.
    pub(super) fn is_generated(&self) -> bool {
        self.0.get("made").and_then(Value::as_bool).unwrap_or_default()
    }

    /// Returns the original of a copy, by its id in the file.
    pub(super) fn copy_of(&self) -> Option<i64> {
        self.0.get("copy_of").and_then(Value::as_i64)
    }

    /// Returns the exact text of a column. A text that differs from the value is ignored: then the value was
    /// edited.
    fn text(&self, column: &str, value: &Value) -> Option<&'a str> {
        let text = self.0.get("text")?.get(column)?.as_str()?;
        (column_json::to_json(column, text, self.is_plain()) == *value).then_some(text)
    }
}
