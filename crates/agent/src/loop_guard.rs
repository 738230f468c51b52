//! Detects tool calls that repeat without progress.
//!
//! Only consecutive repeats count, and only those that failed or that read without finding anything new: running
//! the same tests after every edit is work, not a loop. Another call in between, a changed file or another working
//! directory starts the count again.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The settings of `tool_loop_guardrails`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopLimits {
    /// Warns the model beside the result.
    pub warnings_enabled: bool,
    /// Ends the turn over a loop.
    pub hard_stop_enabled: bool,
    pub warn_after: Repeats,
    pub hard_stop_after: Repeats,
}

/// A number of consecutive repeats for each kind of loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeats {
    /// The same call failed.
    pub exact_failure: u32,
    /// The same tool failed, with whatever arguments.
    pub same_tool_failure: u32,
    /// The same read-only call returned the same result.
    pub idempotent_no_progress: u32,
}

impl Default for LoopLimits {
    fn default() -> Self {
        Self {
            warnings_enabled: true,
            hard_stop_enabled: false,
            warn_after: Repeats { exact_failure: 2, same_tool_failure: 3, idempotent_no_progress: 2 },
            hard_stop_after: Repeats { exact_failure: 5, same_tool_failure: 8, idempotent_no_progress: 5 },
        }
    }
}

/// A finished tool call.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    pub tool: &'a str,
    pub arguments: &'a str,
    pub result: &'a str,
    pub failed: bool,
    /// The tool only reads, so that the same arguments should give the same result.
    pub is_read_only: bool,
    /// The call changed a file.
    pub changed_file: bool,
    /// The working directory after the call.
    pub cwd: &'a Path,
}

/// A kind of loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    ExactFailure,
    SameToolFailure,
    NoProgress,
}

/// The verdict on a finished call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    None,
    Warn { kind: Loop, times: u32 },
    Stop { kind: Loop, times: u32 },
}

/// The consecutive repeats of one turn.
#[derive(Debug, Default)]
pub struct LoopGuard {
    reply: u64,
    last: Option<LastCall>,
    exact_failures: u32,
    tool_failures: u32,
    same_results: u32,
}

#[derive(Debug)]
struct LastCall {
    tool: String,
    arguments: Value,
    result: u64,
    cwd: PathBuf,
    reply: u64,
}

impl LoopGuard {
    /// Begins the calls of another reply. Duplicates within one reply count once: the model had not seen the
    /// result when it wrote them.
    pub fn next_reply(&mut self) {
        self.reply += 1;
    }

    /// Counts a finished call.
    pub fn observe(&mut self, seen: Observation<'_>, limits: &LoopLimits) -> Repetition {
        let arguments = canonical(seen.arguments);
        let mut hash = DefaultHasher::new();
        seen.result.hash(&mut hash);
        let result = hash.finish();
        let last = self.last.take().filter(|last| last.cwd == seen.cwd && !seen.changed_file);
        let same_tool = last.as_ref().filter(|last| last.tool == seen.tool);
        let same_call = same_tool.filter(|last| last.arguments == arguments);
        let is_same_reply = same_tool.is_some_and(|last| last.reply == self.reply);
        let step = u32::from(!is_same_reply);
        let count = |counter: u32, continues: bool, counts: bool| match (counts, continues) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => counter.saturating_add(step).max(1),
        };
        let fails = seen.failed && !seen.changed_file;
        self.exact_failures = count(self.exact_failures, same_call.is_some(), fails);
        self.tool_failures = count(self.tool_failures, same_tool.is_some(), fails);
        let is_same_result = same_call.is_some_and(|last| last.result == result);
        self.same_results = count(self.same_results, is_same_result, seen.is_read_only && !seen.failed);
        let (tool, cwd) = (seen.tool.to_owned(), seen.cwd.to_owned());
        self.last = Some(LastCall { tool, arguments, result, cwd, reply: self.reply });
        if is_same_reply { Repetition::None } else { self.verdict(limits) }
    }

    fn verdict(&self, limits: &LoopLimits) -> Repetition {
        let over = |after: &Repeats| {
            [
                (Loop::ExactFailure, self.exact_failures, after.exact_failure),
                (Loop::NoProgress, self.same_results, after.idempotent_no_progress),
                (Loop::SameToolFailure, self.tool_failures, after.same_tool_failure),
            ]
            .into_iter()
            .find(|(_, times, after)| times >= after)
            .map(|(kind, times, _)| (kind, times))
        };
        if let Some((kind, times)) = over(&limits.hard_stop_after).filter(|_| limits.hard_stop_enabled) {
            return Repetition::Stop { kind, times };
        }
        match over(&limits.warn_after).filter(|_| limits.warnings_enabled) {
            Some((kind, times)) => Repetition::Warn { kind, times },
            None => Repetition::None,
        }
    }
}

/// The arguments as a value, so that neither spaces nor the order of fields make two calls differ.
fn canonical(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.trim().to_owned()))
}

#[cfg(test)]
#[path = "loop_guard_tests.rs"]
mod tests;
