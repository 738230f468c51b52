//! The summary of a range without a model: requests, actions and their results, remarks about them, and
//! files.

use crate::compaction::checks::harmless;
use crate::compaction::fallback::{Material, excerpts, newest};
use crate::compaction::prune::{line_of_call, line_of_result};
use crate::compaction::reading::Reading;
use crate::compaction::sections::{DECISIONS, DONE, FILES, Sections};
use crate::compaction::serialise::call_of;
use crate::compaction::text::one_line;
use crate::parts::words;
use hermes_conversation::{CallId, Message, ToolTable};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

const MOST_OF_ACTION: usize = 200;
const MOST_OF_REPLY: usize = 260;
/// Lines of one reply.
const LINES_OF_REPLY: usize = 2;
/// Terms that mark lines with findings or decisions.
const TELLING: [&str; 18] = [
    "decid",
    "because",
    "instead",
    "chose",
    "choose",
    "will use",
    "root cause",
    "fixed",
    "works",
    "passed",
    "failed",
    "found",
    "conclu",
    "result",
    "must",
    "never",
    "决定",
    "因为",
];

/// The source of an extract.
#[derive(Debug, Clone)]
pub(crate) struct Stretch<'a> {
    pub(crate) material: Material<'a>,
    pub(crate) range: Range<usize>,
    /// The files that it names, newest first.
    pub(crate) files: &'a [String],
    /// An earlier summary that nothing else remembers.
    pub(crate) earlier: Option<&'a str>,
}

/// A summary in about so many characters.
pub(crate) fn extract(stretch: &Stretch<'_>, most: usize) -> Sections {
    let Material { history, reading, tools } = stretch.material;
    let range = || stretch.range.clone();
    let mut sections = excerpts(stretch.material, range(), stretch.earlier, most / 2);
    let carried = |section: usize| sections.body(section).filter(|_| stretch.earlier.is_some());
    let decided = carried(DECISIONS).map(|earlier| format!("{earlier}\n")).unwrap_or_default();
    let replies = newest(&replies(history, reading, range()), "lines", most / 6);
    let files: Vec<String> = stretch.files.iter().rev().map(|file| harmless(&one_line(file, 300))).collect();
    if stretch.earlier.is_none() {
        sections.set(DONE, newest(&actions(history, tools, range()), "calls", most / 4));
    }
    if !replies.is_empty() {
        sections.set(DECISIONS, format!("{decided}{replies}"));
    }
    if !files.is_empty() {
        sections.set(FILES, newest(&files, "files", most / 8));
    }
    sections
}

/// The tool calls and their results, a line each.
fn actions(history: &[Arc<Message>], tools: &dyn ToolTable, range: Range<usize>) -> Vec<String> {
    let mut lines = Vec::new();
    for place in range {
        match &*history[place] {
            Message::Tool(result) => {
                let text = words(&result.content);
                lines.push(line_of_result(tools, &result.tool_name, call_of(history, place), &text));
            }
            Message::Assistant(reply) => {
                let answered = answered(history, place);
                let open = reply.calls.iter().filter(|call| !answered.contains(&call.id));
                lines.extend(open.map(|call| format!("{} (no result)", line_of_call(tools, call))));
            }
            Message::User(_) => {}
        }
    }
    lines.iter().map(|line| harmless(&one_line(line, MOST_OF_ACTION))).collect()
}

/// The calls that have a result right after this place.
fn answered(history: &[Arc<Message>], place: usize) -> HashSet<&CallId> {
    let id = |message: &'_ Arc<Message>| matches!(**message, Message::Tool(_));
    let results = history[place + 1..].iter().take_while(|message| id(message));
    results
        .filter_map(|message| match &**message {
            Message::Tool(result) => Some(&result.call_id),
            Message::User(_) | Message::Assistant(_) => None,
        })
        .collect()
}

/// The lines of replies that say what was found or decided, or else how a reply begins.
fn replies(history: &[Arc<Message>], reading: &Reading, range: Range<usize>) -> Vec<String> {
    let of_reply = |place: usize| -> Vec<String> {
        let Message::Assistant(reply) = &*history[place] else { return Vec::new() };
        if reading.is_summary(place) {
            return Vec::new();
        }
        let lines = || reply.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let telling: Vec<&str> = lines().filter(|line| is_telling(line)).take(LINES_OF_REPLY).collect();
        let told = if telling.is_empty() { lines().take(1).collect() } else { telling };
        told.into_iter().map(|line| harmless(&one_line(line, MOST_OF_REPLY))).collect()
    };
    range.flat_map(of_reply).collect()
}

fn is_telling(line: &str) -> bool {
    let lower = line.to_lowercase();
    TELLING.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
