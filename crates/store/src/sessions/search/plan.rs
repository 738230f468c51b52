//! Plans a query as statements for the indexes.
//!
//! Every term is quoted, so input is never parsed as the syntax of the index.

use super::pair_index::grams;
use super::query::{Group, Kind, Term};

/// A full-text table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Words,
    Trigrams,
    Pairs,
}

/// The plan of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// One table leads and ranks the hits; the others only narrow them down.
    Led(Lead),
    /// Alternatives with different leading tables.
    Union(Vec<Lead>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lead {
    pub table: Table,
    /// The argument of `MATCH`.
    pub text: String,
    pub narrowed: Vec<Narrowed>,
}

/// A condition on another table, wanted or unwanted.
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

/// Chooses the leading table. The word index leads if possible, because it ranks best.
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

/// Joins the quoted terms of one kind; `None` if there are none.
fn joined(terms: &[Term], kind: Kind, by: &str) -> Option<String> {
    let quoted: Vec<_> = terms.iter().filter(|term| term.kind == kind).map(quoted).collect();
    (!quoted.is_empty()).then(|| quoted.join(by))
}

fn quoted(term: &Term) -> String {
    match term.kind {
        Kind::Word if term.prefix => format!("\"{}\"*", term.text),
        // Trigrams also find prefixes.
        Kind::Word | Kind::Part => format!("\"{}\"", term.text),
        Kind::Pair => format!("\"{}\"", grams::of_term(&term.text)),
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
