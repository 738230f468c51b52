//! Applies changes to entries: pure functions.

use super::entries::{chars, clean, is_one_entry};
use super::{MemoryError, Target};
use hermes_guard::{Scope, scan};

/// Maximum characters of an entry in an error.
const PREVIEW: usize = 80;

/// One change of a file. `old_text` is a part of exactly one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    Add { content: String },
    Replace { old_text: String, content: String },
    Remove { old_text: String },
}

impl Op {
    /// The name in histories and in the tool.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Add { .. } => "add",
            Self::Replace { .. } => "replace",
            Self::Remove { .. } => "remove",
        }
    }
}

/// Returns the entries after all of `ops`, applied in order; the limit holds for the result.
pub(super) fn apply_ops(
    target: Target,
    before: &[String],
    ops: &[Op],
    limit: usize,
) -> Result<Vec<String>, MemoryError> {
    if ops.is_empty() {
        return Err(MemoryError::NoOperations);
    }
    let mut entries = before.to_vec();
    for (at, op) in ops.iter().enumerate() {
        apply_op(op, &mut entries).map_err(|source| in_batch(at, ops.len(), source))?;
    }
    within_limit(target, before, &entries, limit)?;
    Ok(entries)
}

fn in_batch(at: usize, count: usize, source: MemoryError) -> MemoryError {
    match count {
        1 => source,
        _ => MemoryError::InBatch { number: at + 1, count, source: Box::new(source) },
    }
}

fn apply_op(op: &Op, entries: &mut Vec<String>) -> Result<(), MemoryError> {
    match op {
        Op::Add { content } => {
            let content = validate(content)?;
            if !entries.contains(&content) {
                entries.push(content);
            }
        }
        Op::Replace { old_text, content } => {
            let content = validate(content)?;
            let at = find(entries, old_text)?;
            match entries.iter().position(|entry| *entry == content) {
                // The new text already exists as an entry: equal entries are merged.
                Some(same) if same != at => {
                    entries.remove(at);
                }
                _ => entries[at] = content,
            }
        }
        Op::Remove { old_text } => {
            let at = find(entries, old_text)?;
            entries.remove(at);
        }
    }
    Ok(())
}

/// Returns the text as an entry, or an error if it is empty, not one entry, or unsafe.
pub(super) fn validate(content: &str) -> Result<String, MemoryError> {
    let content = clean(content);
    if content.is_empty() {
        return Err(MemoryError::EmptyContent);
    }
    if !is_one_entry(&content) {
        return Err(MemoryError::HoldsMark);
    }
    match scan(&content, Scope::Strict).into_iter().next() {
        Some(found) => Err(MemoryError::Unsafe { id: found.id, excerpt: found.excerpt }),
        None => Ok(content),
    }
}

/// Finds the entry that contains `old_text`.
fn find(entries: &[String], old_text: &str) -> Result<usize, MemoryError> {
    let wanted = clean(old_text);
    if wanted.is_empty() {
        return Err(MemoryError::NoOldText);
    }
    let found: Vec<usize> = (0..entries.len()).filter(|&at| entries[at].contains(&wanted)).collect();
    // An exact match wins over entries that contain the text.
    let exact = found.iter().copied().find(|&at| entries[at] == wanted);
    match (&found[..], exact) {
        ([], _) => Err(MemoryError::NoMatch { old_text: preview(&wanted) }),
        (&[at], _) | (_, Some(at)) => Ok(at),
        (several, None) => Err(MemoryError::SeveralMatches {
            old_text: preview(&wanted),
            previews: several.iter().map(|&at| preview(&entries[at])).collect(),
        }),
    }
}

/// Checks the limit. A file that another program made too long may be shortened in steps.
pub(super) fn within_limit(
    target: Target,
    before: &[String],
    after: &[String],
    limit: usize,
) -> Result<(), MemoryError> {
    let needed = chars(after);
    match needed <= limit || needed < chars(before) {
        true => Ok(()),
        false => Err(MemoryError::OverLimit { target, needed, limit }),
    }
}

/// Returns the beginning of an entry.
pub(super) fn preview(entry: &str) -> String {
    let mut shown: String = entry.chars().take(PREVIEW).collect();
    if shown.len() < entry.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
