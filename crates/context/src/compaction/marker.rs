//! Recognition of summary messages among the messages of users and models.
//!
//! A summary message begins with a heading and ends with a line that carries a digest of everything before
//! it, so that no text inside can end it early and text of the user may follow in the same message.
//! Summaries of other programs have the heading, and an end line without a digest or none; some follow the
//! text that was in their place before, under a heading of their own.

use crate::digest::of_text;
use hermes_conversation::{Content, Message, RawJson, UserMessage, parse_lenient};
use serde_json::{Value, json};

/// The beginning of every summary of ours.
pub const HEADING: &str = "[CONTEXT COMPACTION — REFERENCE ONLY]";
const ANY_HEADING: &str = "[context compaction";
const OLD_HEADING: &str = "[context summary]:";
const END: &str = "end of context summary";
/// The lines of other programs before text that a summary follows, and between the two.
const PRIOR: &str = "[prior context";
const END_OF_PRIOR: &str = "[end of prior context";

/// A message that holds a summary.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// The summary, with neither the heading nor the end line.
    pub(crate) text: String,
    /// The text of the user in the same message.
    pub(crate) rest: Option<UserMessage>,
    /// True if its end line has the digest that ours have.
    pub(crate) is_ours: bool,
}

/// The text of a summary message around its body.
pub(crate) fn framed(introduction: &str, body: &str) -> String {
    let text = format!("{HEADING}\n{introduction}\n\n{}\n\n", body.trim_end());
    let print = of_text(&text);
    format!("{text}--- {END} {print:016x}: what follows is newer ---")
}

/// The summary in this message, if it is one.
pub(crate) fn found(message: &Message) -> Option<Found> {
    match message {
        Message::Tool(_) => None,
        Message::Assistant(assistant) => in_text(&assistant.text).map(|found| Found {
            text: match found.prior {
                "" => found.summary.to_owned(),
                reply => format!("{}\n\n{reply}", found.summary),
            },
            rest: None,
            is_ours: found.is_ours,
        }),
        Message::User(user) => in_user(user),
    }
}

/// Returns true for a summary, without parsing it.
pub(crate) fn is_summary(message: &Message) -> bool {
    match message {
        Message::Tool(_) => false,
        Message::Assistant(assistant) => in_text(&assistant.text).is_some(),
        Message::User(user) => match &user.content {
            Content::Text(text) => is_heading(text) || behind_prior(text).is_some(),
            Content::Parts(_) => in_user(user).is_some(),
        },
    }
}

fn in_user(user: &UserMessage) -> Option<Found> {
    let (text, content, is_ours) = match &user.content {
        Content::Text(text) => {
            let found = in_text(text)?;
            (found.summary.to_owned(), found.words().map(Content::text), found.is_ours)
        }
        Content::Parts(raw) => {
            let mut list: Vec<RawJson> = parse_lenient(raw.as_str()).ok()?;
            let first = text_of(list.first()?)?;
            if begins(&first, PRIOR) && behind_prior(&first).is_none() {
                return behind_parts(list);
            }
            let found = in_text(&first)?;
            list.remove(0);
            // Words that were there before other parts came to them.
            let words = found.words().map(|words| json!({"type": "text", "text": words}));
            list.splice(0..0, words.as_ref().and_then(RawJson::of));
            let content = (!list.is_empty()).then(|| RawJson::of(&list)).flatten().map(Content::Parts);
            (found.summary.to_owned(), content, found.is_ours)
        }
    };
    // What was sent beside the words began with the same summary.
    let sent = user.api_content.as_deref().and_then(|sent| in_text(sent)?.rest).map(str::to_owned);
    Some(Found { text, rest: content.map(|content| UserMessage { content, api_content: sent }), is_ours })
}

/// The summary behind parts that were in its place before: the heading of those is a part of its own, and so
/// is what comes after them.
fn behind_parts(mut list: Vec<RawJson>) -> Option<Found> {
    let place =
        list.iter().rposition(|part| text_of(part).is_some_and(|text| begins(&text, END_OF_PRIOR)))?;
    let text = text_of(&list.remove(place))?;
    let (_, summary) = text.split_once(']')?;
    let found = in_text(summary)?;
    list.remove(0);
    let content = (!list.is_empty()).then(|| RawJson::of(&list)).flatten().map(Content::Parts);
    let rest = content.map(|content| UserMessage { content, api_content: None });
    Some(Found { text: found.summary.to_owned(), rest, is_ours: false })
}

fn text_of(part: &RawJson) -> Option<String> {
    let part: Value = serde_json::from_str(part.as_str()).ok()?;
    part["text"].as_str().map(str::to_owned)
}

fn is_heading(text: &str) -> bool {
    begins(text, ANY_HEADING) || begins(text, OLD_HEADING)
}

fn begins(text: &str, with: &str) -> bool {
    text.trim_start().get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
}

/// The text before a summary that follows it, and the text that begins with the summary.
fn behind_prior(text: &str) -> Option<(&str, &str)> {
    if !begins(text, PRIOR) {
        return None;
    }
    let (_, after) = text.split_once(']')?;
    let end = after.to_ascii_lowercase().rfind(END_OF_PRIOR)?;
    let (_, summary) = after[end..].split_once(']')?;
    is_heading(summary).then(|| (after[..end].trim(), summary.trim_start()))
}

/// A text that begins like a summary, taken apart.
struct InText<'a> {
    summary: &'a str,
    /// The text after the end line, if there is one.
    rest: Option<&'a str>,
    /// The text before it.
    prior: &'a str,
    is_ours: bool,
}

impl InText<'_> {
    /// The rest of the text.
    fn words(&self) -> Option<String> {
        let words = [self.prior, self.rest.unwrap_or_default()];
        let words: Vec<&str> = words.into_iter().filter(|words| !words.is_empty()).collect();
        (!words.is_empty()).then(|| words.join("\n\n"))
    }
}

fn in_text(text: &str) -> Option<InText<'_>> {
    if let Some((prior, summary)) = behind_prior(text) {
        return in_text(summary).map(|found| InText { prior, is_ours: false, ..found });
    }
    if !is_heading(text) {
        return None;
    }
    let end = end_line(text);
    let body = &text[..end.as_ref().map_or(text.len(), |end| end.start)];
    let start = body.find(']').map_or(0, |end| end + 1);
    Some(InText {
        summary: body[start..].trim_start_matches(':').trim(),
        rest: end.as_ref().map(|end| end.after),
        prior: "",
        is_ours: end.is_some_and(|end| end.is_ours),
    })
}

struct End<'a> {
    start: usize,
    /// The text after it and a blank line.
    after: &'a str,
    is_ours: bool,
}

/// The end line with the right fingerprint, or else the first that looks like one.
fn end_line(text: &str) -> Option<End<'_>> {
    let mut plain = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if is_end(line) {
            let after = &text[start + line.len()..];
            let after = after.strip_prefix('\n').unwrap_or(after);
            if line.contains(&format!("{:016x}", of_text(&text[..start]))) {
                return Some(End { start, after, is_ours: true });
            }
            plain = plain.or(Some(End { start, after, is_ours: false }));
        }
        start += line.len();
    }
    plain
}

fn is_end(line: &str) -> bool {
    line.len() < 200 && line.to_ascii_lowercase().contains(END)
}

/// The same text, unable to pass for the frame of a summary.
pub(crate) fn defused(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    if ![END, ANY_HEADING, OLD_HEADING].iter().any(|mark| lower.contains(mark)) {
        return text.to_owned();
    }
    let text = replaced(text, END, |end| end.replace(' ', "-"));
    let text = replaced(&text, ANY_HEADING, |heading| heading.replace('[', "("));
    replaced(&text, OLD_HEADING, |heading| heading.replace('[', "("))
}

/// Replaces every occurrence of an ASCII phrase in any case; the phrase is in lower case.
fn replaced(text: &str, words: &str, with: impl Fn(&str) -> String) -> String {
    let lower = text.to_ascii_lowercase();
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for (start, _) in lower.match_indices(words) {
        out.push_str(&text[done..start]);
        done = start + words.len();
        out.push_str(&with(&text[start..done]));
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
#[path = "marker_tests.rs"]
mod tests;
