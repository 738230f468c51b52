//! Runs a query on the indexes, or on the messages themselves.

use super::comparison::Comparison;
use super::display_text::DisplayText;
use super::filter::Scope;
use super::pair_index::readable_text::{self, READABLE_WIDTH, Readable};
use super::pair_index::{IndexPosition, grams};
use super::plan::{Lead, Plan, Table};
use super::query::Group;
use super::{HIT_COLUMNS, HIT_WIDTH, ROLE, SearchHit, Sort, hit, snippet};
use crate::sessions::rows::counts::stored;
use crate::sessions::rows::decode;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use std::collections::HashSet;

pub(super) struct Search<'a> {
    pub(super) plan: Plan,
    pub(super) groups: &'a [Group],
    pub(super) scope: &'a Scope,
}

/// The rows to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    All,
    UpTo(i64),
    After(i64),
    /// Only messages with text that is hidden from the shared indexes.
    HiddenAfter(i64),
}

impl Rows {
    fn condition(self) -> String {
        match self {
            Self::All => String::new(),
            Self::UpTo(last) => format!(" AND m.id <= {last}"),
            Self::After(last) | Self::HiddenAfter(last) => format!(" AND m.id > {last}"),
        }
    }
}

impl Search<'_> {
    pub(super) fn by_plan(&self, db: &Connection, rows: Rows) -> rusqlite::Result<Vec<SearchHit>> {
        match &self.plan {
            Plan::Led(lead) if lead.table == Table::Pairs => {
                self.by_leads(db, std::slice::from_ref(lead), rows)
            }
            Plan::Led(lead) => self.by_rank(db, lead, rows),
            Plan::Union(leads) => self.by_leads(db, leads, rows),
        }
    }

    /// Searches a table that ranks its hits.
    fn by_rank(&self, db: &Connection, lead: &Lead, rows: Rows) -> rusqlite::Result<Vec<SearchHit>> {
        let mut values = Vec::new();
        let found = found(lead, &mut values);
        let condition = self.scope.condition(&mut values);
        let table = lead.table.name();
        // Joined in this order, so that only the best hits are read further.
        let sql = format!(
            "SELECT {HIT_COLUMNS}, {}, snippet({table}, 0, '>>>', '<<<', '...', 40)
             FROM {table} CROSS JOIN messages AS m ON m.id = {table}.rowid JOIN sessions AS s ON s.id = m.session_id
             WHERE {found} AND {condition}{} ORDER BY {} LIMIT {}",
            readable_text::COLUMNS,
            rows.condition(),
            self.scope.filter.order("rank"),
            stored(self.scope.filter.needed())
        );
        let comparison = Comparison::new(self.groups);
        db.prepare_cached(&sql)?
            .query_map(params_from_iter(values), |row| {
                hit_with_snippet(row, &comparison, || {
                    Ok(decode::text(row, HIT_WIDTH + READABLE_WIDTH)?.unwrap_or_default())
                })
            })?
            .collect()
    }

    /// Searches tables that cannot rank, or several with different ranks: newest first.
    fn by_leads(&self, db: &Connection, leads: &[Lead], rows: Rows) -> rusqlite::Result<Vec<SearchHit>> {
        let mut values = Vec::new();
        let (from, id) = match leads {
            [lead] => (lead.table.name().to_owned(), format!("{}.rowid", lead.table.name())),
            _ => {
                let ids: Vec<_> = leads.iter().map(|lead| ids(lead, &mut values)).collect();
                (format!("({}) AS found", ids.join(" UNION ")), "found.id".to_owned())
            }
        };
        let alone = match leads {
            [lead] => format!("{} AND ", found(lead, &mut values)),
            _ => String::new(),
        };
        let condition = self.scope.condition(&mut values);
        let newest = if leads.len() == 1 { "pairs.rowid DESC" } else { "m.id DESC" };
        let sql = format!(
            "SELECT {HIT_COLUMNS}, {} FROM {from} CROSS JOIN messages AS m ON m.id = {id}
             JOIN sessions AS s ON s.id = m.session_id
             WHERE {alone}{condition}{} ORDER BY {} LIMIT {}",
            readable_text::COLUMNS,
            rows.condition(),
            self.scope.filter.order(newest),
            stored(self.scope.filter.needed())
        );
        let comparison = Comparison::new(self.groups);
        db.prepare_cached(&sql)?
            .query_map(params_from_iter(values), |row| {
                hit_with_snippet(row, &comparison, || {
                    let said = Readable::from_row(row, HIT_WIDTH)?;
                    Ok(snippet::snippet(&said.text, comparison.wanted()))
                })
            })?
            .collect()
    }

    /// Compares messages one by one, newest first.
    pub(super) fn by_comparing(&self, db: &Connection, rows: Rows) -> rusqlite::Result<Vec<SearchHit>> {
        let mut values = Vec::new();
        let condition = self.scope.condition(&mut values);
        let only_hidden = matches!(rows, Rows::HiddenAfter(_));
        self.compare(db, &format!("{condition}{}", rows.condition()), values, only_hidden)
    }

    /// Finds messages with hidden text that have every pair of every term, and compares them.
    pub(super) fn by_hidden(
        &self,
        db: &Connection,
        known: IndexPosition,
    ) -> rusqlite::Result<Vec<SearchHit>> {
        if known.hidden == 0 {
            return Ok(Vec::new());
        }
        let alternatives: Vec<_> = self.groups.iter().map(hidden_terms).collect();
        let mut values = vec![Value::from(alternatives.join(" OR "))];
        let condition = self.scope.condition(&mut values);
        let sql = format!("m.id IN (SELECT rowid FROM pairs WHERE pairs MATCH ?) AND {condition}");
        self.compare(db, &sql, values, true)
    }

    fn compare(
        &self,
        db: &Connection,
        condition: &str,
        values: Vec<Value>,
        only_hidden: bool,
    ) -> rusqlite::Result<Vec<SearchHit>> {
        let comparison = Comparison::new(self.groups);
        let sql = format!(
            "SELECT {HIT_COLUMNS}, {} FROM messages AS m CROSS JOIN sessions AS s ON s.id = m.session_id
             WHERE {condition} ORDER BY {}",
            readable_text::COLUMNS,
            self.scope.filter.order("m.id DESC")
        );
        let mut find = db.prepare_cached(&sql)?;
        let mut rows = find.query(params_from_iter(values))?;
        let mut hits = Vec::new();
        while let Some(row) = rows.next()? {
            let said = Readable::from_row(row, HIT_WIDTH)?;
            if (said.is_hidden || !only_hidden) && comparison.matches(&said.text) {
                let snippet = || Ok(snippet::snippet(&said.text, comparison.wanted()));
                hits.push(hit_with_snippet(row, &comparison, snippet)?);
                if hits.len() >= self.scope.filter.needed() {
                    break;
                }
            }
        }
        Ok(hits)
    }

    /// Merges hits of several searches into one page.
    pub(super) fn arranged(&self, mut hits: Vec<SearchHit>) -> Vec<SearchHit> {
        let mut seen = HashSet::new();
        hits.retain(|hit| seen.insert(hit.message));
        match self.scope.filter.sort {
            Sort::Rank => {}
            Sort::Newest => hits.sort_by(|a, b| by_time(b, a)),
            Sort::Oldest => hits.sort_by(by_time),
        }
        hits.into_iter().skip(self.scope.filter.offset).take(self.scope.filter.limit).collect()
    }
}

/// Builds a hit with a readable snippet; `stored` gives the snippet of a message whose stored form is
/// readable.
fn hit_with_snippet(
    row: &Row<'_>,
    comparison: &Comparison,
    stored: impl FnOnce() -> rusqlite::Result<String>,
) -> rusqlite::Result<SearchHit> {
    let role = decode::text(row, ROLE)?.unwrap_or_default();
    match DisplayText::from_row(row, &role, HIT_WIDTH)? {
        None => hit(row, stored()?),
        Some(shown) => {
            let found = hit(row, snippet::snippet(&shown.text, comparison.wanted()))?;
            Ok(SearchHit { tool_name: found.tool_name.clone().or(shown.tools), ..found })
        }
    }
}

fn by_time(a: &SearchHit, b: &SearchHit) -> std::cmp::Ordering {
    a.timestamp.total_cmp(&b.timestamp).then(a.message.0.cmp(&b.message.0))
}

/// Returns the condition of a lead on its table.
fn found(lead: &Lead, values: &mut Vec<Value>) -> String {
    let table = lead.table.name();
    let mut sql = format!("{table} MATCH ?");
    values.push(lead.text.clone().into());
    for narrowed in &lead.narrowed {
        let other = narrowed.table.name();
        let is = if narrowed.found { "IN" } else { "NOT IN" };
        sql.push_str(&format!(" AND {table}.rowid {is} (SELECT rowid FROM {other} WHERE {other} MATCH ?)"));
        values.push(narrowed.text.clone().into());
    }
    sql
}

fn ids(lead: &Lead, values: &mut Vec<Value>) -> String {
    format!("SELECT rowid AS id FROM {} WHERE {}", lead.table.name(), found(lead, values))
}

fn hidden_terms(group: &Group) -> String {
    let terms: Vec<_> = group.wanted.iter().map(|term| grams::all_of_term(&term.text)).collect();
    format!("({})", terms.join(" AND "))
}
