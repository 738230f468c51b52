//! `hermes sessions search`.

use super::local_time;
use crate::args::{Common, SearchSort};
use crate::exit::{Exit, Failure};
use crate::term::{self, one_line, printable};
use hermes_store::{ContextMessage, SearchFilter, SearchHit, SearchReport, SessionDb, Sort};
use serde_json::{Value, json};

pub(super) struct Wanted {
    pub(super) query: String,
    pub(super) limit: usize,
    pub(super) sort: SearchSort,
    pub(super) role: Option<String>,
}

pub(super) async fn run(store: &SessionDb, wanted: Wanted, common: &Common) -> Result<Exit, Failure> {
    let filter = SearchFilter {
        limit: wanted.limit,
        sort: match wanted.sort {
            SearchSort::Rank => Sort::Rank,
            SearchSort::Newest => Sort::Newest,
            SearchSort::Oldest => Sort::Oldest,
        },
        role: wanted.role,
        source: common.source.clone(),
        with_context: common.json,
    };
    let report = store.search_with(&wanted.query, filter).await?;
    if common.json {
        let hits: Vec<Value> = report.hits.iter().map(hit_json).collect();
        term::print_line(&json!({ "hits": hits, "complete": report.complete }).to_string());
        return Ok(Exit::Answered);
    }
    print(&report, &wanted.query);
    Ok(Exit::Answered)
}

fn hit_json(hit: &SearchHit) -> Value {
    let around = |message: &ContextMessage| json!({ "role": message.role, "content": message.text });
    let context: Vec<Value> = hit.context.iter().map(around).collect();
    json!({ "session_id": hit.session, "message_id": hit.message, "role": hit.role,
        "snippet": hit.snippet, "timestamp": hit.timestamp, "title": hit.title, "context": context })
}

fn print(report: &SearchReport, query: &str) {
    for hit in &report.hits {
        let line = format!(
            "{}  {}  {:<9}  {}",
            printable(hit.session.as_str()),
            local_time(hit.timestamp),
            hit.role,
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
