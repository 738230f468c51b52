//! `hermes sessions search`.

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::time_input::moment;
use clap::{Args, ValueEnum};
use hermes_store::{ContextMessage, SearchFilter, SearchHit, SearchReport, SessionDb, Sort};
use hermes_terminal::print::{self, Column, Table};
use hermes_terminal::term::{self, one_line, printable};
use hermes_terminal::text::local_time;
use serde_json::{Value, json};

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes sessions search \"flaky test\"
  hermes sessions search docker NOT compose --role user --since 7d")]
pub(crate) struct SearchArgs {
    /// Terms, "phrases", OR, NOT, prefix*
    #[arg(required = true, num_args = 1..)]
    query: Vec<String>,
    /// Number of hits to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Number of hits to skip
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
    /// Order of the hits
    #[arg(long, value_enum, default_value = "rank")]
    sort: SearchSort,
    /// Search only messages of this role
    #[arg(long, value_parser = ["user", "assistant", "tool", "system"])]
    role: Option<String>,
    /// Search only this session: its id, the start of its id, its title, or `latest`
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Search only sessions with this tag
    #[arg(long, value_name = "TAG")]
    pub(super) source: Option<String>,
    /// Leave out sessions with this tag; repeatable
    #[arg(long, value_name = "TAG")]
    exclude_source: Vec<String>,
    /// Search only from this time on: 2026-11-15, "2026-11-15 09:30", or 12h, 7d, 2w ago
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Search only before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SearchSort {
    /// Best match first
    Rank,
    /// Newest first
    Newest,
    /// Oldest first
    Oldest,
}

pub(super) async fn run(store: &SessionDb, args: SearchArgs, common: &Common) -> Result<Exit, Failure> {
    let query = args.query.join(" ");
    let session = match &args.session {
        Some(which) => Some(store.resolve(which).await?),
        None => None,
    };
    let now = hermes_runtime::clock::zoned();
    let time = |text: &Option<String>| {
        text.as_deref().map(|text| moment(text, &now)).transpose().map_err(Failure::usage)
    };
    let filter = SearchFilter {
        limit: args.limit,
        offset: args.offset,
        sort: match args.sort {
            SearchSort::Rank => Sort::Rank,
            SearchSort::Newest => Sort::Newest,
            SearchSort::Oldest => Sort::Oldest,
        },
        since: time(&args.since)?,
        until: time(&args.until)?,
        role: args.role,
        source: common.source.clone(),
        excluded_sources: args.exclude_source,
        session,
        with_context: common.json,
    };
    let report = store.search_with(&query, filter).await?;
    if common.json {
        let hits: Vec<Value> = report.hits.iter().map(hit_json).collect();
        term::print_line(
            &json!({ "hits": hits, "complete": report.complete, "loosened": report.loosened }).to_string(),
        );
        return Ok(Exit::Answered);
    }
    print(&report, &query);
    Ok(Exit::Answered)
}

fn hit_json(hit: &SearchHit) -> Value {
    let around = |message: &ContextMessage| json!({ "role": message.role, "content": message.text });
    let context: Vec<Value> = hit.context.iter().map(around).collect();
    json!({ "session_id": hit.session, "message_id": hit.message, "role": hit.role,
        "snippet": hit.snippet, "timestamp": hit.timestamp, "tool_name": hit.tool_name, "title": hit.title,
        "source": hit.source, "model": hit.model, "session_started": hit.session_started, "context": context })
}

/// The role, with the tool of a result. Calls have the name of their tool in their text.
fn speaker(hit: &SearchHit) -> String {
    match &hit.tool_name {
        Some(tool) if hit.role == "tool" => format!("tool {}", one_line(tool, 40)),
        _ => printable(&hit.role).into_owned(),
    }
}

const COLUMNS: &[Column] = &[
    Column::left("Session", 0),
    Column::left("Time", 0),
    Column::left("Role", 9),
    Column::left("Message", 0),
];

fn print(report: &SearchReport, query: &str) {
    if report.loosened && !report.hits.is_empty() {
        term::print_error("No exact match; these differ in punctuation:");
    }
    let table = Table::new(COLUMNS);
    let row = |hit: &SearchHit| {
        let (time, snippet) = (local_time(hit.timestamp), one_line(&hit.snippet, 90));
        table.row(&[hit.session.as_str(), &time, &speaker(hit), &snippet])
    };
    if !print::lines(report.hits.iter().map(row)) {
        return;
    }
    if report.hits.is_empty() {
        term::print_error(&format!("No matches for: {}", printable(query)));
    }
    if !report.complete {
        print::notice("the search index is not up to date; the newest messages may be missing");
    }
}
