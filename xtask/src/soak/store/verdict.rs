//! Compares acknowledged rows with stored rows.
//!
//! A writer numbers its rows and waits for each transaction, so in each of its lives the stored rows must be 1,
//! 2, 3 and so on: at least up to the last acknowledged one, and beyond it only rows of the transaction that
//! was running when the writer ended.

use super::rows::Row;
use super::writer::{MOST_PER_COMMIT, RECOVERED};
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::path::Path;

/// The highest acknowledged row by writer and life.
#[derive(Debug, Default)]
pub(super) struct Acknowledged(BTreeMap<(u32, u32), u32>);

impl Acknowledged {
    pub(super) fn add(&mut self, writer: u32, life: u32, number: u32) {
        let highest = self.0.entry((writer, life)).or_default();
        *highest = number.max(*highest);
    }

    pub(super) fn rows(&self) -> u64 {
        self.0.values().copied().map(u64::from).sum()
    }
}

/// The result of a comparison.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// All stored messages, including those that recoveries wrote.
    pub(super) stored: u64,
    /// Stored rows of transactions that were not acknowledged.
    pub(super) unacknowledged: u64,
    pub(super) violations: Vec<String>,
}

/// Compares the whole database.
pub(super) fn judge(path: &Path, acknowledged: &Acknowledged) -> rusqlite::Result<Verdict> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut judge = Judge::default();
    let mut rows = db.prepare(
        "SELECT m.session_id, x.seq, m.content FROM messages AS m
         LEFT JOIN hx_message_ext AS x ON x.message_id = m.id ORDER BY m.session_id, m.id",
    )?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        judge.see(&row.get::<_, String>(0)?, row.get(1)?, &row.get::<_, String>(2)?);
    }
    Ok(judge.close(acknowledged))
}

/// Receives all stored messages, session by session, in the order of storage.
#[derive(Default)]
struct Judge {
    session: String,
    seq: i64,
    last: Option<Row>,
    /// The number of stored rows of each life.
    lives: BTreeMap<(u32, u32), u32>,
    verdict: Verdict,
}

impl Judge {
    fn see(&mut self, session: &str, seq: Option<i64>, content: &str) {
        if session != self.session {
            (self.session, self.seq, self.last) = (session.to_owned(), 0, None);
        }
        self.verdict.stored += 1;
        self.seq += 1;
        if seq != Some(self.seq) {
            self.violated(format!("message {} of session {session} has the number {seq:?}", self.seq));
        }
        match Row::named_in(content) {
            Some(row) => self.see_row(row, content),
            None if RECOVERED.contains(&content) => {}
            None => self.violated(format!("session {session} holds an unknown message: {content:?}")),
        }
    }

    fn see_row(&mut self, row: Row, content: &str) {
        let number = match self.last {
            Some(last) if last.life == row.life => last.number + 1,
            Some(last) if last.life > row.life => 0,
            _ => 1,
        };
        if row.number != number || row.session() != self.session {
            let last = self.last.map_or_else(|| "nothing".to_owned(), |last| last.to_string());
            self.violated(format!("{row} follows {last} in session {}", self.session));
        }
        if content != row.text() {
            self.violated(format!("{row} is not stored as it was written"));
        }
        self.last = Some(row);
        self.lives.insert((row.writer, row.life), row.number);
    }

    fn close(mut self, acknowledged: &Acknowledged) -> Verdict {
        for (&(writer, life), &number) in &acknowledged.0 {
            let stored = self.lives.get(&(writer, life)).copied().unwrap_or_default();
            if stored < number {
                let lost = Row { writer, life, number };
                self.violated(format!("{lost} was acknowledged, but only {stored} rows are stored"));
            }
        }
        for (&(writer, life), &stored) in &self.lives.clone() {
            let number = acknowledged.0.get(&(writer, life)).copied().unwrap_or_default();
            let beyond = stored.saturating_sub(number);
            self.verdict.unacknowledged += u64::from(beyond);
            if beyond > MOST_PER_COMMIT {
                let last = Row { writer, life, number: stored };
                self.violated(format!("{last} is stored, but only {number} rows were acknowledged"));
            }
        }
        self.verdict
    }

    fn violated(&mut self, what: String) {
        self.verdict.violations.push(what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(life: u32, number: u32) -> Row {
        Row { writer: 1, life, number }
    }

    fn verdict(stored: &[(i64, String)], acknowledged: &[(u32, u32)]) -> Verdict {
        let mut judge = Judge::default();
        for (seq, content) in stored {
            judge.see("w1-0", Some(*seq), content);
        }
        let mut all = Acknowledged::default();
        for &(life, number) in acknowledged {
            all.add(1, life, number);
        }
        judge.close(&all)
    }

    fn sound() -> Vec<(i64, String)> {
        let texts = [row(0, 1).text(), row(0, 2).text(), "interrupted".to_owned(), row(2, 1).text()];
        (1..).zip(texts).collect()
    }

    #[test]
    fn valid_store_has_only_unacknowledged_extra_rows() {
        let verdict = verdict(&sound(), &[(0, 1), (2, 1)]);
        assert_eq!(verdict, Verdict { stored: 4, unacknowledged: 1, violations: Vec::new() });
    }

    #[test]
    fn everything_else_is_a_violation() {
        type Break = fn(&mut Vec<(i64, String)>);
        let breaks: [(&str, Break); 6] = [
            ("lost", |rows| drop(rows.pop())),
            ("gap", |rows| rows[3].0 = 5),
            ("doubled", |rows| rows[1].1 = row(0, 1).text()),
            ("altered", |rows| rows[0].1.push('!')),
            ("unknown", |rows| rows[2].1 = "something".to_owned()),
            ("order", |rows| rows.iter_mut().rev().zip(sound()).for_each(|(row, was)| row.1 = was.1)),
        ];
        for (name, harm) in breaks {
            let mut rows = sound();
            harm(&mut rows);
            assert_ne!(verdict(&rows, &[(0, 2), (2, 1)]).violations, [""; 0], "{name}");
        }
        assert_eq!(verdict(&sound(), &[(0, 3)]).violations.len(), 1, "acknowledged and not there");
        let many: Vec<_> = (1..=4).map(|n| (i64::from(n), row(0, n).text())).collect();
        assert_eq!(verdict(&many, &[(0, 1)]).violations.len(), 1, "more than one transaction unheard");
    }
}
