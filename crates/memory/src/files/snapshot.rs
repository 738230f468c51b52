//! The memory in a session's system prompt: rendered once, when the session begins.

use super::entries::{chars, join};
use super::{MemoryBook, Target};
use hermes_guard::{Scope, scan};

const RULE_WIDTH: usize = 46;

/// The two blocks for a system prompt, with notices for the user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemorySnapshot {
    pub memory: Option<String>,
    pub user: Option<String>,
    /// Entries that are left out because they are unsafe.
    pub masked: Vec<MaskedEntry>,
    /// Errors of files that are left out.
    pub problems: Vec<String>,
}

/// An entry that is left out of prompts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskedEntry {
    pub target: Target,
    /// Position in the file, from 1.
    pub number: usize,
    /// Ids of the findings, such as `prompt_injection`.
    pub ids: Vec<String>,
}

impl MemorySnapshot {
    /// Returns a notice for the user, if necessary.
    pub fn notice(&self) -> Option<String> {
        let masked = self.masked.iter().map(|entry| {
            let (number, file, ids) = (entry.number, entry.target.file_name(), entry.ids.join(", "));
            format!("entry {number} of {file} looks unsafe ({ids}) and is hidden from the model")
        });
        let mut all: Vec<String> = masked.chain(self.problems.iter().cloned()).collect();
        if !self.masked.is_empty() {
            all.push("run `hermes memory show` to see it".to_owned());
        }
        (!all.is_empty()).then(|| all.join("; "))
    }
}

impl MemoryBook {
    /// Renders both files. An unreadable file is reported as a problem and does not affect the other.
    pub fn snapshot(&self) -> MemorySnapshot {
        let mut snapshot = MemorySnapshot::default();
        for target in Target::ALL {
            if !self.settings.is_enabled(target) {
                continue;
            }
            match self.page(target) {
                Ok(page) => {
                    let (entries, masked) = masked(target, &page.entries);
                    snapshot.masked.extend(masked);
                    let block = block(target, &entries, page.limit);
                    match target {
                        Target::Memory => snapshot.memory = block,
                        Target::User => snapshot.user = block,
                    }
                }
                Err(error) => snapshot.problems.push(error.to_string()),
            }
        }
        snapshot
    }
}

/// Replaces unsafe entries by a note for the model.
pub(super) fn masked(target: Target, entries: &[String]) -> (Vec<String>, Vec<MaskedEntry>) {
    let mut masked = Vec::new();
    let shown = entries.iter().enumerate().map(|(at, entry)| {
        let mut ids: Vec<String> = scan(entry, Scope::Strict).into_iter().map(|found| found.id).collect();
        if ids.is_empty() {
            return entry.clone();
        }
        ids.sort();
        ids.dedup();
        let (number, file, found) = (at + 1, target.file_name(), ids.join(", "));
        masked.push(MaskedEntry { target, number, ids });
        format!("[entry {number} of {file} is not shown: it looks unsafe ({found}). The user can look at it with `hermes memory show`.]")
    });
    (shown.collect(), masked)
}

/// Renders the block of one file; `None` for an empty file.
fn block(target: Target, entries: &[String], limit: usize) -> Option<String> {
    if entries.is_empty() {
        return None;
    }
    let rule = "═".repeat(RULE_WIDTH);
    let header = match target {
        Target::Memory => "MEMORY (your personal notes)",
        Target::User => "USER PROFILE (who the user is)",
    };
    let usage = usage(chars(entries), limit);
    Some(format!("{rule}\n{header} [{usage}]\n{rule}\n{}", join(entries)))
}

/// Returns the usage of a file, such as `0% — 19/2,200 chars`.
pub(super) fn usage(used: usize, limit: usize) -> String {
    let percent = (used * 100).checked_div(limit).unwrap_or(0).min(100);
    format!("{percent}% — {}/{} chars", thousands(used), thousands(limit))
}

/// Formats a number with thousands separators.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
#[path = "snapshot_tests.rs"]
mod tests;
