//! Access to summarised messages: an outline, a search, the original text.

use crate::facts::text;
use crate::record_reader::{RecordMessage, RecordReader};
use crate::{CallScope, Concurrency, Tool, ToolContext, ToolError, ToolOutput, Toolset};
use hermes_conversation::{CallTitle, Message, MessageId, ToolFacts, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// List the summaries of earlier parts of this conversation, with the ids of the messages they stand for.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct OutlineArgs {
    /// Only this summary, with its whole text.
    summary: Option<u32>,
}

/// Find earlier messages of this conversation by words; context_expand reads them.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SearchArgs {
    query: String,
    #[serde(default = "usual")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn usual() -> usize {
    10
}

/// Read earlier messages of this conversation word for word: one by id, those from an id on, or those of a
/// summary.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ExpandArgs {
    message: Option<i64>,
    /// Read on from this id.
    from: Option<i64>,
    summary: Option<u32>,
    /// Where to go on in a long message, in characters.
    #[serde(default)]
    offset: usize,
}

pub(crate) struct ContextOutline;
pub(crate) struct ContextSearch;
pub(crate) struct ContextExpand;

/// Characters of a summary in the list of all.
const BEGINNING: usize = 200;
/// Messages that are read at a time.
const PAGE: usize = 50;
/// Characters of a result besides the text of messages.
const FRAME: usize = 400;

fn record(cx: &ToolContext) -> Result<&dyn RecordReader, ToolError> {
    cx.record().ok_or_else(|| ToolError::failed("earlier messages cannot be read in this session"))
}

macro_rules! reads {
    ($args:ty) => {
        fn concurrency(&self, _: &$args, _: &ToolContext) -> Concurrency {
            Concurrency::Free
        }
    };
}

impl Tool for ContextOutline {
    const NAME: &'static str = "context_outline";
    const TOOLSET: Toolset = Toolset::ContextEngine;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Read,
        reads_only: true,
        title: Some(|_| CallTitle::new("🗂", "outline", "")),
        ..ToolFacts::DEFAULT
    };
    type Args = OutlineArgs;

    reads!(OutlineArgs);

    async fn run(&self, args: OutlineArgs, cx: &ToolContext, _: &CallScope) -> Result<ToolOutput, ToolError> {
        let nodes = record(cx)?.summaries().await.map_err(ToolError::failed)?;
        if let Some(number) = args.summary
            && !nodes.iter().any(|node| node.number == number)
        {
            return Err(ToolError::failed(format!(
                "there is no summary {number}; there are {}",
                nodes.len()
            )));
        }
        let wanted = nodes.iter().filter(|node| args.summary.is_none_or(|number| node.number == number));
        let listed: Vec<Value> = wanted
            .map(|node| {
                let text = match args.summary {
                    Some(_) => node.text.clone(),
                    None => node.text.chars().take(BEGINNING).collect(),
                };
                json!({ "summary": node.number, "level": node.level, "of": node.children,
                    "from": node.first.0, "to": node.last.0, "messages": node.messages, "text": text })
            })
            .collect();
        Ok(ToolOutput::json(json!({ "summaries": listed })))
    }
}

impl Tool for ContextSearch {
    const NAME: &'static str = "context_search";
    const TOOLSET: Toolset = Toolset::ContextEngine;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Search,
        reads_only: true,
        title: Some(|arguments| CallTitle::new("🗂", "recall", text(arguments, "query"))),
        ..ToolFacts::DEFAULT
    };
    type Args = SearchArgs;

    reads!(SearchArgs);

    async fn run(&self, args: SearchArgs, cx: &ToolContext, _: &CallScope) -> Result<ToolOutput, ToolError> {
        let limit = args.limit.clamp(1, 50);
        let hits = record(cx)?.search(&args.query, limit).await.map_err(ToolError::failed)?;
        let hits: Vec<Value> = hits
            .iter()
            .map(|hit| json!({ "message": hit.id.0, "role": hit.role, "snippet": hit.snippet }))
            .collect();
        Ok(ToolOutput::json(json!({ "hits": hits })))
    }
}

impl Tool for ContextExpand {
    const NAME: &'static str = "context_expand";
    const TOOLSET: Toolset = Toolset::ContextEngine;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Read,
        reads_only: true,
        title: Some(|arguments| CallTitle::new("🗂", "reread", messages_shown(arguments))),
        ..ToolFacts::DEFAULT
    };
    type Args = ExpandArgs;

    reads!(ExpandArgs);

    async fn run(
        &self,
        args: ExpandArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let record = record(cx)?;
        let (first, last) = match (args.message, args.summary) {
            (Some(id), _) => (id, id),
            (None, Some(number)) => {
                let nodes = record.summaries().await.map_err(ToolError::failed)?;
                let node = nodes.iter().find(|node| node.number == number);
                let node = node.ok_or_else(|| {
                    ToolError::failed(format!("there is no summary {number}; context_outline lists them"))
                })?;
                (args.from.unwrap_or(node.first.0).max(node.first.0), node.last.0)
            }
            (None, None) => match args.from {
                Some(from) => (from, i64::MAX),
                None => return Err(ToolError::failed("say what to read: message, from, or summary")),
            },
        };
        let (first, last) = (MessageId(first), MessageId(last));
        let found = record.messages(first, last, None, PAGE).await.map_err(ToolError::failed)?;
        if found.is_empty() {
            return Err(ToolError::failed(
                "there is no such message; context_search finds messages by words",
            ));
        }
        let room = scope.result_limit.saturating_sub(FRAME).max(FRAME);
        Ok(ToolOutput::json(page(&found, &args, room, last)).paging_itself())
    }
}

/// The message, summary or first message that a call asks for.
fn messages_shown(arguments: &Value) -> String {
    let named = |key: &str| arguments.get(key).filter(|id| id.is_number()).map(|id| format!("{key} {id}"));
    ["message", "summary", "from"].into_iter().find_map(named).unwrap_or_default()
}

/// As many messages as there is room for, the first one from an offset on; a message that does not fit is
/// cut, and the answer says how to go on.
fn page(found: &[RecordMessage], args: &ExpandArgs, room: usize, last: MessageId) -> Value {
    let (mut shown, mut left) = (Vec::new(), room);
    for (place, entry) in found.iter().enumerate() {
        let skipped = if place == 0 { args.offset } else { 0 };
        let text = words(&entry.message);
        let rest = text.chars().skip(skipped);
        let frame = told(entry, "").to_string().chars().count();
        let fitting = fitting(rest.clone(), left.saturating_sub(frame));
        if fitting == rest.clone().count() {
            let text: String = rest.collect();
            left = left.saturating_sub(frame + text.chars().map(escaped).sum::<usize>());
            shown.push(told(entry, &text));
        } else if shown.is_empty() {
            let count = fitting.max(1);
            let part: String = rest.take(count).collect();
            let mut next = next(args, entry.id.0);
            next["offset"] = json!(skipped + count);
            return json!({ "messages": [told(entry, &part)], "next": next });
        } else {
            return json!({ "messages": shown, "next": next(args, entry.id.0) });
        }
    }
    match found.last().filter(|newest| found.len() == PAGE && newest.id != last) {
        Some(newest) => json!({ "messages": shown, "next": next(args, newest.id.0 + 1) }),
        None => json!({ "messages": shown }),
    }
}

/// The arguments for the next page, within the range that was requested.
fn next(args: &ExpandArgs, from: i64) -> Value {
    match (args.message, args.summary) {
        (Some(message), _) => json!({ "message": message }),
        (None, Some(summary)) => json!({ "summary": summary, "from": from }),
        (None, None) => json!({ "from": from }),
    }
}

/// The number of these characters that fit when written as JSON.
fn fitting(characters: impl Iterator<Item = char>, room: usize) -> usize {
    let mut used = 0;
    characters
        .take_while(|character| {
            used += escaped(*character);
            used <= room
        })
        .count()
}

/// The length of a character when written as JSON.
fn escaped(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}

/// The whole text of a message: its content and the calls in it.
fn words(message: &Message) -> String {
    let mut text = message.plain_text().into_owned();
    for call in message.calls() {
        text.push_str(&format!("\n[called {} with {}]", call.name, call.arguments));
    }
    text
}

fn told(entry: &RecordMessage, text: &str) -> Value {
    let mut told = json!({ "id": entry.id.0, "role": entry.message.role(), "text": text });
    if let Message::Tool(result) = &entry.message {
        told["tool"] = result.tool_name.clone().into();
    }
    told
}

#[cfg(test)]
#[path = "context_tools_tests.rs"]
mod tests;
