//! Adding messages, beside the same statements without the store; and several sessions at once.

use super::{Effort, Rows, open_store, wall_of};
use crate::bench::row::{Quantity, Row, Target};
use anyhow::Result;
use hermes_conversation::{Content, Lease, Message, OpenTurn, Opening, SessionId, Transcript, UserMessage};
use hermes_store::{NewSession, SessionDb, this_process};
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

const SESSIONS: u32 = 8;
/// Rows that one side writes before it is the other's turn. The disk's mood changes from one
/// moment to the next, so that taking turns by the row is the fairest; but a thread that just ran
/// is woken faster than one that waits for its turn, on either side.
const BATCHES: [u32; 2] = [1, 20];

pub(super) fn rows(runtime: &Runtime, effort: Effort) -> Rows {
    // Not the system's temporary folder: that may be in memory, where a sync costs nothing.
    let home = tempfile::tempdir_in(".")?;
    let mut rows = one_session(runtime, home.path(), effort)?;
    rows.push(many_sessions(runtime, home.path(), effort)?);
    Ok(rows)
}

fn text(number: u32) -> String {
    crate::bench::earlier_text(number)
}

async fn begun(store: &SessionDb, id: &str) -> Result<(Lease, OpenTurn)> {
    let new = NewSession {
        id: SessionId::new(id),
        source: "bench".into(),
        model: "m".into(),
        provider: "p".into(),
        base_url: "http://localhost".into(),
        system_prompt: String::new(),
        cwd: None,
        parent: None,
        delegating_call: None,
        model_config: serde_json::Map::new(),
    };
    let lease = store.acquire(new, this_process()).await?.lease;
    let opening = Opening::from(UserMessage { content: Content::text("begin"), api_content: None });
    let turn = store.open_turn(&lease, opening).await?;
    Ok((lease, turn))
}

/// Rows per second, each acknowledged after its own sync, both sides taking turns.
fn one_session(runtime: &Runtime, home: &Path, effort: Effort) -> Rows {
    let store = open_store(&home.join("state.db"))?;
    let (lease, turn) = runtime.block_on(begun(&store, "one"))?;
    let mut plain = Plain::open(&home.join("plain.db"))?;
    let ours = |number| -> Result<()> {
        let row = [Message::user(text(number))];
        Ok(runtime.block_on(store.extend(&lease, &turn, &row, None))?)
    };
    let rows = u32::try_from(effort.rounds)? * effort.appends;
    let mut measured = Vec::new();
    for batch in BATCHES {
        let (mut our_time, mut their_time) = (Duration::ZERO, Duration::ZERO);
        for start in 0..rows / batch {
            let numbers = start * batch..(start + 1) * batch;
            our_time += wall_of(|| numbers.clone().try_for_each(ours))?.0;
            their_time += wall_of(|| numbers.clone().try_for_each(|number| plain.append(&text(number))))?.0;
        }
        let rate = |time: Duration| Quantity::Number(f64::from(rows) / time.as_secs_f64());
        measured.push((batch, rate(our_time), rate(their_time)));
    }
    // Nothing is written for a session that does not exist: what is left is the way there and back.
    let nobody = SessionId::new("nobody");
    let (round_trips, ()) = wall_of(|| {
        (0..effort.appends).try_for_each(|_| Ok(runtime.block_on(store.end(&nobody, "none")).map(drop)?))
    })?;
    let way = round_trips.as_secs_f64() * 1e6 / f64::from(effort.appends);
    let row = |(batch, ours, theirs)| {
        let target = if batch == 1 { Target::AtLeastTimes(0.9) } else { Target::Open };
        Row::new(format!("append, rows per second, in turns of {batch}"), ours)
            .beside("raw", theirs)
            .target(target)
            .note(format!("one sync a row; {way:.0} µs is the way to the writer's thread and back"))
    };
    Ok(measured.into_iter().map(row).collect())
}

/// The statements of one message, in a transaction of their own, on the store's own tables.
struct Plain {
    db: Connection,
}

impl Plain {
    fn open(path: &Path) -> Result<Self> {
        drop(open_store(path)?);
        let db = Connection::open(path)?;
        db.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        db.set_prepared_statement_cache_capacity(32);
        db.pragma_update(None, "synchronous", "FULL")?;
        db.pragma_update(None, "foreign_keys", true)?;
        db.execute("INSERT INTO sessions (id, source, started_at) VALUES ('one', 'bench', 1)", [])?;
        Ok(Self { db })
    }

    fn append(&mut self, text: &str) -> Result<()> {
        let writing = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        writing
            .prepare_cached(
                "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('one', 'user', ?1, 2.0)",
            )?
            .execute([text])?;
        let id = writing.last_insert_rowid();
        for statement in [
            "INSERT INTO hx_message_ext (message_id, session, seq, turn)
             VALUES (?1, 'one', (SELECT COALESCE(MAX(seq), 0) + 1 FROM hx_message_ext WHERE session = 'one'), 1)",
            "INSERT INTO hx_outbox (message_id, op) VALUES (?1, 'put')",
            "UPDATE sessions SET message_count = message_count + 1 WHERE id = 'one' AND ?1 > 0",
        ] {
            writing.prepare_cached(statement)?.execute([id])?;
        }
        Ok(writing.commit()?)
    }
}

/// Sessions that each wait for their own row before the next.
fn many_sessions(runtime: &Runtime, home: &Path, effort: Effort) -> Result<Row> {
    let store = open_store(&home.join("many.db"))?;
    let rows = effort.appends * 2;
    let before = store.stats().full_commits;
    let (wall, ()) = wall_of(|| runtime.block_on(all_sessions(&store, rows)))?;
    let synced = store.stats().full_commits - before;
    let written = f64::from(rows * SESSIONS);
    let per_sync = Quantity::Number(written / synced as f64);
    Ok(Row::new(format!("{SESSIONS} sessions at once, rows per sync"), per_sync)
        .target(Target::AtLeast(Quantity::Number(4.0)))
        .note(format!("{written} rows, {synced} syncs, {:.0} rows per second", written / wall.as_secs_f64())))
}

async fn all_sessions(store: &SessionDb, rows: u32) -> Result<()> {
    let mut sessions = tokio::task::JoinSet::new();
    for session in 0..SESSIONS {
        let store = store.clone();
        sessions.spawn(async move {
            let (lease, turn) = begun(&store, &format!("s{session}")).await?;
            for number in 0..rows {
                store.extend(&lease, &turn, &[Message::user(text(number))], None).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = sessions.join_next().await {
        done??;
    }
    Ok(())
}
