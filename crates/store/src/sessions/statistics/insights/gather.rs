//! Adds up messages and tokens per session, in one pass each.
//!
//! Only rows of the period are read: messages through the index on session and time, without reading the
//! rows of sessions, which contain long prompts.

use super::costs::SessionCost;
use super::{ApprovalCounts, Count, InsightsFilter, LONGEST_PAUSE, MessageCounts, Share, counts};
use crate::sessions::compaction::originals::is_original;
use crate::sessions::rows::counts::count;
use crate::sessions::rows::decode;
use hermes_conversation::Usage;
use rusqlite::{Connection, Row, params};
use std::collections::{BTreeMap, HashMap, HashSet};

const QUARTER: i64 = 900;

/// Sums per session, tool, model and quarter of an hour.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) sessions: HashMap<String, SessionSum>,
    pub(super) tools: HashMap<String, u64>,
    pub(super) quarters: BTreeMap<i64, u64>,
    models: HashMap<String, ModelSum>,
}

/// Sums of one session.
#[derive(Default)]
pub(super) struct SessionSum {
    pub(super) messages: MessageCounts,
    pub(super) active_seconds: f64,
    pub(super) api_calls: u64,
    pub(super) usage: Usage,
    pub(super) cost: SessionCost,
    last: Option<f64>,
}

#[derive(Default)]
struct ModelSum {
    /// A session has a row for each task and address of the model, and counts once.
    sessions: HashSet<String>,
    api_calls: u64,
    usage: Usage,
}

/// Tool calls of one session by tool: requested and answered ones.
#[derive(Default)]
struct ToolCounts {
    requested: HashMap<String, u64>,
    answered: HashMap<String, u64>,
}

impl ToolCounts {
    /// Returns the larger of both sides and resets the counts. Rows of other programs can lack either; adding
    /// both would count calls twice.
    fn take(&mut self) -> HashMap<String, u64> {
        let Self { requested, answered } = std::mem::take(self);
        let total = |side: &HashMap<String, u64>| side.values().sum::<u64>();
        if total(&answered) > total(&requested) { answered } else { requested }
    }
}

/// Reads the messages of all sessions, or of `only` some.
pub(super) fn messages(
    db: &Connection,
    filter: &InsightsFilter,
    only: Option<&str>,
    into: &mut Gathered,
) -> rusqlite::Result<()> {
    let mut find = db.prepare(&message_sql(filter.source.is_some(), only.is_some()))?;
    let mut rows = find.query(params![filter.since, filter.until, filter.source, only])?;
    let (mut session, mut tools) = (String::new(), ToolCounts::default());
    while let Some(row) = rows.next()? {
        let id = row.get_ref(0)?.as_str()?;
        if id != session {
            into.settle(&mut tools);
            id.clone_into(&mut session);
            into.sessions.entry(session.clone()).or_default();
        }
        if let Some(sum) = into.sessions.get_mut(&session) {
            let at: f64 = row.get(1)?;
            sum.count_message(at, row.get_ref(2)?.as_str().unwrap_or_default());
            *into.quarters.entry((at as i64).div_euclid(QUARTER) * QUARTER).or_default() += 1;
        }
        tools_of(row, &mut tools)?;
    }
    into.settle(&mut tools);
    Ok(())
}

/// Returns the query. CROSS JOIN forces the planner to use the order of the indexes.
fn message_sql(by_source: bool, by_id: bool) -> String {
    let source = if by_source { "s.source = ?3" } else { "?3 IS NULL" };
    let id = if by_id { "s.id IN (SELECT value FROM json_each(?4))" } else { "?4 IS NULL" };
    format!(
        "SELECT s.id, m.timestamp, m.role, CASE m.role WHEN 'assistant' THEN m.tool_calls END,
                CASE m.role WHEN 'tool' THEN m.tool_name END
         FROM sessions AS s CROSS JOIN messages AS m
              ON m.session_id = s.id AND m.timestamp >= ?1 AND m.timestamp < ?2
         WHERE {source} AND {id} AND {is_original} ORDER BY s.id, m.timestamp",
        is_original = is_original("m")
    )
}

fn tools_of(row: &Row<'_>, tools: &mut ToolCounts) -> rusqlite::Result<()> {
    if let Some(stored) = decode::text(row, 3)? {
        for call in decode::calls(&stored) {
            *tools.requested.entry(call.name).or_default() += 1;
        }
    }
    if let Some(name) = decode::text(row, 4)? {
        *tools.answered.entry(name).or_default() += 1;
    }
    Ok(())
}

impl SessionSum {
    fn count_message(&mut self, at: f64, role: &str) {
        match role {
            "user" => self.messages.user += 1,
            "assistant" => self.messages.assistant += 1,
            "tool" => self.messages.tool += 1,
            _ => self.messages.other += 1,
        }
        let pause = self.last.map_or(0.0, |last| at - last);
        if pause <= LONGEST_PAUSE {
            self.active_seconds += pause.max(0.0);
        }
        self.last = Some(at);
    }
}

/// Reads the token usage: totals per session and model, and the session's counters if there are none.
pub(super) fn usage(db: &Connection, filter: &InsightsFilter, into: &mut Gathered) -> rusqlite::Result<()> {
    let source = if filter.source.is_some() { "s.source = ?3" } else { "?3 IS NULL" };
    let mut find = db.prepare(&format!(
        "SELECT u.session_id, u.model, u.api_call_count, u.input_tokens, u.output_tokens, u.cache_read_tokens,
                u.cache_write_tokens, u.reasoning_tokens, u.estimated_cost_usd, u.actual_cost_usd, u.cost_status
         FROM session_model_usage AS u CROSS JOIN sessions AS s ON s.id = u.session_id
         WHERE COALESCE(u.last_seen, u.first_seen, s.started_at) >= ?1
           AND COALESCE(u.last_seen, u.first_seen, s.started_at) < ?2 AND {source}
         UNION ALL
         SELECT s.id, COALESCE(s.model, 'unknown'), s.api_call_count, s.input_tokens, s.output_tokens,
                s.cache_read_tokens, s.cache_write_tokens, s.reasoning_tokens, s.estimated_cost_usd,
                s.actual_cost_usd, s.cost_status
         FROM sessions AS s WHERE s.started_at >= ?1 AND s.started_at < ?2 AND {source}
           AND NOT EXISTS (SELECT 1 FROM session_model_usage AS u WHERE u.session_id = s.id)"
    ))?;
    let mut rows = find.query(params![filter.since, filter.until, filter.source])?;
    while let Some(row) = rows.next()? {
        into.count_usage(row)?;
    }
    Ok(())
}

impl Gathered {
    fn count_usage(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let id = decode::text(row, 0)?.unwrap_or_default();
        let model = decode::text(row, 1)?.unwrap_or_default();
        let calls = count(row, 2)?;
        let usage = Usage {
            input: count(row, 3)?,
            output: count(row, 4)?,
            cache_read: count(row, 5)?,
            cache_write: count(row, 6)?,
            reasoning: count(row, 7)?,
        };
        let was_used = calls > 0 || usage != Usage::default();
        let session = self.sessions.entry(id.clone()).or_default();
        session.api_calls += calls;
        session.usage += usage;
        session.cost.add(row, 8, was_used)?;
        if was_used {
            let sum = self.models.entry(model).or_default();
            sum.sessions.insert(id);
            sum.api_calls += calls;
            sum.usage += usage;
        }
        Ok(())
    }

    /// Adds the tool calls of one session to the totals.
    fn settle(&mut self, tools: &mut ToolCounts) {
        for (name, count) in tools.take().into_iter().filter(|(name, _)| !name.is_empty()) {
            *self.tools.entry(name).or_default() += count;
        }
    }

    /// Returns the models, sorted by tokens.
    pub(super) fn models(&self) -> Vec<Share> {
        let share = |(name, sum): (&String, &ModelSum)| Share {
            name: name.clone(),
            sessions: sum.sessions.len() as u64,
            messages: 0,
            api_calls: sum.api_calls,
            usage: sum.usage,
        };
        let mut models: Vec<_> = self.models.iter().map(share).collect();
        models.sort_by(|a, b| b.usage.total().cmp(&a.usage.total()).then_with(|| a.name.cmp(&b.name)));
        models
    }
}

/// Counts decisions about calls. A call with several rules counts for each of them.
pub(super) fn approvals(db: &Connection, filter: &InsightsFilter) -> rusqlite::Result<ApprovalCounts> {
    let mut statement = db.prepare(
        "SELECT d.rules, d.asked, d.decision IN ('denied', 'cancelled'), COUNT(*)
         FROM hx_decisions d JOIN sessions s ON s.id = d.session
         WHERE d.at >= ?1 AND d.at < ?2 AND (?3 IS NULL OR s.source = ?3)
         GROUP BY 1, 2, 3",
    )?;
    let mut rows = statement.query(params![filter.since, filter.until, filter.source])?;
    let mut found = ApprovalCounts::default();
    let mut rules: BTreeMap<String, u64> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (names, asked, denied): (String, bool, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let count = count(row, 3)?;
        found.denied += if denied { count } else { 0 };
        if asked {
            found.asked += count;
            for rule in names.lines() {
                *rules.entry(rule.to_owned()).or_default() += count;
            }
        }
    }
    found.rules = counts(rules);
    Ok(found)
}

/// Counts the exit reasons of the turns that began in the period.
pub(super) fn turn_exits(db: &Connection, filter: &InsightsFilter) -> rusqlite::Result<Vec<Count>> {
    let ends = db
        .prepare(
            "SELECT CASE state WHEN 'open' THEN 'open' ELSE COALESCE(exit_reason, 'unknown') END, COUNT(*)
             FROM hx_turns WHERE started_at >= ?1 AND started_at < ?2
               AND (?3 IS NULL OR session IN (SELECT id FROM sessions WHERE source = ?3)) GROUP BY 1",
        )?
        .query_map(params![filter.since, filter.until, filter.source], |row| {
            Ok((decode::text(row, 0)?.unwrap_or_default(), count(row, 1)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(counts(ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorting a million rows, or reading every row of every session, would be too slow.
    #[test]
    fn messages_are_read_through_their_indexes() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("../../schema/tables.sql")).unwrap();
        db.execute_batch(include_str!("../../schema/indexes.sql")).unwrap();
        db.execute_batch(include_str!("../../schema/own_tables.sql")).unwrap();
        for (by_source, by_id) in [(false, false), (true, false), (false, true)] {
            let sql = format!("EXPLAIN QUERY PLAN {}", message_sql(by_source, by_id));
            let mut explain = db.prepare(&sql).unwrap();
            let nothing = params![None::<f64>, None::<f64>, None::<String>, None::<String>];
            let plan = explain.query_map(nothing, |row| row.get(3)).unwrap();
            let plan: Vec<String> = plan.map(Result::unwrap).collect();
            assert!(plan[0].contains("s USING COVERING INDEX"), "{plan:?}");
            let by_time = "(session_id=? AND timestamp>? AND timestamp<?)";
            assert!(plan.iter().any(|step| step.contains(by_time)), "{plan:?}");
            assert!(plan.iter().all(|step| step != "USE TEMP B-TREE FOR ORDER BY"), "{plan:?}");
        }
    }
}
