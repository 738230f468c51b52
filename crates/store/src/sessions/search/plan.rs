//! Turns a question into statements for the indexes.
//!
//! Every term is quoted, so nothing a person types is ever read as the index's own syntax.

use super::pair_index::grams;
use super::query::{Group, Kind, Term};

/// A full-text table, by the name it has on a reader's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Words,
    Trigrams,
    Pairs,
}

/// Which messages are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// One table leads and knows the best order; the others only narrow it down.
    Led(Lead),
    /// Alternatives that different tables lead.
    Union(Vec<Lead>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lead {
    pub table: Table,
    /// What `MATCH` is given.
    pub text: String,
    pub narrowed: Vec<Narrowed>,
}

/// A message must also be found so in another table, or must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Narrowed {
    pub table: Table,
    pub text: String,
    pub found: bool,
}

impl Table {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Words => "messages_fts",
            Self::Trigrams => "messages_fts_trigram",
            Self::Pairs => "pairs",
        }
    }

    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Word => Self::Words,
            Kind::Part => Self::Trigrams,
            Kind::Pair => Self::Pairs,
        }
    }
}

impl Plan {
    pub(crate) fn new(groups: &[Group]) -> Self {
        let mut kinds = groups.iter().flat_map(terms).map(|term| term.kind);
        let first = kinds.next().unwrap_or(Kind::Word);
        if kinds.all(|kind| kind == first) {
            let alternatives: Vec<_> = groups.iter().map(|group| of_one_kind(group, first)).collect();
            let text = alternatives.join(" OR ");
            return Self::Led(Lead { table: Table::of(first), text, narrowed: Vec::new() });
        }
        let mut leads: Vec<_> = groups.iter().filter_map(lead).collect();
        match leads.len() {
            1 => Self::Led(leads.swap_remove(0)),
            _ => Self::Union(leads),
        }
    }

    pub(crate) fn uses(&self, table: Table) -> bool {
        let of_lead =
            |lead: &Lead| lead.table == table || lead.narrowed.iter().any(|narrowed| narrowed.table == table);
        match self {
            Self::Led(lead) => of_lead(lead),
            Self::Union(leads) => leads.iter().any(of_lead),
        }
    }
}

fn terms(group: &Group) -> impl Iterator<Item = &Term> {
    group.wanted.iter().chain(&group.unwanted)
}

fn of_one_kind(group: &Group, kind: Kind) -> String {
    let wanted = joined(&group.wanted, kind, " AND ").unwrap_or_default();
    match joined(&group.unwanted, kind, " OR ") {
        None => format!("({wanted})"),
        Some(unwanted) => format!("(({wanted}) NOT ({unwanted}))"),
    }
}

/// Words lead if there are any, because they rank best.
fn lead(group: &Group) -> Option<Lead> {
    let kinds = [Kind::Word, Kind::Part, Kind::Pair];
    let mut found = Vec::new();
    for kind in kinds {
        let table = Table::of(kind);
        found.extend(joined(&group.wanted, kind, " AND ").map(|text| Narrowed { table, text, found: true }));
        found.extend(joined(&group.unwanted, kind, " OR ").map(|text| Narrowed {
            table,
            text,
            found: false,
        }));
    }
    let leading = found.iter().position(|narrowed| narrowed.found)?;
    let Narrowed { table, text, .. } = found.remove(leading);
    Some(Lead { table, text, narrowed: found })
}

/// The terms of one kind, quoted; `None` when there are none.
fn joined(terms: &[Term], kind: Kind, by: &str) -> Option<String> {
    let quoted: Vec<_> = terms.iter().filter(|term| term.kind == kind).map(quoted).collect();
    (!quoted.is_empty()).then(|| quoted.join(by))
}

fn quoted(term: &Term) -> String {
    match term.kind {
        Kind::Word if term.prefix => format!("\"{}\"*", term.text),
        // Trigrams find parts of words anyway.
        Kind::Word | Kind::Part => format!("\"{}\"", term.text),
        Kind::Pair => format!("\"{}\"", grams::of_term(&term.text)),
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
