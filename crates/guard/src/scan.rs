//! Finds and removes prompt injections.
//!
//! [`scan`] returns findings with their positions; [`neutralise`] returns the text without them. Both read the
//! whole text in linear time: each word is looked up in one tree, and a phrase keeps only the position of its
//! last word, so there is no backtracking.
//!
//! Quotation marks and code fences are no protection: a model reads the text inside them, too. A page about
//! attacks therefore loses the lines with examples.

mod char_classes;
mod commands;
mod entities;
mod excerpt;
mod hidden;
mod local_address;
mod lookalikes;
mod neutralise;
mod normal_form;
mod phrase_checks;
mod phrase_tree;
mod phrases;
mod rules;
mod secret_values;

pub use neutralise::{Neutralised, neutralise};

use std::ops::Range;

use normal_form::{Hidden, NormalForm};

/// The strictness of a scan. Each scope includes the rules of the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Rules for any text.
    All,
    /// Rules for files with instructions to the agent: also roles, identities, remote control.
    Context,
    /// Rules for text that the agent stores: memory and skills.
    Strict,
}

/// One match of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule, for instance `prompt_injection` or `invisible_unicode_U+200B`.
    pub id: String,
    /// The byte range in the original text.
    pub at: Range<usize>,
    /// The line in which it begins, from 1.
    pub line: usize,
    /// A short excerpt that is safe to show: one line, no invisible characters, no credential.
    pub excerpt: String,
}

/// A match before it is described, with the range to remove.
struct Match {
    id: String,
    at: Range<usize>,
    /// The range that [`neutralise`] removes.
    cut: Range<usize>,
}

/// Returns all findings of the scope in the order of the text.
pub fn scan(text: &str, scope: Scope) -> Vec<Finding> {
    described(text, &found(text, scope))
}

fn found(text: &str, scope: Scope) -> Vec<Match> {
    let mut all = hidden::find(text);
    let mut words = phrases::find(text, &NormalForm::of(text, Hidden::Dropped), scope);
    if !all.is_empty() {
        // Hidden characters may split a word, or replace the spaces.
        words.extend(phrases::find(text, &NormalForm::of(text, Hidden::Blank), scope));
    }
    if scope == Scope::Strict {
        words.extend(secret_values::find(text));
    }
    all.extend(without_repeats(words));
    all.sort_by(|a, b| (a.at.start, a.at.end, &a.id).cmp(&(b.at.start, b.at.end, &b.id)));
    all
}

/// Keeps the first of overlapping matches with the same id.
fn without_repeats(mut all: Vec<Match>) -> Vec<Match> {
    all.sort_by(|a, b| (&a.id, a.at.start, a.at.end).cmp(&(&b.id, b.at.start, b.at.end)));
    all.dedup_by(|next, kept| next.id == kept.id && next.at.start < kept.at.end);
    all
}

fn described(text: &str, found: &[Match]) -> Vec<Finding> {
    let (mut line, mut counted) = (1, 0);
    let describe = |found: &Match| {
        line += text[counted..found.at.start].bytes().filter(|byte| *byte == b'\n').count();
        counted = found.at.start;
        let excerpt = excerpt::of(text, found);
        Finding { id: found.id.clone(), at: found.at.clone(), line, excerpt }
    };
    found.iter().map(describe).collect()
}
