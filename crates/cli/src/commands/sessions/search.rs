//! `hermes sessions search`.

use super::local_time;
use crate::args::{Common, SearchArgs, SearchSort};
use crate::exit::{Exit, Failure};
use crate::term::{self, one_line, printable};
use crate::time_input::moment;
use hermes_store::{ContextMessage, SearchFilter, SearchHit, SearchReport, SessionDb, Sort};
use serde_json::{Value, json};

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

/// The role, and the tool that a result is from. Calls name their tools in their text.
fn speaker(hit: &SearchHit) -> String {
    match &hit.tool_name {
        Some(tool) if hit.role == "tool" => format!("tool {}", one_line(tool, 40)),
        _ => printable(&hit.role).into_owned(),
    }
}

fn print(report: &SearchReport, query: &str) {
    if report.loosened && !report.hits.is_empty() {
        term::complain("Nothing is exactly so; these differ in punctuation:");
    }
    for hit in &report.hits {
        let line = format!(
            "{}  {}  {:<9}  {}",
            printable(hit.session.as_str()),
            local_time(hit.timestamp),
            speaker(hit),
            one_line(&hit.snippet, 90)
        );
        if !term::print_line(&line) {
            return;
        }
    }
    if report.hits.is_empty() {
        term::complain(&format!("Nothing was found for: {}", printable(query)));
    }
    if !report.complete {
        term::complain("hermes: the search index is still behind; the newest messages may be missing");
    }
}
