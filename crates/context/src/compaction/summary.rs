//! The question to the auxiliary model.

use super::mechanical;
use super::reading::Reading;
use super::sections::{SNAPSHOT, Sections};
use super::serialise::{Source, serialise};
use super::settings::Limits;
use super::template::{self, Focus, Request, SECTIONS};
use super::text::{cut, one_line};
use crate::weights::text_tokens;
use crate::{Question, View};
use std::ops::Range;

/// Requests that a focus is guessed from, and characters of each and of all.
const FOCUS_ASKS: usize = 3;
const FOCUS_ASK: usize = 260;
const FOCUS: usize = 700;
/// With fewer tokens than this left for the messages, no model is called.
const LEAST_ROOM: u64 = 1_000;

/// The summaries in a stretch, as far as models wrote them, and where they are. There is one, unless another
/// program has compacted the session: it leaves ours where it is and adds its own.
pub(crate) struct Previous {
    pub(crate) places: Vec<usize>,
    /// Their text, oldest first.
    pub(crate) text: String,
    /// True if the end line of the newest is one of ours.
    pub(crate) is_ours: bool,
    /// The files that they name.
    pub(crate) files: Vec<String>,
}

/// Finds them; a summary is recognised by its text, so it is found after a restart too.
pub(crate) fn previous(view: &View<'_>, reading: &Reading, range: &Range<usize>) -> Option<Previous> {
    let places: Vec<usize> =
        reading.summaries.iter().copied().filter(|place| range.contains(place)).collect();
    let found: Vec<_> = places.iter().filter_map(|place| reading.summary(view.history, *place)).collect();
    let (newest, older) = found.split_last()?;
    let mut texts: Vec<String> =
        older.iter().map(|found| older_text(mechanical::without(&found.text))).collect();
    texts.push(mechanical::without(&newest.text).to_owned());
    let files = found.iter().rev().flat_map(|found| mechanical::files_of(&found.text)).collect();
    Some(Previous { places, text: texts.join("\n\n"), is_ours: newest.is_ours, files })
}

/// The part of a summary that is still needed if another one follows: the newest request is in the newer
/// one.
fn older_text(text: &str) -> String {
    let sections = Sections::parse(text);
    match sections.count() {
        0 => text.to_owned(),
        _ => sections.only(&(SNAPSHOT + 1..SECTIONS.len()).collect::<Vec<_>>()).text(),
    }
}

/// The treatment of an earlier summary.
pub(crate) enum Earlier {
    /// There is none.
    None,
    /// The new summary stands for it, too.
    Updated(Previous),
    /// It is kept elsewhere: the summaries at these places are omitted.
    Elsewhere(Vec<usize>),
}

/// Returns the request for a summary; `None` without a model to call, or with too little of its context window left.
pub(crate) fn question(
    view: &View<'_>,
    reading: &Reading,
    limits: &Limits,
    range: Range<usize>,
    earlier: &Earlier,
) -> Option<Question> {
    let scale = super::scale(view);
    let window = (view.window.summariser? as f64 / scale) as u64;
    let budget = limits.summary_budget((view.weights.tokens(range.clone()) as f64 * scale) as u64);
    // A summary may be half as long again as it should be.
    let max_output_tokens = budget.saturating_mul(3) / 2;
    let (shown, skip) = match earlier {
        Earlier::None => (None, &[][..]),
        Earlier::Updated(earlier) => (Some(cut(&earlier.text, window as usize)), &earlier.places[..]),
        Earlier::Elsewhere(places) => (None, &places[..]),
    };
    let memory = view.keep.memory.as_deref().map(|memory| cut(memory, window as usize / 2));
    let print = view.weights.digest();
    let mut request = Request {
        previous: shown.as_deref(),
        messages: "",
        focus: focus(view, reading),
        memory: memory.as_deref(),
        budget,
        print,
    };
    let beside = text_tokens(template::SYSTEM) + text_tokens(&template::question(&request));
    let room =
        (window * 9 / 10).checked_sub(beside + max_output_tokens).filter(|room| *room >= LEAST_ROOM)?;
    let results = (limits.tail_tokens as f64 / scale) as u64;
    let source = Source { history: view.history, reading, tools: view.tools, print, results };
    let messages = serialise(source, range, skip, room);
    request.messages = &messages;
    Some(Question {
        system: template::SYSTEM.to_owned(),
        text: template::question(&request),
        max_output_tokens,
    })
}

fn focus<'a>(view: &View<'a>, reading: &Reading) -> Option<Focus<'a>> {
    if let Some(topic) = view.focus.map(str::trim).filter(|topic| !topic.is_empty()) {
        return Some(Focus::Asked(topic));
    }
    let said = (0..view.history.len()).rev().filter_map(|place| reading.said_words(view.history, place));
    let mut asks: Vec<String> =
        said.take(FOCUS_ASKS).map(|ask| format!("- {}", one_line(&ask, FOCUS_ASK))).collect();
    asks.reverse();
    (!asks.is_empty()).then(|| Focus::Recent(cut(&asks.join("\n"), FOCUS)))
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
