//! Finds text that tries to steer the agent, and takes it out.
//!
//! [`scan`] says what is wrong with a text and where; [`neutralise`] gives the text without it. Both
//! read the whole text, in time that grows with its length: words are looked up in one tree, and a
//! phrase remembers only where its last word stood, so there is nothing that could go back.
//!
//! Quotation marks and code fences protect nothing: a model reads the words inside them, too. What a
//! page about attacks loses by that is the line with the example.

mod checks;
mod commands;
mod entities;
mod excerpt;
mod hidden;
mod local;
mod lookalikes;
mod neutralise;
mod phrases;
mod rules;
mod scripts;
mod secret_values;
mod tree;
mod view;

pub use neutralise::{Neutralised, neutralise};

use std::ops::Range;

use view::{Hidden, View};

/// How much is looked for. Each scope has everything of the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// What is wrong in any text.
    All,
    /// What is also wrong in files that speak to the agent: roles, identities, remote control.
    Context,
    /// What is also wrong in what the agent keeps for itself, memory and skills.
    Strict,
}

/// One thing that should not be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is, for instance `prompt_injection` or `invisible_unicode_U+200B`.
    pub id: String,
    /// Where it stands, in bytes of the original text.
    pub at: Range<usize>,
    /// The line it begins in, counting from 1.
    pub line: usize,
    /// A short piece of the text, safe to show: on one line, nothing invisible, no credential.
    pub excerpt: String,
}

/// What a scan found, and what would have to go.
struct Found {
    id: String,
    at: Range<usize>,
    /// The stretch that [`neutralise`] takes out.
    cut: Range<usize>,
}

/// Everything in `text` that is wrong in this scope, in the order of the text.
pub fn scan(text: &str, scope: Scope) -> Vec<Finding> {
    described(text, &found(text, scope))
}

fn found(text: &str, scope: Scope) -> Vec<Found> {
    let mut all = hidden::find(text);
    let mut words = phrases::find(text, &View::of(text, Hidden::Dropped), scope);
    if !all.is_empty() {
        // Hidden characters may split a word, or stand where the blanks should be.
        words.extend(phrases::find(text, &View::of(text, Hidden::Blank), scope));
    }
    if scope == Scope::Strict {
        words.extend(secret_values::find(text));
    }
    all.extend(without_repeats(words));
    all.sort_by(|a, b| (a.at.start, a.at.end, &a.id).cmp(&(b.at.start, b.at.end, &b.id)));
    all
}

/// One of several findings with the same id that overlap: the first.
fn without_repeats(mut all: Vec<Found>) -> Vec<Found> {
    all.sort_by(|a, b| (&a.id, a.at.start, a.at.end).cmp(&(&b.id, b.at.start, b.at.end)));
    all.dedup_by(|next, kept| next.id == kept.id && next.at.start < kept.at.end);
    all
}

fn described(text: &str, found: &[Found]) -> Vec<Finding> {
    let (mut line, mut counted) = (1, 0);
    let describe = |found: &Found| {
        line += text[counted..found.at.start].bytes().filter(|byte| *byte == b'\n').count();
        counted = found.at.start;
        let excerpt = excerpt::of(text, found);
        Finding { id: found.id.clone(), at: found.at.clone(), line, excerpt }
    };
    found.iter().map(describe).collect()
}
