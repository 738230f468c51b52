//! A summary that needs no model: excerpts, and an index of what was left out.

use super::checks::harmless;
use super::prune::{line_of_call, line_of_result, looks_failed};
use super::reading::Reading;
use super::sections::{ASKED, ASKS, BLOCKED, CRITICAL, DONE, GOAL, Sections};
use super::serialise::call_of;
use super::text::{cut, one_line};
use crate::parts::words;
use hermes_conversation::{Message, ToolTable};
use std::ops::Range;
use std::sync::Arc;

/// Characters of the whole.
pub(crate) const MOST: usize = 8_000;
/// Characters of one turn.
const MOST_OF_TURN: usize = 700;
const MOST_OF_ACTION: usize = 200;
const MOST_FAILURES: usize = 5;
const INDEX: &str = "No model wrote this summary; it consists of excerpts.";
const LAST: &str = "The last messages that were put away:";

/// A history, its parts, and the facts of its tools.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Material<'a> {
    pub(crate) history: &'a [Arc<Message>],
    pub(crate) reading: &'a Reading,
    pub(crate) tools: &'a dyn ToolTable,
}

/// Excerpts of a stretch in at most so many characters.
pub(crate) fn excerpts(
    material: Material<'_>,
    range: Range<usize>,
    previous: Option<&str>,
    most: usize,
) -> Sections {
    carrying(material, range, previous, most, part_of(most) * 2 / 3)
}

/// One share of so many characters; headings need the rest.
fn part_of(most: usize) -> usize {
    most * 9 / 10 / 24
}

/// The same, beside an earlier summary of which every section has at most so many characters. A summary by
/// a model is worth more than excerpts, and cannot be written again.
pub(crate) fn carrying(
    material: Material<'_>,
    range: Range<usize>,
    previous: Option<&str>,
    most: usize,
    carried: usize,
) -> Sections {
    let Material { history, reading, tools } = material;
    let part = part_of(most);
    let asks = asks(history, reading, range.clone());
    let earlier = previous.map(|text| Sections::parse(&harmless(text))).unwrap_or_default();
    let mut sections = earlier.each_cut(carried);
    let is_whole = carried > part * 2;
    let end_of =
        |section: usize| match earlier.body(section).map(|body| body.trim_start_matches(ASKED).trim()) {
            Some(body) if is_whole && body != "None." => cut_front(body, carried),
            _ => String::new(),
        };
    let goal = earlier.body(GOAL).or(asks.first().map(String::as_str)).unwrap_or_default();
    sections.set(GOAL, cut(goal, carried.max(part * 2)));
    let done = newest(&actions(history, tools, range.clone()), "calls", part * 5);
    sections
        .set(DONE, joined(&cut_front(earlier.body(DONE).unwrap_or_default(), carried.max(part * 2)), &done));
    let failed = newest(&failures(history, tools, range.clone()), "failures", part * 2);
    sections.set(BLOCKED, joined(&end_of(BLOCKED), &failed));
    let asked = newest(&asks, "requests", part * 3);
    sections.set(ASKS, format!("{ASKED}\n{}", joined(&end_of(ASKS), &asked)));
    let known = match (earlier.count(), previous) {
        (0, Some(previous)) => harmless(previous),
        _ => earlier.body(CRITICAL).unwrap_or_default().to_owned(),
    };
    let turns = newest(&turns(history, reading, range.clone()), "messages", part * 3);
    let turns = format!("{LAST}\n{turns}");
    let critical =
        joined(&index(history, range), &joined(&cut(without_index(&known), carried.max(part * 2)), &turns));
    sections.set(CRITICAL, cut(&critical, carried + part * 7));
    sections
}

fn joined(first: &str, second: &str) -> String {
    [first, second].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The end of a text: what was done last matters most.
fn cut_front(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    format!("…{}", text.chars().skip(count - most).collect::<String>())
}

/// Excerpts of excerpts are not repeated.
fn without_index(known: &str) -> &str {
    match known.starts_with(INDEX) {
        true => known
            .split_once("\n\n")
            .map_or("", |(_, rest)| rest.split(LAST).next().unwrap_or_default())
            .trim(),
        false => known,
    }
}

/// The newest items that have room, and how many have not.
pub(crate) fn newest(items: &[String], what: &str, most: usize) -> String {
    let mut used = 0;
    let has_room = |item: &&String| {
        used += item.chars().count() + 3;
        used <= most
    };
    let shown = items.iter().rev().take_while(has_room).count();
    let left_out = items.len() - shown;
    let mut lines: Vec<String> = items[left_out..].iter().map(|item| format!("- {item}")).collect();
    if left_out > 0 {
        lines.insert(0, format!("({left_out} older {what} are not shown)"));
    }
    lines.join("\n")
}

fn asks(history: &[Arc<Message>], reading: &Reading, range: Range<usize>) -> Vec<String> {
    let said = range.filter_map(|place| reading.said_words(history, place));
    said.map(|said| harmless(&one_line(&said, MOST_OF_TURN))).filter(|said| !said.is_empty()).collect()
}

fn actions(history: &[Arc<Message>], tools: &dyn ToolTable, range: Range<usize>) -> Vec<String> {
    let calls = history[range].iter().flat_map(|message| message.calls());
    calls.map(|call| harmless(&one_line(&line_of_call(tools, call), MOST_OF_ACTION))).collect()
}

fn failures(history: &[Arc<Message>], tools: &dyn ToolTable, range: Range<usize>) -> Vec<String> {
    let failed = range.rev().filter_map(|place| {
        let Message::Tool(result) = &*history[place] else { return None };
        let text = words(&result.content);
        looks_failed(&text).then(|| line_of_result(tools, &result.tool_name, call_of(history, place), &text))
    });
    let mut lines: Vec<String> =
        failed.take(MOST_FAILURES).map(|line| harmless(&one_line(&line, MOST_OF_ACTION))).collect();
    lines.reverse();
    lines
}

fn turns(history: &[Arc<Message>], reading: &Reading, range: Range<usize>) -> Vec<String> {
    let turn = |place: usize| {
        let text = match &*history[place] {
            Message::User(_) => format!("(person) {}", reading.said_words(history, place)?),
            Message::Assistant(reply) if reply.text.trim().is_empty() || reading.is_summary(place) => {
                return None;
            }
            Message::Assistant(reply) => format!("(assistant) {}", reply.text),
            Message::Tool(_) => return None,
        };
        Some(harmless(&one_line(&text, MOST_OF_TURN)))
    };
    let mut last: Vec<String> = range.rev().filter_map(turn).take(12).collect();
    last.reverse();
    last
}

/// The number of summarised messages.
fn index(history: &[Arc<Message>], range: Range<usize>) -> String {
    let (mut people, mut replies, mut results) = (0, 0, 0);
    for message in &history[range.clone()] {
        match &**message {
            Message::User(_) => people += 1,
            Message::Assistant(_) => replies += 1,
            Message::Tool(_) => results += 1,
        }
    }
    format!(
        "{INDEX} {} messages were put away: {people} of the person, {replies} replies, {results} results of \
         tools. The session record still has all of them.",
        range.len()
    )
}

#[cfg(test)]
#[path = "fallback_tests.rs"]
mod tests;
