//! `hermes context expand`: original messages of a summary.

use crate::exit::Failure;
use crate::launch;
use clap::Args;
use hermes_conversation::{Message, MessageId};
use hermes_runtime::Runtime;
use hermes_store::{OriginalRange, StoredMessage};
use hermes_terminal::print;
use hermes_terminal::term::{self, Style, printable};
use hermes_terminal::text::local_time;
use serde_json::{Value, json};

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes context expand
  hermes context expand latest --node 2 --limit 20
  hermes context expand --message 1412")]
pub(crate) struct ExpandArgs {
    /// Session: its id, the start of its id, its title, or `latest`
    #[arg(value_name = "SESSION", default_value = "latest")]
    pub(crate) session: String,
    /// Print the messages of this summary; `hermes context show` lists them
    #[arg(long, value_name = "N", conflicts_with = "message")]
    pub(crate) node: Option<u32>,
    /// Print one message
    #[arg(long, value_name = "ID")]
    pub(crate) message: Option<i64>,
    /// Print only messages after this one
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<i64>,
    /// Limit the number of messages
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = at_least_one)]
    pub(crate) limit: usize,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number of at least 1".to_owned()),
        Ok(number) => Ok(number),
    }
}

pub(super) async fn run(runtime: &Runtime, args: &ExpandArgs, as_json: bool) -> Result<(), Failure> {
    let session = launch::stored(runtime, &args.session).await?;
    let store = runtime.store()?;
    let range = match (args.message, args.node) {
        (Some(id), _) => OriginalRange { first: MessageId(id), last: MessageId(id) },
        (None, number) => {
            let nodes = store.nodes(&session).await?;
            let found = match number {
                Some(number) => nodes.iter().find(|node| node.number == number),
                None => nodes.last(),
            };
            let node = found.ok_or_else(|| match number {
                Some(number) => Failure::usage(format!(
                    "session {session} has no summary {number}; `hermes context show` lists them"
                )),
                None => Failure::usage(format!(
                    "session {session} has no summaries; `hermes sessions show` prints all messages"
                )),
            })?;
            OriginalRange { first: node.first, last: node.last }
        }
    };
    let found = match args.message {
        Some(id) => store.original(&session, MessageId(id)).await?.into_iter().collect(),
        None => store.originals(&session, range, args.after.map(MessageId), args.limit).await?,
    };
    if let (Some(id), true) = (args.message, found.is_empty()) {
        return Err(Failure::usage(format!(
            "session {session} has no message {id}; `hermes context show` lists the ids"
        )));
    }
    if as_json {
        let messages: Vec<Value> = found.iter().map(as_value).collect();
        print::json(&json!({ "session_id": session, "messages": messages }));
        return Ok(());
    }
    if found.is_empty() {
        term::print_line(&format!("no messages after that; the last one of this summary is {}", range.last));
    }
    let style = Style::for_stream(&std::io::stdout());
    if !print::lines(found.iter().map(|message| shown(message, style))) {
        return Ok(());
    }
    if let Some(last) = found.last().filter(|last| found.len() == args.limit && last.id != range.last) {
        let Style { dim, off, .. } = style;
        term::print_line(&format!("{dim}more: --after {}{off}", last.id));
    }
    Ok(())
}

fn shown(stored: &StoredMessage, style: Style) -> String {
    let Style { bold, dim, off, .. } = style;
    let mut text = format!(
        "{bold}{} {}{off} {dim}{}{}{off}\n",
        stored.id,
        stored.message.role(),
        local_time(stored.at),
        match &stored.message {
            Message::Tool(result) => format!("  {}", printable(&result.tool_name)),
            Message::User(_) | Message::Assistant(_) => String::new(),
        }
    );
    let said = stored.message.plain_text();
    if !said.is_empty() {
        text.push_str(&format!("{}\n", printable(&said)));
    }
    for call in stored.message.calls() {
        text.push_str(&format!("→ {} {}\n", printable(&call.name), printable(&call.arguments)));
    }
    text
}

fn as_value(stored: &StoredMessage) -> Value {
    let calls: Vec<Value> = stored
        .message
        .calls()
        .iter()
        .map(|call| json!({ "id": call.id, "name": call.name, "arguments": call.arguments }))
        .collect();
    let tool = match &stored.message {
        Message::Tool(result) => Some(&result.tool_name),
        Message::User(_) | Message::Assistant(_) => None,
    };
    json!({ "id": stored.id.0, "at": stored.at, "role": stored.message.role(), "text": stored.message.text(),
        "tool_name": tool, "tool_calls": calls })
}
