//! Checks of the replies of an external engine. An error is the rest of a sentence that begins with the
//! engine's name.

use super::json_rpc::short;
use super::wire::{AssembledWire, Initialized, PROTOCOL, Planned, ToolWire};
use hermes_context::{Answer, Assembled, Decision, Plan, View, Weights};
use hermes_conversation::{
    KeptCounts, Message, NewNode, SummaryBy, TokenCount, Trigger, UserMessage, repair,
};
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;

/// Maximum compactions in one turn.
const MOST_PER_TURN: u32 = 3;
/// Maximum output tokens of a summary.
const MOST_OUTPUT: u64 = 32_768;
/// Maximum bytes of a recorded summary.
const MOST_SUMMARY: usize = 256 * 1024;
const MOST_TOOLS: usize = 32;
const MOST_DESCRIPTION: usize = 8 * 1024;

/// Checks the reply to `initialize`.
pub(super) fn initialized(reply: Initialized) -> Result<Initialized, String> {
    if reply.protocol != PROTOCOL {
        return Err(format!("uses protocol version {}, expected {PROTOCOL}", reply.protocol));
    }
    if reply.tools.len() > MOST_TOOLS {
        return Err(format!("has {} tools, at most {MOST_TOOLS} are allowed", reply.tools.len()));
    }
    reply.tools.iter().try_for_each(check_tool)?;
    Ok(Initialized { name: short(&reply.name), ..reply })
}

fn check_tool(tool: &ToolWire) -> Result<(), String> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    let name = &tool.name;
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        return Err(format!("has a tool with an invalid name: `{}`", short(name).escape_default()));
    }
    if tool.description.len() > MOST_DESCRIPTION {
        return Err(format!("has a tool `{name}` whose description is too long"));
    }
    let schema: Option<Value> = serde_json::from_str(tool.parameters.as_str()).ok();
    match schema.is_some_and(|schema| schema["type"] == "object") {
        true => Ok(()),
        false => Err(format!("has a tool `{name}` whose parameters are not an object schema")),
    }
}

/// Checks the reply to `plan`.
pub(super) fn decision(reply: Planned, view: &View<'_>) -> Result<Decision, String> {
    match reply {
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

/// The reason why a compaction is rejected now, if there is one.
fn objection(view: &View<'_>) -> Option<String> {
    let past = view.past;
    if past.in_this_turn >= MOST_PER_TURN {
        return Some(format!(
            "this turn was compacted {MOST_PER_TURN} times already; start a new session with /new, or send a \
             smaller task"
        ));
    }
    match view.trigger {
        Trigger::Manual | Trigger::Overflow => None,
        Trigger::Preflight | Trigger::Loop | Trigger::Hygiene => past.resting.clone(),
    }
}

/// Checks the reply to `assemble`.
pub(super) fn assembled(
    reply: AssembledWire,
    view: &View<'_>,
    plan: &Plan,
    answer: Answer<'_>,
) -> Result<Assembled, String> {
    let messages = messages(reply.messages, view.history)?;
    let plain: Vec<Message> = messages.iter().map(|message| Message::clone(message)).collect();
    if repair(plain.clone()) != plain {
        return Err("assembled a conversation that no provider accepts".to_owned());
    }
    let summary = reply.summary.trim().to_owned();
    if summary.is_empty() || summary.len() > MOST_SUMMARY {
        return Err("returned an empty or too long summary".to_owned());
    }
    check_newest(&plain, view.history)?;
    check_end(&plain, view.history)?;
    let tail = check_edges(&messages, view.history, &plan.replace)?;
    if reply.tail > tail {
        return Err(format!("reported {} unchanged messages at the end, found {tail}", reply.tail));
    }
    check_kept(&plain, view)?;
    let (before, tokens) =
        (view.weights.tokens(0..view.history.len()), Weights::of(&messages).tokens(0..messages.len()));
    if tokens >= before {
        return Err(format!(
            "did not make the conversation smaller ({before} tokens before, {tokens} after)"
        ));
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

/// Resolves the items of a reply: new messages, and ranges of the history.
fn messages(reply: Vec<Value>, history: &[Arc<Message>]) -> Result<Vec<Arc<Message>>, String> {
    let mut messages = Vec::new();
    for (place, item) in reply.into_iter().enumerate() {
        if let Some(keep) = item.get("keep") {
            let range = serde_json::from_value::<(usize, usize)>(keep.clone()).ok();
            let kept = range.and_then(|(start, end)| history.get(start..end));
            let kept = kept.ok_or_else(|| format!("keeps messages that do not exist, at index {place}"))?;
            messages.extend(kept.iter().cloned());
            if messages.len() > history.len() + MOST_NEW {
                return Err("keeps the same messages repeatedly".to_owned());
            }
        } else {
            let message = serde_json::from_value::<Message>(item)
                .map_err(|error| format!("returned an invalid message, at index {place}: {error}"))?;
            messages.push(Arc::new(message));
        }
    }
    Ok(messages)
}

/// Maximum number of messages beyond the length of the history.
const MOST_NEW: usize = 1_000;

/// Checks that the last user message is kept verbatim and last; text may precede it in the same message.
fn check_newest(messages: &[Message], history: &[Arc<Message>]) -> Result<(), String> {
    let user = |message: &Message| match message {
        Message::User(user) => Some(user.clone()),
        Message::Assistant(_) | Message::Tool(_) => None,
    };
    let Some(asked) = history.iter().rev().find_map(|message| user(message)) else { return Ok(()) };
    match messages.iter().rev().find_map(user) {
        Some(kept) if is_verbatim(&asked, &kept) => Ok(()),
        _ => Err("removed or changed the last user message".to_owned()),
    }
}

/// Checks that a history that ends with a reply still ends with one: the next prompt follows it.
fn check_end(messages: &[Message], history: &[Arc<Message>]) -> Result<(), String> {
    let is_reply = |message: Option<&Message>| matches!(message, Some(Message::Assistant(_)));
    match is_reply(history.last().map(|message| &**message)) && !is_reply(messages.last()) {
        true => Err("removed the reply to the last user message".to_owned()),
        false => Ok(()),
    }
}

fn is_verbatim(asked: &UserMessage, kept: &UserMessage) -> bool {
    if asked == kept {
        return true;
    }
    let preceding = kept.content.as_text().strip_suffix(asked.content.as_text());
    preceding
        .and_then(|text| text.strip_suffix("\n\n"))
        .is_some_and(|text| asked.clone().preceded_by(text) == *kept)
}

/// Checks that messages outside the replaced range are unchanged, except for text before the first message
/// after it. Returns the number of unchanged messages at the end.
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
        false => Err("changed messages outside the planned range".to_owned()),
    }
}

/// Checks that pins and open to-dos are kept verbatim.
fn check_kept(messages: &[Message], view: &View<'_>) -> Result<(), String> {
    let is_there = |item: &&String| messages.iter().any(|message| message.text().contains(item.as_str()));
    let mut items = view.keep.pins.iter().chain(&view.keep.todos);
    match items.find(|item| !is_there(item)) {
        None => Ok(()),
        Some(item) => Err(format!("removed a pin or an open to-do: {}", short(item))),
    }
}

/// The estimated size of the next request, scaled from the size before.
fn after(view: &View<'_>, plan: &Plan, before: u64, tokens: u64) -> TokenCount {
    let share = (view.fixed + tokens) as f64 / (view.fixed + before).max(1) as f64;
    TokenCount::Estimated((plan.before.value() as f64 * share) as u64)
}

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;
