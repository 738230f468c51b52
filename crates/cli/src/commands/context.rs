//! `hermes context`: context usage and compactions of a session.

mod expand;

use crate::exit::{Exit, Failure};
use crate::flags::{Common, ModelFlags};
use crate::{json_events, launch};
use clap::{Args, Subcommand};
use hermes_conversation::{Node, SummaryBy};
use hermes_runtime::{ContextMeter, Runtime};
use hermes_store::StoredCompaction;
use hermes_terminal::term::{self, Style, one_line, printable};
use hermes_terminal::text::{counted, local_time};
use hermes_terminal::{meter_lines, print, tokens};
use serde_json::{Value, json};

pub(crate) use expand::ExpandArgs;

/// Show context usage and compaction history of a session
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes context show
  hermes context history latest
  hermes context expand --node 2")]
pub(crate) enum ContextCommand {
    /// Show the size of the next request and the summaries in it
    ///
    /// Sizes are estimates, part by part. Compaction replaces old messages by a summary once the request passes the
    /// threshold shown.
    Show(ShowArgs),
    /// List the compactions of a session: time, trigger, sizes, model and cost
    History(SessionArgs),
    /// Print the messages that a summary replaced
    ///
    /// Compaction deletes nothing. Without more arguments, prints the messages of the newest summary.
    Expand(ExpandArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    model: ModelFlags,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SessionArgs {
    /// Session: its id, the start of its id, its title, or `latest`
    #[arg(value_name = "SESSION", default_value = "latest")]
    session: String,
}

impl ContextCommand {
    /// The shared flags after the subcommand.
    pub(crate) fn flags(&self) -> Common {
        match self {
            Self::Show(args) => Common { model: args.model.clone(), ..Common::default() },
            Self::History(_) | Self::Expand(_) => Common::default(),
        }
    }
}

pub(crate) async fn run(command: &ContextCommand, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let done = match command {
        ContextCommand::Show(args) => show(&runtime, &args.session, common.json).await,
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
        print::json(&value);
        return Ok(());
    }
    let style = Style::for_stream(&std::io::stdout());
    print::lines(meter_lines(&meter, style));
    if !nodes.is_empty() {
        term::print_line("");
    }
    let width = term::columns(&std::io::stdout());
    print::lines(nodes.iter().map(|node| node_line(node, width, style)));
    Ok(())
}

/// A summary in one line: the messages it replaces, and its beginning.
fn node_line(node: &Node, width: usize, style: Style) -> String {
    let Style { bold, dim, off, .. } = style;
    let indent = "  ".repeat(usize::try_from(node.level).unwrap_or(0));
    let replaced = format!("{}, {} to {}", counted(node.messages, "message"), node.first, node.last);
    let columns = width.saturating_sub(indent.len() + replaced.len() + 12).max(20);
    let lines: Vec<&str> =
        node.text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let begins = one_line(&lines.join(" "), columns);
    format!("{indent}{bold}{:>3}{off}  {replaced}  {dim}{begins}{off}", node.number)
}

async fn history(runtime: &Runtime, args: &SessionArgs, as_json: bool) -> Result<(), Failure> {
    let session = launch::stored(runtime, &args.session).await?;
    let all = runtime.store()?.compactions(&session).await?;
    if as_json {
        let list: Vec<Value> = all
            .iter()
            .map(|one| json!({ "number": one.number, "at": one.at, "report": json_events::compaction(&one.report) }))
            .collect();
        print::json(&json!({ "session_id": session, "compactions": list }));
        return Ok(());
    }
    if all.is_empty() {
        term::print_line(&format!("session {session} has no compactions yet"));
    }
    print::lines(all.iter().map(compaction_row));
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
