//! Adds title, source and end reason to the counted sessions.

use super::gather::{Gathered, SessionSum};
use super::{Count, InsightsFilter, SessionUse, Share, counts};
use crate::sessions::compaction::originals::is_original;
use crate::sessions::listing::preview;
use crate::sessions::rows::decode;
use hermes_conversation::{SessionId, Usage};
use rusqlite::Connection;
use std::collections::HashMap;

/// Columns of a session's row.
pub(super) struct Facts {
    source: String,
    title: Option<String>,
    started_at: f64,
    ended_at: Option<f64>,
    end_reason: Option<String>,
}

/// Reads the rows of many sessions in one query.
pub(super) fn facts<'a>(
    db: &Connection,
    ids: impl Iterator<Item = &'a String>,
) -> rusqlite::Result<HashMap<String, Facts>> {
    db.prepare(
        "SELECT id, source, title, started_at, ended_at, end_reason FROM sessions
         WHERE id IN (SELECT value FROM json_each(?1))",
    )?
    .query_map([id_list(ids)], |row| {
        let facts = Facts {
            source: decode::text(row, 1)?.unwrap_or_default(),
            title: decode::text(row, 2)?,
            started_at: row.get(3)?,
            ended_at: row.get_ref(4)?.as_f64_or_null().unwrap_or_default(),
            end_reason: decode::text(row, 5)?,
        };
        Ok((row.get(0)?, facts))
    })?
    .collect()
}

/// Returns ids as one parameter.
pub(super) fn id_list<'a>(ids: impl Iterator<Item = &'a String>) -> String {
    serde_json::to_string(&ids.collect::<Vec<_>>()).unwrap_or_default()
}

/// Returns the sessions with the most tokens, the largest first, without those that used none.
pub(super) fn largest(gathered: &Gathered, top: usize) -> Vec<&String> {
    ranked(gathered, top, |sum| sum.usage.total() as f64)
}

fn ranked(gathered: &Gathered, top: usize, by: impl Fn(&SessionSum) -> f64) -> Vec<&String> {
    let mut found: Vec<_> =
        gathered.sessions.iter().map(|(id, sum)| (id, by(sum))).filter(|(_, size)| *size > 0.0).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    found.into_iter().take(top).map(|(id, _)| id).collect()
}

/// Sums and rows together.
pub(super) struct Named<'a> {
    pub(super) gathered: &'a Gathered,
    pub(super) facts: &'a HashMap<String, Facts>,
}

impl<'a> Named<'a> {
    /// Returns the session with the most active time, if any.
    pub(super) fn longest(&self) -> Vec<&'a String> {
        ranked(self.gathered, 1, |sum| sum.active_seconds)
    }

    /// Returns the sources, sorted by messages.
    pub(super) fn sources(&self) -> Vec<Share> {
        let mut shares: HashMap<&str, Share> = HashMap::new();
        for (id, sum) in &self.gathered.sessions {
            let Some(facts) = self.facts.get(id) else { continue };
            let share = shares.entry(&facts.source).or_insert_with(|| Share {
                name: facts.source.clone(),
                sessions: 0,
                messages: 0,
                api_calls: 0,
                usage: Usage::default(),
            });
            share.sessions += 1;
            share.messages += sum.messages.total();
            share.api_calls += sum.api_calls;
            share.usage += sum.usage;
        }
        let mut sources: Vec<_> = shares.into_values().collect();
        sources.sort_by(|a, b| b.messages.cmp(&a.messages).then_with(|| a.name.cmp(&b.name)));
        sources
    }

    pub(super) fn ends(&self, filter: &InsightsFilter) -> Vec<Count> {
        let mut ends: HashMap<String, u64> = HashMap::new();
        for facts in self.facts.values() {
            if facts.ended_at.is_some_and(|at| at >= filter.since && at < filter.until) {
                let reason = facts.end_reason.clone().unwrap_or_else(|| "unknown".to_owned());
                *ends.entry(reason).or_default() += 1;
            }
        }
        counts(ends)
    }

    /// Returns these sessions with all details, in the given order.
    pub(super) fn described(&self, db: &Connection, ids: Vec<&String>) -> rusqlite::Result<Vec<SessionUse>> {
        let mut previews = previews(db, &ids)?;
        let describe = |id: &String| {
            let (facts, sum) = (self.facts.get(id)?, self.gathered.sessions.get(id)?);
            Some(SessionUse {
                id: SessionId::new(id.as_str()),
                title: facts.title.clone(),
                preview: previews.remove(id).unwrap_or_default(),
                source: facts.source.clone(),
                started_at: facts.started_at,
                messages: sum.messages.total(),
                api_calls: sum.api_calls,
                usage: sum.usage,
                active_seconds: sum.active_seconds,
            })
        };
        Ok(ids.into_iter().filter_map(describe).collect())
    }
}

fn previews(db: &Connection, ids: &[&String]) -> rusqlite::Result<HashMap<String, String>> {
    db.prepare(&format!(
        "SELECT value, (SELECT m.content FROM messages AS m
                        WHERE m.session_id = value AND m.role = 'user' AND m.content IS NOT NULL AND {}
                        ORDER BY m.id LIMIT 1) FROM json_each(?1)",
        is_original("m")
    ))?
    .query_map([id_list(ids.iter().copied())], |row| {
        Ok((row.get(0)?, preview(&decode::text(row, 1)?.unwrap_or_default())))
    })?
    .collect()
}
