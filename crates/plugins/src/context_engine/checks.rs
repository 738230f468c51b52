//! Whether what an engine of somebody else wants may be done. Nothing is taken on trust: what is wrong is
//! told as the rest of a sentence that begins with the engine's name.

use super::talk::short;
use super::wire::{AssembledWire, Initialized, PROTOCOL, Planned, ToolWire};
use hermes_context::{Answer, Assembled, Decision, Plan, View, Weights};
use hermes_conversation::{
    KeptCounts, Message, NewNode, SummaryBy, TokenCount, Trigger, UserMessage, repair,
};
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;

/// Compactions in one turn, whoever plans them.
const MOST_PER_TURN: u32 = 3;
/// Tokens that a summary may be asked to have.
const MOST_OUTPUT: u64 = 32_768;
/// Bytes of the text that stands for a stretch in the record.
const MOST_SUMMARY: usize = 256 * 1024;
const MOST_TOOLS: usize = 32;
const MOST_DESCRIPTION: usize = 8 * 1024;

/// What an engine says about itself.
pub(super) fn initialized(said: Initialized) -> Result<Initialized, String> {
    if said.protocol != PROTOCOL {
        return Err(format!(
            "speaks version {} of the protocol, and this is version {PROTOCOL}",
            said.protocol
        ));
    }
    if said.tools.len() > MOST_TOOLS {
        return Err(format!("has {} tools, and {MOST_TOOLS} are the most", said.tools.len()));
    }
    said.tools.iter().try_for_each(tool)?;
    Ok(Initialized { name: short(&said.name), ..said })
}

fn tool(said: &ToolWire) -> Result<(), String> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    let name = &said.name;
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        return Err(format!("has a tool whose name is no name: `{}`", short(name).escape_default()));
    }
    if said.description.len() > MOST_DESCRIPTION {
        return Err(format!("describes its tool `{name}` at too great a length"));
    }
    let schema: Option<Value> = serde_json::from_str(said.parameters.as_str()).ok();
    match schema.is_some_and(|schema| schema["type"] == "object") {
        true => Ok(()),
        false => Err(format!("has a tool `{name}` whose parameters are no schema of an object")),
    }
}

/// What an engine wants to do, checked.
pub(super) fn decision(said: Planned, view: &View<'_>) -> Result<Decision, String> {
    match said {
        Planned::Leave => Ok(Decision::Leave),
        Planned::Stuck { why } => Ok(Decision::Stuck(short(&why))),
        Planned::Shrink { replace: (start, end), question } => {
            check_range(&(start..end), view.history)?;
            if let Some(why) = objection(view) {
                return Ok(Decision::Stuck(why));
            }
            let mut question = question.map(hermes_context::Question::from);
            if let Some(question) = &mut question {
                question.max_output_tokens = question.max_output_tokens.clamp(1, MOST_OUTPUT);
            }
            Ok(Decision::Shrink(Plan { replace: start..end, question, before: view.tokens() }))
        }
    }
}

fn check_range(range: &Range<usize>, history: &[Arc<Message>]) -> Result<(), String> {
    let Range { start, end } = *range;
    if start >= end || end > history.len() {
        return Err(format!("wants to replace messages {start} to {end} of {}", history.len()));
    }
    let splits =
        |place: usize| matches!(history.get(place).map(|message| &**message), Some(Message::Tool(_)));
    match [start, end].into_iter().find(|place| splits(*place)) {
        Some(place) => Err(format!("wants to separate a call from its result, at message {place}")),
        None => Ok(()),
    }
}

/// Why nothing is compacted now, however much an engine wants it.
fn objection(view: &View<'_>) -> Option<String> {
    let past = view.past;
    if past.in_this_turn >= MOST_PER_TURN {
        return Some(format!(
            "this turn was compacted {MOST_PER_TURN} times already; start a new session with /new, or ask for \
             less at once"
        ));
    }
    match view.trigger {
        Trigger::Manual | Trigger::Overflow => None,
        Trigger::Preflight | Trigger::Loop | Trigger::Hygiene => past.resting.clone(),
    }
}

/// A history that an engine has put together, checked.
pub(super) fn assembled(
    said: AssembledWire,
    view: &View<'_>,
    plan: &Plan,
    answer: Answer<'_>,
) -> Result<Assembled, String> {
    let messages = messages(said.messages, view.history)?;
    let plain: Vec<Message> = messages.iter().map(|message| Message::clone(message)).collect();
    if repair(plain.clone()) != plain {
        return Err("put together a conversation that no provider accepts".to_owned());
    }
    let summary = said.summary.trim().to_owned();
    if summary.is_empty() || summary.len() > MOST_SUMMARY {
        return Err("gave no usable summary of what it put away".to_owned());
    }
    check_newest(&plain, view.history)?;
    check_end(&plain, view.history)?;
    let tail = check_edges(&messages, view.history, &plan.replace)?;
    if said.tail > tail {
        return Err(format!("says that {} messages at the end are as they were; {tail} are", said.tail));
    }
    check_kept(&plain, view)?;
    let (before, tokens) =
        (view.weights.tokens(0..view.history.len()), Weights::of(&messages).tokens(0..messages.len()));
    if tokens >= before {
        return Err(format!("made the conversation no smaller ({before} tokens before, {tokens} after)"));
    }
    Ok(Assembled {
        tail,
        nodes: vec![NewNode { children: Vec::new(), text: summary }],
        by: match answer {
            Answer::NotAsked => SummaryBy::Excerpts,
            Answer::Said { model, .. } => SummaryBy::Model(model.to_owned()),
            Answer::Failed(why) => SummaryBy::Fallback { why: why.to_owned() },
        },
        kept: KeptCounts {
            tail: tail as u64,
            pins: view.keep.pins.len() as u64,
            todos: view.keep.todos.len() as u64,
            files: 0,
        },
        after: after(view, plan, before, tokens),
        messages,
    })
}

/// The messages as they are meant: new ones, and stretches of the old.
fn messages(said: Vec<Value>, history: &[Arc<Message>]) -> Result<Vec<Arc<Message>>, String> {
    let mut messages = Vec::new();
    for (place, item) in said.into_iter().enumerate() {
        if let Some(keep) = item.get("keep") {
            let range = serde_json::from_value::<(usize, usize)>(keep.clone()).ok();
            let kept = range.and_then(|(start, end)| history.get(start..end));
            let kept = kept.ok_or_else(|| format!("keeps messages that are not there, at place {place}"))?;
            messages.extend(kept.iter().cloned());
            if messages.len() > history.len() + MOST_NEW {
                return Err("keeps the same messages again and again".to_owned());
            }
        } else {
            let message = serde_json::from_value::<Message>(item)
                .map_err(|error| format!("wrote something that is no message, at place {place}: {error}"))?;
            messages.push(Arc::new(message));
        }
    }
    Ok(messages)
}

/// Messages more than before, after which the rest is not looked at.
const MOST_NEW: usize = 1_000;

/// The newest words of the person must be the newest still, and be theirs; others may stand before them in
/// the same message.
fn check_newest(messages: &[Message], history: &[Arc<Message>]) -> Result<(), String> {
    let user = |message: &Message| match message {
        Message::User(user) => Some(user.clone()),
        Message::Assistant(_) | Message::Tool(_) => None,
    };
    let Some(asked) = history.iter().rev().find_map(|message| user(message)) else { return Ok(()) };
    match messages.iter().rev().find_map(user) {
        Some(kept) if is_verbatim(&asked, &kept) => Ok(()),
        _ => Err("left out what was asked last, or changed it".to_owned()),
    }
}

/// Where a reply ends the conversation one must end it still: the next words of the person follow it.
fn check_end(messages: &[Message], history: &[Arc<Message>]) -> Result<(), String> {
    let is_reply = |message: Option<&Message>| matches!(message, Some(Message::Assistant(_)));
    match is_reply(history.last().map(|message| &**message)) && !is_reply(messages.last()) {
        true => Err("left out the reply to what was asked last".to_owned()),
        false => Ok(()),
    }
}

fn is_verbatim(asked: &UserMessage, kept: &UserMessage) -> bool {
    if asked == kept {
        return true;
    }
    let words = kept.content.as_text().strip_suffix(asked.content.as_text());
    words
        .and_then(|words| words.strip_suffix("\n\n"))
        .is_some_and(|words| asked.clone().preceded_by(words) == *kept)
}

/// What is outside the stretch stays as it is, but for words before the first message behind it. Says how
/// many messages at the end are as they were.
fn check_edges(
    messages: &[Arc<Message>],
    history: &[Arc<Message>],
    replace: &Range<usize>,
) -> Result<usize, String> {
    let same = |(new, old): &(&Arc<Message>, &Arc<Message>)| Arc::ptr_eq(new, old) || new == old;
    let head = messages.iter().zip(&history[..replace.start]).take_while(same).count();
    let rest = &history[replace.end..];
    let tail = messages.iter().rev().zip(rest.iter().rev()).take_while(same).count();
    let is_merged = || {
        let place = messages.len().checked_sub(rest.len()).and_then(|place| messages.get(place));
        match (place.map(|message| &**message), rest.first().map(|message| &**message)) {
            (Some(Message::User(new)), Some(Message::User(old))) => is_verbatim(old, new),
            _ => false,
        }
    };
    let is_whole = tail == rest.len() || (tail + 1 == rest.len() && is_merged());
    match head == replace.start && is_whole {
        true => Ok(tail),
        false => Err("changed messages that it had not said it would replace".to_owned()),
    }
}

/// What must not get lost is there, word for word.
fn check_kept(messages: &[Message], view: &View<'_>) -> Result<(), String> {
    let is_there = |item: &&String| messages.iter().any(|message| message.text().contains(item.as_str()));
    let mut items = view.keep.pins.iter().chain(&view.keep.todos);
    match items.find(|item| !is_there(item)) {
        None => Ok(()),
        Some(item) => Err(format!("left out something pinned or to be done: {}", short(item))),
    }
}

/// The size of the next request, by the same measure as the size before.
fn after(view: &View<'_>, plan: &Plan, before: u64, tokens: u64) -> TokenCount {
    let share = (view.fixed + tokens) as f64 / (view.fixed + before).max(1) as f64;
    TokenCount::Estimated((plan.before.value() as f64 * share) as u64)
}

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;
