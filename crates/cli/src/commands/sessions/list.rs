//! `hermes sessions list`.

use super::NO_SESSIONS;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use clap::Args;
use hermes_conversation::SessionId;
use hermes_store::{Archived, ListFilter, SessionDb, SessionSummary};
use hermes_terminal::print::{self, Column, Table};
use hermes_terminal::term::{self, Style, one_line};
use hermes_terminal::text::local_time;
use serde_json::{Value, json};

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes sessions list --limit 50
  hermes sessions list --source cron --json
  hermes sessions list --archived")]
pub(crate) struct ListArgs {
    /// Number of sessions to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Number of sessions to skip
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
    /// List only sessions with this tag
    #[arg(long, value_name = "TAG")]
    pub(super) source: Option<String>,
    /// Leave out sessions with this tag; repeatable
    #[arg(long, value_name = "TAG")]
    exclude_source: Vec<String>,
    /// List only archived sessions
    #[arg(long)]
    archived: bool,
    /// List every session, including those of sub-agents
    #[arg(long)]
    children: bool,
}

pub(super) async fn run(store: &SessionDb, args: ListArgs, common: &Common) -> Result<Exit, Failure> {
    let filter = ListFilter {
        source: common.source.clone(),
        exclude_sources: args.exclude_source,
        archived: if args.archived { Archived::Only } else { Archived::Hidden },
        include_children: args.children,
        limit: args.limit,
        offset: args.offset,
    };
    print(store, filter, common).await
}

/// Prints the list that `browse` shows.
pub(super) async fn newest(store: &SessionDb, limit: usize, common: &Common) -> Result<Exit, Failure> {
    print(store, ListFilter { source: common.source.clone(), limit, ..ListFilter::default() }, common).await
}

async fn print(store: &SessionDb, filter: ListFilter, common: &Common) -> Result<Exit, Failure> {
    let is_everything = filter == ListFilter { limit: filter.limit, ..ListFilter::default() };
    let found = store.list(filter).await?;
    if common.json {
        let rows: Vec<Value> = found.iter().map(summary_json).collect();
        print::json(&json!(rows));
        return Ok(Exit::Answered);
    }
    if found.is_empty() {
        term::print_line(if is_everything { NO_SESSIONS } else { "No matching sessions." });
        return Ok(Exit::Answered);
    }
    let heading = TABLE.heading(Style::for_stream(&std::io::stdout()));
    let rows = found.iter().map(|session| {
        let name = session.title.as_deref().unwrap_or(&session.preview);
        row(&session.id, session.last_active, session.message_count, name)
    });
    print::lines(std::iter::once(heading).chain(rows));
    Ok(Exit::Answered)
}

const TABLE: Table<'static> = Table::new(&[
    Column::left("Session", 22),
    Column::left("Last active", 16),
    Column::right("Msgs", 4),
    Column::left("Title or first message", 0),
]);

/// A session in one line.
pub(super) fn row(id: &SessionId, last_active: f64, messages: u64, name: &str) -> String {
    TABLE.row(&[id.as_str(), &local_time(last_active), &messages.to_string(), &one_line(name, 60)])
}

fn summary_json(row: &SessionSummary) -> Value {
    json!({
        "id": row.id, "title": row.title, "source": row.source, "model": row.model, "cwd": row.cwd,
        "started_at": row.started_at, "last_active": row.last_active, "message_count": row.message_count,
        "tool_call_count": row.tool_call_count, "preview": row.preview, "end_reason": row.end_reason,
        "archived": row.archived, "lineage_root": row.root,
    })
}
