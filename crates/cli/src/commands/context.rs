//! `hermes context`: how a session keeps inside its model's window, and what was put away for that.

mod expand;

use crate::args::Common;
use crate::commands::sessions::local_time;
use crate::compaction_text::{meter_lines, tokens};
use crate::exit::{Exit, Failure};
use crate::term::{self, Style, one_line, printable};
use crate::{json_events, launch};
use clap::{Args, Subcommand};
use hermes_conversation::{Node, SummaryBy};
use hermes_runtime::{ContextMeter, Runtime};
use hermes_store::StoredCompaction;
use serde_json::{Value, json};

pub(crate) use expand::ExpandArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// How full the window is, and which summaries stand for what
    ///
    /// The size of the next request of a session, part by part, estimated; the point from which on older
    /// messages are summed up; and the summaries so far with the messages that they stand for.
    #[command(verbatim_doc_comment)]
    Show(SessionArgs),
    /// Every compaction of a session: when, why, from what to what, by whom, for how much
    History(SessionArgs),
    /// What was said before it was summed up, word for word
    ///
    /// A compaction removes nothing. Without more, shows the messages that the newest summary stands for.
    #[command(verbatim_doc_comment)]
    Expand(ExpandArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SessionArgs {
    /// Id, start of an id, title, or `latest`
    #[arg(value_name = "SESSION", default_value = "latest")]
    pub(crate) session: String,
}

pub(crate) async fn run(command: &ContextCommand, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let done = match command {
        ContextCommand::Show(args) => show(&runtime, args, common.json).await,
        ContextCommand::History(args) => history(&runtime, args, common.json).await,
        ContextCommand::Expand(args) => expand::run(&runtime, args, common.json).await,
    };
    runtime.leave().await;
    done.map(|()| Exit::Answered)
}

async fn show(runtime: &Runtime, args: &SessionArgs, as_json: bool) -> Result<(), Failure> {
    let session = launch::stored(runtime, &args.session).await?;
    let meter = runtime.meter_of(&session).await?;
    let nodes = runtime.store()?.nodes(&session).await?;
    if as_json {
        let nodes: Vec<Value> = nodes.iter().map(node_json).collect();
        let value = json!({ "session_id": session, "meter": meter_json(&meter), "summaries": nodes });
        term::print_line(&value.to_string());
        return Ok(());
    }
    let style = Style::for_stream(&std::io::stdout());
    for line in meter_lines(&meter, style) {
        term::print_line(&line);
    }
    if !nodes.is_empty() {
        term::print_line("");
    }
    let width = term::columns(&std::io::stdout());
    for node in &nodes {
        if !term::print_line(&node_line(node, width, style)) {
            break;
        }
    }
    Ok(())
}

/// A summary in one line: what it stands for, and how it begins.
fn node_line(node: &Node, width: usize, style: Style) -> String {
    let Style { bold, dim, off, .. } = style;
    let indent = "  ".repeat(usize::try_from(node.level).unwrap_or(0));
    let plural = if node.messages == 1 { "" } else { "s" };
    let stands = format!("{} message{plural}, {} to {}", node.messages, node.first, node.last);
    let room = width.saturating_sub(indent.len() + stands.len() + 12).max(20);
    let words: Vec<&str> =
        node.text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let begins = one_line(&words.join(" "), room);
    format!("{indent}{bold}{:>3}{off}  {stands}  {dim}{begins}{off}", node.number)
}

async fn history(runtime: &Runtime, args: &SessionArgs, as_json: bool) -> Result<(), Failure> {
    let session = launch::stored(runtime, &args.session).await?;
    let all = runtime.store()?.compactions(&session).await?;
    if as_json {
        let list: Vec<Value> = all
            .iter()
            .map(|one| json!({ "number": one.number, "at": one.at, "report": json_events::compaction(&one.report) }))
            .collect();
        term::print_line(&json!({ "session_id": session, "compactions": list }).to_string());
        return Ok(());
    }
    if all.is_empty() {
        term::print_line(&format!("nothing of session {session} was summed up yet"));
    }
    for one in &all {
        if !term::print_line(&compaction_row(one)) {
            break;
        }
    }
    Ok(())
}

fn compaction_row(one: &StoredCompaction) -> String {
    let report = &one.report;
    let by = match &report.by {
        SummaryBy::Model(model) => printable(model).into_owned(),
        SummaryBy::Excerpts => "excerpts".to_owned(),
        SummaryBy::Fallback { why } => format!("excerpts ({})", one_line(why, 60)),
    };
    let cost = report.cost_usd.map(|dollars| format!(", ${dollars:.4}")).unwrap_or_default();
    format!(
        "{:>3}  {}  {:<9}  {} → {} messages  {} → {} tokens  {by}, {:.1} s{cost}",
        one.number,
        local_time(one.at),
        report.trigger.as_str(),
        report.messages_before,
        report.messages_after,
        tokens(report.tokens_before),
        tokens(report.tokens_after),
        report.seconds
    )
}

fn node_json(node: &Node) -> Value {
    json!({ "number": node.number, "level": node.level, "children": node.children,
        "first": node.first.0, "last": node.last.0, "messages": node.messages, "text": node.text })
}

fn meter_json(meter: &ContextMeter) -> Value {
    let parts = &meter.parts;
    json!({ "model": meter.model, "engine": meter.engine, "window": meter.window, "threshold": meter.threshold,
        "compactions": meter.compactions, "tokens": parts.whole.value(), "system_tokens": parts.system,
        "tool_tokens": parts.tools, "message_tokens": parts.messages, "messages": parts.message_count })
}
