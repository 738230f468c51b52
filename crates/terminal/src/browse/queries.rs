//! The picker's queries of the store, which run in the background.
//!
//! A running search cannot be stopped, so there is at most one: typing ten letters does not start ten of
//! them. When it is done, the next one searches for the query of that moment.

use super::ago;
use super::state::{Event, Hit, Picker, PreviewMessage, SearchResult};
use crate::term::one_line;
use crate::tool_line;
use hermes_conversation::{CallTitle, Message, SessionId};
use hermes_runtime::with_causes;
use hermes_store::{SearchFilter, SearchReport, SessionDb};
use std::collections::HashSet;
use tokio::task::JoinSet;

/// Limit of hits; a session with several is shown once.
const HITS: usize = 100;
/// Number of messages in a preview.
const TAIL: usize = 30;

pub(super) struct Queries {
    store: SessionDb,
    source: Option<String>,
    now: f64,
    searches: JoinSet<Event>,
    tails: JoinSet<Event>,
}

impl Queries {
    pub(super) fn new(store: SessionDb, source: Option<String>, now: f64) -> Self {
        Self { store, source, now, searches: JoinSet::new(), tails: JoinSet::new() }
    }

    /// Starts the queries that the picker wants and that are not running.
    pub(super) fn ask(&mut self, picker: &Picker) {
        if let (Some(query), true) = (picker.wanted_search(), self.searches.is_empty()) {
            let (store, query, now) = (self.store.clone(), query.to_owned(), self.now);
            let filter = SearchFilter { limit: HITS, source: self.source.clone(), ..SearchFilter::default() };
            self.searches.spawn(async move {
                let report = store.search_with(&as_you_type(&query), filter).await;
                let found = match report {
                    Ok(report) => found(report, now),
                    Err(error) => SearchResult { hits: Vec::new(), remark: Some(with_causes(&error)) },
                };
                Event::Searched { query, found }
            });
        }
        if let (Some(id), true) = (picker.wanted_tail(), self.tails.is_empty()) {
            let (store, id) = (self.store.clone(), id.clone());
            self.tails.spawn(tail(store, id));
        }
    }

    /// The next result; pending while no query runs.
    pub(super) async fn answer(&mut self) -> Event {
        loop {
            let answer = tokio::select! {
                Some(answer) = self.searches.join_next() => answer,
                Some(answer) = self.tails.join_next() => answer,
                else => std::future::pending().await,
            };
            if let Ok(event) = answer {
                return event;
            }
        }
    }
}

async fn tail(store: SessionDb, id: SessionId) -> Event {
    let said = match store.last_messages(&id, TAIL).await {
        Ok(messages) => messages.iter().flat_map(said).collect(),
        Err(error) => vec![PreviewMessage { who: "hermes", text: with_causes(&error) }],
    };
    Event::Tail { id, said }
}

fn said(message: &Message) -> Vec<PreviewMessage> {
    match message {
        Message::User(_) => vec![PreviewMessage { who: "you", text: message.text().to_owned() }],
        Message::Assistant(assistant) => {
            let mut all = Vec::new();
            if !assistant.text.trim().is_empty() {
                all.push(PreviewMessage { who: "hermes", text: assistant.text.clone() });
            }
            for call in &assistant.calls {
                let CallTitle { verb, detail, .. } = tool_line::describe(&call.name, &call.arguments);
                all.push(PreviewMessage { who: "", text: one_line(&format!("┊ {verb} {detail}"), 200) });
            }
            all
        }
        // Tool results are long, and users seldom recognise a session by them.
        Message::Tool(_) => Vec::new(),
    }
}

fn found(report: SearchReport, now: f64) -> SearchResult {
    let mut seen = HashSet::new();
    let first = |hit: &hermes_store::SearchHit| seen.insert(hit.session.clone());
    let hits = report.hits.into_iter().filter(first).map(|hit| Hit {
        name: hit.title.unwrap_or_default(),
        role: hit.role,
        snippet: hit.snippet,
        when: ago(now, hit.timestamp),
        id: hit.session,
    });
    let remark = (!report.complete).then(|| "the newest messages may be missing".to_owned());
    SearchResult { hits: hits.collect(), remark }
}

/// Makes the last term, which is still being typed, a prefix.
fn as_you_type(query: &str) -> String {
    let is_open = query.matches('"').count().is_multiple_of(2);
    let is_operator =
        query.split_whitespace().last().is_some_and(|word| ["AND", "OR", "NOT"].contains(&word));
    match query.ends_with(char::is_alphanumeric) && is_open && !is_operator {
        true => format!("{query}*"),
        false => query.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_term_is_a_prefix() {
        for (query, want) in [
            ("walr", "walr*"),
            ("big walr", "big walr*"),
            ("walrus \"big one\"", "walrus \"big one\""),
            ("\"big wal", "\"big wal"),
            ("walrus OR", "walrus OR"),
            ("walr*", "walr*"),
            ("foo.", "foo."),
            ("中文", "中文*"),
        ] {
            assert_eq!(as_you_type(query), want);
        }
    }
}
