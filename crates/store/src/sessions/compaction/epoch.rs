//! Opens an epoch: replaces the active messages of a session by those of a compaction.
//!
//! Runs in the caller's transaction. Active messages become inactive, the epoch's messages are new rows
//! marked as generated, and summaries record the range they cover. A message that stays in the context is a
//! copy: it has the time, the turn and the platform id of the message it copies, and refers to the
//! original. So an original is never counted twice, also after many compactions.
//!
//! The Python release has no leases and may have added messages after this process read the session. No
//! summary covers them, so they stay active, after the epoch.

mod align;

use super::originals::{Conversation, is_original};
use super::summaries;
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::record::append::{self, Place};
use crate::sessions::record::rewrite;
use crate::sessions::rows::encode::{self, Columns};
use crate::sessions::rows::{checksum, decode};
use align::align;
use hermes_conversation::{Compaction, CompactionReport, MessageId, NewNode, Node, SessionId, TurnId};
use rusqlite::{Connection, Row, params};

/// A compaction, encoded before it is queued.
#[derive(Debug)]
pub(crate) struct Epoch {
    messages: Vec<Columns>,
    tail: usize,
    nodes: Vec<NewNode>,
    report: CompactionReport,
}

impl Epoch {
    pub(crate) fn new(compaction: &Compaction) -> Self {
        Self {
            messages: compaction.messages.iter().map(|message| encode::columns(message)).collect(),
            tail: compaction.tail,
            nodes: compaction.nodes.clone(),
            report: compaction.report.clone(),
        }
    }
}

/// Opens the epoch in the same session.
pub(crate) fn open(
    db: &Connection,
    session: &SessionId,
    epoch: &Epoch,
    now: f64,
) -> Result<Vec<Node>, StoreError> {
    let conversation = Conversation::of(db, session)?;
    let sources = Sources::find(db, session, epoch).doing("read a session's messages")?;
    let nodes = summaries::add(db, &conversation, session, &epoch.nodes, sources.bound)?;
    db.execute(
        "UPDATE messages SET active = 0, compacted = 1 WHERE session_id = ?1 AND active = 1",
        [session.as_str()],
    )
    .doing("deactivate messages")?;
    rewrite::reset_counters(db, session).doing("count the messages")?;
    sources.write(db, session, epoch, now)?;
    summaries::report(db, &conversation, session, &epoch.report, now)?;
    Ok(nodes)
}

/// Opens the epoch in `child`, which must exist and be empty. Active messages of `session` stay active.
pub(crate) fn open_in(
    db: &Connection,
    session: &SessionId,
    child: &SessionId,
    epoch: &Epoch,
    now: f64,
) -> Result<Vec<Node>, StoreError> {
    let conversation = Conversation::of(db, session)?;
    let sources = Sources::find(db, session, epoch).doing("read a session's messages")?;
    let nodes = summaries::add(db, &conversation, child, &epoch.nodes, sources.bound)?;
    sources.write(db, child, epoch, now)?;
    summaries::report(db, &conversation, child, &epoch.report, now)?;
    Ok(nodes)
}

/// A row that was active before the epoch.
struct Source {
    row: MessageId,
    at: f64,
    turn: Option<TurnId>,
    /// The original message: this one, or the one it copies.
    original: Option<MessageId>,
    sum: i64,
    /// The message, if the Python release wrote it after this process had read the session: the epoch does
    /// not cover it.
    unseen: Option<Columns>,
}

/// Sources of the epoch's messages.
struct Sources {
    of: Vec<Option<Source>>,
    /// Messages that stay active after the epoch.
    unseen: Vec<Source>,
    /// The first original in the tail; earlier ones are not in the tail. `None` if the tail has no original:
    /// then a leaf covers everything, because an overlap is harmless and a gap is not.
    bound: Option<MessageId>,
}

impl Sources {
    fn find(db: &Connection, session: &SessionId, epoch: &Epoch) -> rusqlite::Result<Self> {
        let sums = |old: &[Source]| old.iter().map(|source| source.sum).collect::<Vec<_>>();
        let new_sums: Vec<i64> = epoch.messages.iter().map(checksum::of_columns).collect();
        let (mut unseen, mut old): (Vec<Source>, Vec<Source>) =
            active(db, session)?.into_iter().partition(|source| source.unseen.is_some());
        let mut alignment = align(&sums(&old), &new_sums, epoch.tail);
        if !unseen.is_empty() && alignment.tail < epoch.tail {
            // The tail matches only with them, so the epoch does cover them.
            old.append(&mut unseen);
            old.sort_by_key(|source| source.row);
            alignment = align(&sums(&old), &new_sums, epoch.tail);
        }
        let bound = old[old.len() - alignment.tail..].iter().find_map(|source| source.original);
        let mut old: Vec<Option<Source>> = old.into_iter().map(Some).collect();
        let of = alignment.from.into_iter().map(|place| old[place?].take()).collect();
        Ok(Self { of, unseen, bound })
    }

    fn write(&self, db: &Connection, session: &SessionId, epoch: &Epoch, now: f64) -> Result<(), StoreError> {
        for ((columns, source), at) in epoch.messages.iter().zip(&self.of).zip(self.times(now)) {
            let turn = source.as_ref().and_then(|source| source.turn);
            let copy_of = source.as_ref().and_then(|source| source.original);
            let written = append::generated(db, Place { session, turn, at }, columns, copy_of)?;
            if let Some(source) = source {
                carry_over(db, source.row, written).doing("record a message")?;
            }
        }
        for source in &self.unseen {
            let (place, Some(columns)) = (Place { session, turn: None, at: source.at }, &source.unseen)
            else {
                continue;
            };
            let written = append::generated(db, place, columns, source.original)?;
            carry_over(db, source.row, written).doing("record a message")?;
        }
        Ok(())
    }

    /// Returns the times of the epoch's messages. A copy has the time of its source, a new message that of
    /// the next copy, so that time never goes backwards in an epoch.
    fn times(&self, now: f64) -> Vec<f64> {
        let mut at = now;
        let backwards = self.of.iter().rev().map(|source| {
            at = source.as_ref().map_or(at, |source| source.at.min(at));
            at
        });
        let mut times: Vec<f64> = backwards.collect();
        times.reverse();
        times
    }
}

/// Reads the active messages of a session. Their checksums are those of our encoding, because the Python
/// release encodes the same message differently.
fn active(db: &Connection, session: &SessionId) -> rusqlite::Result<Vec<Source>> {
    let sql = format!(
        "SELECT {}, m.id AS id, m.timestamp, x.turn, x.copy_of, {} AS original,
             NOT EXISTS (SELECT 1 FROM hx_message_ext AS o WHERE o.message_id = COALESCE(x.copy_of, m.id))
                 AND m.timestamp > (SELECT l.taken_at FROM hx_leases AS l WHERE l.session = ?1) AS unseen
         FROM messages AS m LEFT JOIN hx_message_ext AS x ON x.message_id = m.id
         WHERE m.session_id = ?1 AND m.active = 1 ORDER BY m.id",
        decode::COLUMNS,
        is_original("m")
    );
    let mut find = db.prepare_cached(&sql)?;
    let found = find.query_map([session.as_str()], source)?;
    found.filter_map(Result::transpose).collect()
}

fn source(row: &Row<'_>) -> rusqlite::Result<Option<Source>> {
    let Some(message) = decode::message(row)? else { return Ok(None) };
    let id: i64 = row.get("id")?;
    let original = if row.get("original")? { Some(id) } else { row.get("copy_of")? };
    let columns = encode::columns(&message);
    let is_unseen = original.is_some() && row.get::<_, Option<bool>>("unseen")?.unwrap_or(false);
    Ok(Some(Source {
        row: MessageId(id),
        at: row.get("timestamp")?,
        turn: row.get::<_, Option<i64>>("turn")?.map(TurnId),
        original: original.map(MessageId),
        sum: checksum::of_columns(&columns),
        unseen: is_unseen.then_some(columns),
    }))
}

/// Copies the columns that are not part of the message itself.
fn carry_over(db: &Connection, from: MessageId, to: MessageId) -> rusqlite::Result<usize> {
    db.prepare_cached(
        "UPDATE messages SET (platform_message_id, observed) =
             (SELECT platform_message_id, observed FROM messages WHERE id = ?1) WHERE id = ?2",
    )?
    .execute(params![from.0, to.0])
}
