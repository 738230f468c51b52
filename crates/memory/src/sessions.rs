//! Recall from the session store: messages of other sessions that share terms with a message.

use crate::MemoryProvider;
use hermes_conversation::{BoxFuture, SessionId};
use hermes_store::{SearchFilter, SearchHit, SessionDb, StoreError};
use std::collections::BTreeSet;

/// The number of search terms; more make the search slower and not better.
const MOST_TERMS: usize = 8;
/// The length of the shortest search term.
const SHORTEST_TERM: usize = 4;
const MOST_SNIPPETS: usize = 5;
/// The size of all snippets together, in bytes.
const BUDGET: usize = 2_000;
/// The number of hits before those of this session are removed.
const LOOKED_AT: usize = 40;

/// Finds snippets of earlier sessions. Nothing leaves this machine, and no model is called.
pub struct SessionRecall {
    store: SessionDb,
}

impl SessionRecall {
    pub fn new(store: SessionDb) -> Self {
        Self { store }
    }

    async fn found(&self, message: &str, session: &SessionId) -> Result<Option<String>, StoreError> {
        let terms = search_terms(message);
        if terms.is_empty() {
            return Ok(None);
        }
        let own = self.lineage(session).await?;
        let filter = SearchFilter {
            limit: LOOKED_AT,
            excluded_sources: vec!["subagent".to_owned(), "tool".to_owned()],
            ..SearchFilter::default()
        };
        let hits = self.store.search_with(&terms.join(" OR "), filter).await?.hits;
        let others = hits.into_iter().filter(|hit| hit.role != "tool" && !own.contains(&hit.session));
        Ok(chosen(others, &terms))
    }

    /// The session with its ancestors and descendants: the model has their messages, or a summary of them.
    async fn lineage(&self, session: &SessionId) -> Result<BTreeSet<SessionId>, StoreError> {
        let above = self.store.ancestors(session).await?;
        let root = above.first().unwrap_or(session).clone();
        let mut own: BTreeSet<SessionId> = self.store.descendants(&root).await?.into_iter().collect();
        own.extend(above);
        own.insert(session.clone());
        Ok(own)
    }
}

impl MemoryProvider for SessionRecall {
    fn name(&self) -> &'static str {
        "sessions"
    }

    /// Returns `None`: earlier sessions are too large for the system prompt.
    fn static_block(&self) -> Option<String> {
        None
    }

    fn recall<'a>(&'a self, message: &'a str, session: &'a SessionId) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            self.found(message, session).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "earlier sessions could not be searched");
                None
            })
        })
    }
}

/// The search terms of a message: the longest ones, each once, in quotes so that none is taken for an operator.
fn search_terms(message: &str) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    for word in message.split(|c: char| !c.is_alphanumeric()) {
        let word = word.to_lowercase();
        if word.chars().count() >= SHORTEST_TERM && !COMMON.contains(&word.as_str()) && !terms.contains(&word)
        {
            terms.push(word);
        }
    }
    terms.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    terms.truncate(MOST_TERMS);
    terms.iter().map(|word| format!("\"{word}\"")).collect()
}

/// Terms of at least four letters that are in most messages.
const COMMON: [&str; 48] = [
    "about", "after", "again", "also", "been", "before", "could", "does", "done", "each", "file", "files",
    "find", "from", "give", "have", "help", "here", "into", "just", "know", "like", "make", "more", "need",
    "only", "other", "please", "show", "some", "tell", "than", "thanks", "that", "them", "then", "there",
    "these", "they", "this", "want", "were", "what", "when", "where", "which", "with", "would",
];

/// The best snippet of each session, best first, up to the size limit. A snippet must share two terms with the
/// message if the message has two.
fn chosen(hits: impl Iterator<Item = SearchHit>, terms: &[String]) -> Option<String> {
    let needed = terms.len().min(2);
    let mut best: Vec<(usize, SearchHit)> = Vec::new();
    for hit in hits {
        let shared = shared(&hit.snippet, terms);
        match best.iter_mut().find(|(_, other)| other.session == hit.session) {
            _ if shared < needed => {}
            Some((most, other)) if shared > *most => (*most, *other) = (shared, hit),
            Some(_) => {}
            None => best.push((shared, hit)),
        }
    }
    // The search ranks snippets with equally many shared terms.
    best.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    let (mut text, mut used) = (String::new(), 0);
    for line in best.iter().take(MOST_SNIPPETS).map(|(_, hit)| line(hit)) {
        if used + line.len() > BUDGET {
            break;
        }
        used += line.len();
        text.push_str(&line);
    }
    (!text.is_empty()).then_some(text)
}

fn shared(snippet: &str, terms: &[String]) -> usize {
    let plain = unmarked(snippet).to_lowercase();
    terms.iter().filter(|word| plain.contains(word.trim_matches('"'))).count()
}

fn line(hit: &SearchHit) -> String {
    let day = jiff::Timestamp::from_second(hit.timestamp as i64)
        .map_or_else(|_| "?".to_owned(), |time| time.strftime("%Y-%m-%d").to_string());
    let who = if hit.role == "user" { "the user said" } else { "you said" };
    let title = hit.title.as_deref().map_or(String::new(), |title| format!(" in \"{}\"", one_line(title)));
    format!("- {day}{title}, {who}: {}\n", one_line(&unmarked(&hit.snippet)))
}

/// The snippet without the marks around matches.
fn unmarked(snippet: &str) -> String {
    snippet.replace(">>>", "").replace("<<<", "")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
