//! A stretch of a history as text for the second model.
//!
//! What is newest is written out, with caps; what is older gets shorter step by step until everything
//! fits, and what does not fit even as a line is counted. Every message has a heading that its text cannot
//! imitate, because it carries a fingerprint of the history.

use super::prune::{SHORT_RESULT, line_of_call, line_of_result, short_arguments};
use super::reading::Reading;
use super::text::{ends, one_line};
use crate::digest::of_text;
use crate::parts::words;
use crate::weights::text_tokens;
use hermes_conversation::{Message, ToolCall, ToolMessage, ToolTable};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

const MOST_OF_MESSAGE: usize = 6_000;
const HEAD_OF_MESSAGE: usize = 4_000;
const TAIL_OF_MESSAGE: usize = 1_500;
const MOST_OF_ARGUMENTS: usize = 1_500;
const HEAD_OF_ARGUMENTS: usize = 1_200;
const BRIEF: usize = 400;
const LINE: usize = 120;
/// The tokens of a line and its heading.
const LINE_TOKENS: u64 = 40;

/// The level of detail of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Full,
    Brief,
    Line,
}

/// The history to serialise.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) history: &'a [Arc<Message>],
    pub(crate) reading: &'a Reading,
    pub(crate) tools: &'a dyn ToolTable,
    /// The fingerprint that headings carry.
    pub(crate) print: u64,
    /// Estimated tokens of the newest messages whose results are written out; older results are a line.
    pub(crate) results: u64,
}

/// The messages of a range, in at most about so many estimated tokens. The summaries at `skip` are part of
/// the question already.
pub(crate) fn serialise(source: Source<'_>, range: Range<usize>, skip: &[usize], room: u64) -> String {
    let places: Vec<usize> =
        range.rev().filter(|place| !skip.contains(place) || has_words(source, *place)).collect();
    pieces(source, &places, room).into_iter().rev().collect::<Vec<_>>().join("\n\n")
}

/// Newest first: everything in full if that fits, or else in less and less detail.
fn pieces(source: Source<'_>, places: &[usize], room: u64) -> Vec<String> {
    let mut written = Written { source, seen: HashMap::new(), pieces: Vec::new(), sums: Vec::new() };
    if written.go_on(places, Detail::Full, room) {
        return written.pieces;
    }
    let all = room * 96 / 100;
    // The oldest should at least have a line each.
    let lines = (places.len() as u64 * LINE_TOKENS).min(all * 3 / 10);
    written.go_back_to((all - lines) * 7 / 10);
    let is_done =
        written.go_on(places, Detail::Brief, all - lines) || written.go_on(places, Detail::Line, all);
    let left_out = places.len() - written.pieces.len();
    if !is_done {
        written.pieces.push(format!("[{left_out} older messages had no room here]"));
    }
    written.pieces
}

/// The text so far.
struct Written<'a> {
    source: Source<'a>,
    /// Fingerprints of results, and where they are.
    seen: HashMap<u64, usize>,
    pieces: Vec<String>,
    /// The cumulative size of the pieces.
    sums: Vec<u64>,
}

impl Written<'_> {
    /// Writes the places that are missing as long as everything together weighs at most so much; whether
    /// none is missing now.
    fn go_on(&mut self, places: &[usize], detail: Detail, most: u64) -> bool {
        for place in &places[self.pieces.len()..] {
            let used = self.sums.last().copied().unwrap_or_default();
            let with_results = used <= self.source.results;
            let piece = message(self.source, *place, detail, with_results, &mut self.seen);
            let used = used + text_tokens(&piece) + 1;
            if used > most {
                return false;
            }
            self.sums.push(used);
            self.pieces.push(piece);
        }
        true
    }

    /// Takes back what goes beyond this weight.
    fn go_back_to(&mut self, most: u64) {
        let kept = self.sums.partition_point(|sum| *sum <= most);
        self.sums.truncate(kept);
        self.pieces.truncate(kept);
    }
}

fn has_words(source: Source<'_>, place: usize) -> bool {
    source.reading.said(source.history, place).is_some()
}

fn message(
    source: Source<'_>,
    place: usize,
    detail: Detail,
    with_results: bool,
    seen: &mut HashMap<u64, usize>,
) -> String {
    let (who, text) = match &*source.history[place] {
        Message::User(_) => {
            let said = source.reading.said_words(source.history, place);
            let said = said.or_else(|| source.reading.summary(source.history, place).map(|found| found.text));
            ("user", shortened(&said.unwrap_or_default(), detail))
        }
        Message::Assistant(reply) => {
            let mut text = shortened(&reply.text, detail);
            for call in &reply.calls {
                text.push_str(&format!("\n-> {}", call_text(source.tools, call, detail)));
            }
            ("assistant", text)
        }
        Message::Tool(result) => ("result", result_text(source, place, result, detail, with_results, seen)),
    };
    format!("[{:08x} {place} {who}]\n{}", source.print as u32, text.trim_start_matches('\n'))
}

fn shortened(text: &str, detail: Detail) -> String {
    match detail {
        Detail::Full => ends(text, MOST_OF_MESSAGE, HEAD_OF_MESSAGE, TAIL_OF_MESSAGE),
        Detail::Brief => one_line(text, BRIEF),
        Detail::Line => one_line(text, LINE),
    }
}

fn call_text(tools: &dyn ToolTable, call: &ToolCall, detail: Detail) -> String {
    match detail {
        Detail::Full => {
            let short = short_arguments(&call.arguments);
            let arguments = ends(&short, MOST_OF_ARGUMENTS, HEAD_OF_ARGUMENTS, 0);
            format!("{}({arguments})", call.name)
        }
        Detail::Brief => line_of_call(tools, call),
        Detail::Line => call.name.clone(),
    }
}

fn result_text(
    source: Source<'_>,
    place: usize,
    result: &ToolMessage,
    detail: Detail,
    with_results: bool,
    seen: &mut HashMap<u64, usize>,
) -> String {
    let text = words(&result.content);
    if text.len() <= SHORT_RESULT {
        return shortened(&text, detail);
    }
    if detail == Detail::Full && with_results {
        let newest = *seen.entry(of_text(&text)).or_insert(place);
        return match newest != place && is_same(source, newest, &text) {
            true => format!("[{}] the same output as message {newest}", result.tool_name),
            false => shortened(&text, detail),
        };
    }
    let line = line_of_result(source.tools, &result.tool_name, call_of(source.history, place), &text);
    if detail == Detail::Line { one_line(&line, LINE) } else { line }
}

fn is_same(source: Source<'_>, place: usize, text: &str) -> bool {
    matches!(&*source.history[place], Message::Tool(result) if words(&result.content) == text)
}

/// The call that this result answers.
pub(crate) fn call_of(history: &[Arc<Message>], place: usize) -> Option<&ToolCall> {
    let Message::Tool(result) = &**history.get(place)? else { return None };
    let asked = history[..place].iter().rev().find(|message| !matches!(***message, Message::Tool(_)))?;
    let id = result.call_id.as_str();
    asked.calls().iter().find(|call| call.id.as_str() == id || call.call_id.as_deref() == Some(id))
}

#[cfg(test)]
#[path = "serialise_tests.rs"]
mod tests;
