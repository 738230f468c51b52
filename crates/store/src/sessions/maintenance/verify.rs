//! Verifies the invariants of the store.
//!
//! Reads everything in one transaction and writes nothing; also for a damaged file, findings are values.
//! States that the Python release may create (rows without our columns, or our rows without theirs) are not
//! reported.

use super::health::is_of_index;
use crate::sessions::rows::counts::count;
use crate::sessions::rows::{checksum, decode};
use crate::sessions::schema::{self, FileContents};
use hermes_conversation::SessionId;
use rusqlite::{Connection, OpenFlags, Row};
use std::path::Path;
use std::time::Duration;

/// A check of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The file itself.
    Integrity,
    /// Checksums of our messages are valid.
    Messages,
    /// Our messages are numbered without a gap.
    Sequence,
    /// In a closed turn every tool call has exactly one result.
    Calls,
    /// In a closed turn nothing is still running.
    Intents,
    /// A session's counters equal its rows.
    Counters,
    /// Every original message is in the search index or queued for it.
    Index,
    /// Summaries cover older messages, copies refer to originals, and reports are readable.
    Epochs,
}

impl Check {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Integrity => "integrity",
            Self::Messages => "messages",
            Self::Sequence => "sequence",
            Self::Calls => "calls",
            Self::Intents => "intents",
            Self::Counters => "counters",
            Self::Index => "index",
            Self::Epochs => "epochs",
        }
    }
}

/// A violated invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub check: Check,
    pub session: Option<SessionId>,
    pub text: String,
}

/// The result of [`verify`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    pub sessions: u64,
    pub messages: u64,
    /// Messages that are not indexed yet.
    pub outbox: u64,
    /// Empty for a healthy database.
    pub findings: Vec<Finding>,
}

/// Verifies a database without changing it. Reads all of it, so it takes a while.
pub fn verify(path: &Path) -> Verification {
    let mut seen = Verification::default();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let examined = Connection::open_with_flags(path, flags).and_then(|db| examine(&db, &mut seen));
    if let Err(error) = examined {
        seen.add(Check::Integrity, None, error.to_string());
    }
    seen
}

impl Verification {
    fn add(&mut self, check: Check, session: Option<String>, text: String) {
        self.findings.push(Finding { check, session: session.map(SessionId::new), text });
    }
}

type Examination = fn(&Connection, &mut Verification) -> rusqlite::Result<()>;

fn examine(db: &Connection, seen: &mut Verification) -> rusqlite::Result<()> {
    db.busy_timeout(Duration::from_secs(5))?;
    db.execute_batch("BEGIN")?;
    let Some(state) = state(db, seen)? else { return Ok(()) };
    let counted = |sql| db.query_row(sql, [], |row| count(row, 0)).unwrap_or_default();
    seen.sessions = counted("SELECT COUNT(*) FROM sessions");
    seen.messages = counted("SELECT COUNT(*) FROM messages");
    seen.outbox = counted("SELECT COUNT(*) FROM hx_outbox");
    let integrity: Examination = if state.is_aligned { integrity } else { integrity_of_file };
    if !state.has_own_tables {
        return integrity(db, seen);
    }
    let examinations: [(Check, Examination); 8] = [
        (Check::Integrity, integrity),
        (Check::Messages, messages),
        (Check::Sequence, sequence),
        (Check::Calls, calls),
        (Check::Intents, intents),
        (Check::Counters, counters),
        (Check::Index, index),
        (Check::Epochs, epochs),
    ];
    for (check, examination) in examinations {
        // A check that fails is reported and does not prevent the others.
        if let Err(error) = examination(db, seen) {
            seen.add(check, None, format!("check failed: {error}"));
        }
    }
    Ok(())
}

/// The parts of a file that can be checked.
struct FileState {
    /// Our own tables exist. In a file that only the Python release used they are created, and an older
    /// schema is upgraded, when the file is opened next.
    has_own_tables: bool,
    /// All SQLite versions read the search index alike. Otherwise it is corrected at that time.
    is_aligned: bool,
}

fn state(db: &Connection, seen: &mut Verification) -> rusqlite::Result<Option<FileState>> {
    let text = match schema::inspect(db)? {
        FileContents::Nothing => "the file is empty".to_owned(),
        FileContents::Foreign => "not a session database".to_owned(),
        FileContents::Schema { version, .. } if version > schema::VERSION => {
            format!("schema {version}; this version supports up to {}", schema::VERSION)
        }
        FileContents::Schema { version, aligned, .. } => {
            let has_own_tables = version == schema::VERSION && has_any_own_table(db)?;
            if has_own_tables && !has_all_own_tables(db) {
                "tables are missing; any `hermes` command that opens the store creates them".to_owned()
            } else {
                return Ok(Some(FileState { has_own_tables, is_aligned: aligned }));
            }
        }
    };
    seen.add(Check::Integrity, None, text);
    Ok(None)
}

fn has_any_own_table(db: &Connection) -> rusqlite::Result<bool> {
    db.prepare("SELECT 1 FROM sqlite_master WHERE substr(name, 1, 3) = 'hx_'")?.exists([])
}

/// Returns true if all tables that are checked here exist.
fn has_all_own_tables(db: &Connection) -> bool {
    let tables = "hx_outbox, hx_turns, hx_intents, hx_nodes, hx_compactions";
    db.prepare(&format!("SELECT copy_of FROM hx_message_ext, {tables}")).is_ok()
}

fn integrity(db: &Connection, seen: &mut Verification) -> rusqlite::Result<()> {
    check_integrity(db, seen, |seen| {
        let text =
            "the search index does not match the messages; run `hermes sessions reindex` to rebuild it";
        seen.add(Check::Index, None, text.to_owned());
    })
}

fn integrity_of_file(db: &Connection, seen: &mut Verification) -> rusqlite::Result<()> {
    check_integrity(db, seen, |_| ())
}

fn check_integrity(
    db: &Connection,
    seen: &mut Verification,
    of_index: impl Fn(&mut Verification),
) -> rusqlite::Result<()> {
    let mut check = db.prepare("PRAGMA integrity_check(100)")?;
    for finding in check.query_map([], |row| row.get::<_, String>(0))? {
        match finding?.as_str() {
            "ok" => {}
            finding if is_of_index(finding) => of_index(seen),
            finding => seen.add(Check::Integrity, None, finding.to_owned()),
        }
    }
    Ok(())
}

/// Compares the checksum of each of our messages.
fn messages(db: &Connection, seen: &mut Verification) -> rusqlite::Result<()> {
    let mut find = db.prepare(&format!(
        "SELECT {}, x.session, m.id, x.sum FROM hx_message_ext AS x JOIN messages AS m ON m.id = x.message_id
         WHERE x.sum IS NOT NULL ORDER BY m.id",
        decode::COLUMNS
    ))?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>("sum")? != checksum::of_row(row)? {
            let text = format!("message {} was changed (wrong checksum)", row.get::<_, i64>("id")?);
            seen.add(Check::Messages, row.get("session")?, text);
        }
    }
    Ok(())
}

fn sequence(db: &Connection, seen: &mut Verification) -> rusqlite::Result<()> {
    let mut gaps = db.prepare(
        "SELECT session, COUNT(*), MIN(seq), MAX(seq) FROM hx_message_ext
         WHERE session IN (SELECT id FROM sessions) GROUP BY session
         HAVING MIN(seq) <> 1 OR MAX(seq) <> COUNT(*) ORDER BY session",
    )?;
    let mut rows = gaps.query([])?;
    while let Some(row) = rows.next()? {
        let (messages, first, last): (i64, i64, i64) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let text = format!("{messages} messages are numbered {first} to {last}");
        seen.add(Check::Sequence, row.get(0)?, text);
    }
    Ok(())
}

/// The calls of one turn without a result so far.
#[derive(Default)]
struct OpenCalls {
    session: String,
    turn: i64,
    waiting: Vec<String>,
    answered: Vec<String>,
}

impl OpenCalls {
    fn settle(&mut self, seen: &mut Verification) {
        for call in self.waiting.drain(..) {
            let text = format!("call {call} of turn {} has no result", self.turn);
            seen.add(Check::Calls, Some(self.session.clone()), text);
        }
        self.answered.clear();
    }

    fn answer(&mut self, call: String, seen: &mut Verification) {
        if let Some(place) = self.waiting.iter().position(|waiting| *waiting == call) {
            self.answered.push(self.waiting.swap_remove(place));
            return;
        }
        let problem = if self.answered.contains(&call) { "a second result" } else { "a result but no call" };
        let text = format!("call {call} of turn {} has {problem}", self.turn);
        seen.add(Check::Calls, Some(self.session.clone()), text);
    }
}

fn calls(db: &Connection, seen: &mut Verification) -> rusqlite::Result<()> {
    let mut find = db.prepare(
        "SELECT x.session, x.turn, m.role, m.tool_call_id, m.tool_calls
         FROM hx_message_ext AS x JOIN hx_turns AS t ON t.id = x.turn JOIN messages AS m ON m.id = x.message_id
         WHERE t.state = 'closed' AND m.role IN ('assistant', 'tool') AND x.made = 0 ORDER BY x.session, x.seq",
    )?;
    let mut rows = find.query([])?;
    let mut open = OpenCalls::default();
    while let Some(row) = rows.next()? {
        follow(row, &mut open, seen)?;
    }
    open.settle(seen);
    Ok(())
}

fn follow(row: &Row<'_>, open: &mut OpenCalls, seen: &mut Verification) -> rusqlite::Result<()> {
    let (session, turn): (String, i64) = (row.get(0)?, row.get(1)?);
    if (open.turn, &open.session) != (turn, &session) {
        open.settle(seen);
        *open = OpenCalls { session, turn, ..OpenCalls::default() };
    }
    if decode::text(row, 2)?.as_deref() == Some("tool") {
        open.answer(decode::text(row, 3)?.unwrap_or_default(), seen);
        return Ok(());
    }
    open.settle(seen);
    let calls = decode::text(row, 4)?.map(|stored| decode::calls(&stored)).unwrap_or_default();
    open.waiting = calls.iter().map(|call| call.id.as_str().to_owned()).collect();
    Ok(())
}

fn intents(db: &Connection, seen: &mut Verification) -> rusqlite::Result<()> {
    let mut find = db.prepare(
        "SELECT i.session, i.call_id, i.turn FROM hx_intents AS i JOIN hx_turns AS t ON t.id = i.turn
         WHERE t.state = 'closed' AND i.state = 'started' ORDER BY i.id",
    )?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let (call, turn): (String, i64) = (row.get(1)?, row.get(2)?);
        seen.add(Check::Intents, row.get(0)?, format!("call {call} never ended, but turn {turn} did"));
    }
    Ok(())
}

/// Compares counters with rows. The Python release counts added rows, counts only active ones after a
/// compaction, and does not subtract rewound ones: any number between active and all can be right.
fn counters(db: &Connection, seen: &mut Verification) -> rusqlite::Result<()> {
    let mut find = db.prepare(
        "SELECT s.id, COALESCE(s.message_count, 0), COALESCE(s.tool_call_count, 0),
                COUNT(m.id), COALESCE(SUM(m.active = 1), 0), COALESCE(SUM(m.calls), 0),
                COALESCE(SUM(CASE WHEN m.active = 1 THEN m.calls ELSE 0 END), 0)
         FROM sessions AS s LEFT JOIN (
             SELECT id, session_id, active,
                    CASE WHEN COALESCE(tool_calls, '') = '' THEN 0
                         WHEN json_valid(tool_calls) AND json_type(tool_calls) = 'array'
                             THEN json_array_length(tool_calls)
                         ELSE 1 END AS calls
             FROM messages) AS m ON m.session_id = s.id
         GROUP BY s.id ORDER BY s.id",
    )?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        for (what, counted, all, active) in [
            ("messages", row.get(1)?, row.get(3)?, row.get(4)?),
            ("tool calls", row.get(2)?, row.get(5)?, row.get(6)?),
        ] {
            let (counted, all, active): (i64, i64, i64) = (counted, all, active);
            if counted < active || counted > all {
                let text = match all - active {
                    0 => format!("wrong counter: {counted} {what}, found {all}"),
                    _ => format!("wrong counter: {counted} {what}, found {active} active of {all}"),
                };
                seen.add(Check::Counters, row.get(0)?, text);
            }
        }
    }
    Ok(())
}

fn index(db: &Connection, seen: &mut Verification) -> rusqlite::Result<()> {
    for table in ["messages_fts", "messages_fts_trigram"] {
        if let Err(error) = index_table(db, table, seen) {
            let text = format!("cannot read {table}: {error}; run `hermes sessions reindex` to rebuild it");
            seen.add(Check::Index, None, text);
        }
    }
    Ok(())
}

/// Checks one index. Its rows are counted in its `docsize` table.
fn index_table(db: &Connection, table: &str, seen: &mut Verification) -> rusqlite::Result<()> {
    db.query_row(&format!("SELECT COUNT(*) FROM {table} WHERE {table} MATCH '\"a\"'"), [], |_| Ok(()))?;
    let mut missing = db.prepare(&format!(
        "SELECT session_id, COUNT(*) FROM messages WHERE id NOT IN (SELECT id FROM {table}_docsize)
             AND id NOT IN (SELECT message_id FROM hx_outbox)
             AND id NOT IN (SELECT message_id FROM hx_message_ext WHERE made = 1) GROUP BY session_id ORDER BY session_id"
    ))?;
    let mut rows = missing.query([])?;
    while let Some(row) = rows.next()? {
        let text = match row.get::<_, i64>(1)? {
            1 => format!("1 message is not in {table}"),
            count => format!("{count} messages are not in {table}"),
        };
        seen.add(Check::Index, row.get(0)?, text);
    }
    let extra: i64 = db.query_row(
        &format!(
            "SELECT COUNT(*) FROM {table}_docsize WHERE id NOT IN (SELECT id FROM messages)
                 AND id NOT IN (SELECT message_id FROM hx_outbox)"
        ),
        [],
        |row| row.get(0),
    )?;
    if extra > 0 {
        let entries = if extra == 1 { "entry" } else { "entries" };
        seen.add(Check::Index, None, format!("{table} has {extra} {entries} for messages that do not exist"));
    }
    Ok(())
}

/// Checks existing sessions only: the Python release deletes sessions without our tables.
fn epochs(db: &Connection, seen: &mut Verification) -> rusqlite::Result<()> {
    for sql in [
        "SELECT n.session, 'summary ' || n.number || ' covers messages ' || n.first || ' to ' || n.last
         FROM hx_nodes AS n WHERE n.first > n.last OR NOT json_valid(n.children)",
        "SELECT n.session, 'summary ' || n.number || ' summarises ' || c.value || ', which is not older'
         FROM hx_nodes AS n, json_each(CASE WHEN json_valid(n.children) THEN n.children ELSE '[]' END) AS c
         WHERE c.value >= n.number",
        "SELECT x.session, 'message ' || x.message_id || ' is a copy of ' || x.copy_of || ', which is a copy, too'
         FROM hx_message_ext AS x JOIN hx_message_ext AS o ON o.message_id = x.copy_of
         WHERE x.made = 0 OR o.made = 1",
        "SELECT session, 'cannot read the report of compaction ' || number FROM hx_compactions
         WHERE NOT json_valid(report)",
    ] {
        let mut find = db.prepare(sql)?;
        let mut rows = find.query([])?;
        while let Some(row) = rows.next()? {
            let session: String = row.get(0)?;
            if db.prepare_cached("SELECT 1 FROM sessions WHERE id = ?1")?.exists([&session])? {
                seen.add(Check::Epochs, Some(session), row.get(1)?);
            }
        }
    }
    Ok(())
}
