//! What was said, for people: the rows of a session with their ids, and a whole conversation
//! across the sessions it went through. What the model is sent is `load`'s work.

use crate::StoreError;
use crate::error::Doing;
use crate::sessions::compaction::originals::is_told;
use crate::sessions::rows::decode;
use crate::sessions::{SessionDb, lineage};
use hermes_conversation::{Content, Message, MessageId, SessionId};
use rusqlite::{Connection, Row};

/// Which messages to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Include {
    /// Those the model is sent.
    #[default]
    Active,
    /// What was said and not taken back, whether a compaction has put it away or not; no summary and no
    /// copy, so that nothing is told twice.
    Originals,
    /// All rows: also what was taken back or put away, and what compactions wrote.
    All,
}

/// Whether a message still counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageState {
    Active,
    /// Taken back by the user.
    Rewound,
    /// Put away by a compaction; still found by searches.
    Compacted,
}

/// A message as a row of its session.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    pub id: MessageId,
    pub at: f64,
    pub state: MessageState,
    /// Overheard in a group, not said to the agent.
    pub observed: bool,
    /// The id the chat platform gave it.
    pub platform_id: Option<String>,
    /// Written by a compaction: a summary, or a copy of what it kept.
    pub made: bool,
    pub message: Message,
}

impl SessionDb {
    /// A session's messages in the order they were said. Empty for an unknown session.
    pub async fn messages(&self, id: &SessionId, include: Include) -> Result<Vec<StoredMessage>, StoreError> {
        let id = id.clone();
        self.read(move |db| rows(db, &id, include).doing("read a session's messages")).await
    }

    /// The whole conversation as a person remembers it: what was said in the sessions this one
    /// comes from, then in this one. What a compaction put away is told, what it wrote is not, and a
    /// question that was carried over into a new session is told once.
    pub async fn whole_conversation(&self, id: &SessionId) -> Result<Vec<Message>, StoreError> {
        let id = id.clone();
        self.read(move |db| {
            let mut line = lineage::ancestors(db, &id).doing("follow a session's line")?;
            line.push(id);
            let mut told = Vec::new();
            for session in &line {
                let said = rows(db, session, Include::Originals).doing("read a session's messages")?;
                for row in said {
                    if !is_replayed(&told, &row.message) {
                        told.push(row.message);
                    }
                }
            }
            Ok(told)
        })
        .await
    }
}

/// A query for rows that [`stored`] understands, up to its conditions on `m`.
pub(crate) fn select() -> String {
    format!(
        "SELECT {}, m.id AS id, m.timestamp, m.active, m.compacted, m.observed, m.platform_message_id, x.made
         FROM messages AS m LEFT JOIN hx_message_ext AS x ON x.message_id = m.id",
        decode::COLUMNS
    )
}

fn rows(db: &Connection, id: &SessionId, include: Include) -> rusqlite::Result<Vec<StoredMessage>> {
    let which = match include {
        Include::Active => "m.active = 1".to_owned(),
        Include::Originals => is_told("m"),
        Include::All => "TRUE".to_owned(),
    };
    let sql = format!("{} WHERE m.session_id = ?1 AND {which} ORDER BY m.id", select());
    let mut find = db.prepare_cached(&sql)?;
    let found = find.query_map([id.as_str()], stored)?;
    found.filter_map(Result::transpose).collect()
}

pub(crate) fn stored(row: &Row<'_>) -> rusqlite::Result<Option<StoredMessage>> {
    let Some(message) = decode::message(row)? else { return Ok(None) };
    let flag = |name| row.get::<_, Option<i64>>(name).map(|flag| flag == Some(1));
    let state = match (flag("active")?, flag("compacted")?) {
        (true, _) => MessageState::Active,
        (false, true) => MessageState::Compacted,
        (false, false) => MessageState::Rewound,
    };
    Ok(Some(StoredMessage {
        id: MessageId(row.get("id")?),
        at: row.get("timestamp")?,
        state,
        observed: flag("observed")?,
        platform_id: row.get("platform_message_id")?,
        made: flag("made")?,
        message,
    }))
}

/// Whether `next` repeats a question that nobody has answered yet, as a split session does.
fn is_replayed(told: &[Message], next: &Message) -> bool {
    let Some(question) = question(next) else { return false };
    let answered = |one: &Message| match one {
        Message::Assistant(said) => !said.text.is_empty() || !said.calls.is_empty(),
        Message::User(_) | Message::Tool(_) => false,
    };
    told.iter().rev().take_while(|one| !answered(one)).any(|one| self::question(one) == Some(question))
}

fn question(message: &Message) -> Option<&str> {
    match message {
        Message::User(said) => match &said.content {
            Content::Text(text) if !text.is_empty() => Some(text),
            Content::Text(_) | Content::Parts(_) => None,
        },
        Message::Assistant(_) | Message::Tool(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::CallId;

    #[test]
    fn only_an_unanswered_question_is_a_repetition() {
        let (ask, answer) = (Message::user("how?"), Message::assistant("so"));
        let result = Message::tool(CallId::new("c"), "t", "r");
        for (told, next, want) in [
            (vec![], ask.clone(), false),
            (vec![ask.clone()], ask.clone(), true),
            (vec![ask.clone(), Message::assistant("")], ask.clone(), true),
            (vec![ask.clone(), Message::user("and?"), result.clone()], ask.clone(), true),
            (vec![ask.clone(), answer.clone()], ask.clone(), false),
            (vec![Message::user("")], Message::user(""), false),
            (vec![answer.clone()], answer, false),
            (vec![result.clone()], result, false),
        ] {
            assert_eq!(is_replayed(&told, &next), want, "{told:?}");
        }
    }
}
