//! Recall over the session store: what was said earlier about the words of a message.

use crate::MemoryProvider;
use hermes_conversation::{BoxFuture, SessionId};
use hermes_store::{SearchFilter, SearchHit, SessionDb, StoreError};
use std::collections::BTreeSet;

/// Words that are looked for at once; more make the search slower and not better.
const MOST_WORDS: usize = 8;
/// A word this short says little.
const SHORTEST_WORD: usize = 4;
const MOST_SNIPPETS: usize = 5;
/// Bytes of all snippets together.
const BUDGET: usize = 2_000;
/// Hits that are looked at before those of this conversation are left out.
const LOOKED_AT: usize = 40;

/// Finds short pieces of earlier conversations. Nothing leaves this machine, and no model is asked.
pub struct SessionRecall {
    store: SessionDb,
}

impl SessionRecall {
    pub fn new(store: SessionDb) -> Self {
        Self { store }
    }

    async fn found(&self, message: &str, session: &SessionId) -> Result<Option<String>, StoreError> {
        let words = telling_words(message);
        if words.is_empty() {
            return Ok(None);
        }
        let own = self.lineage(session).await?;
        let filter = SearchFilter {
            limit: LOOKED_AT,
            excluded_sources: vec!["subagent".to_owned(), "tool".to_owned()],
            ..SearchFilter::default()
        };
        let hits = self.store.search_with(&words.join(" OR "), filter).await?.hits;
        let others = hits.into_iter().filter(|hit| hit.role != "tool" && !own.contains(&hit.session));
        Ok(chosen(others, &words))
    }

    /// The conversation itself, under whichever ids it went on: the model has it before its eyes, or a
    /// summary of it.
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

    /// Nothing: what was said before is too much for a prompt that stays.
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

/// The words of a message that tell it from others: the longest ones, each once, in quotes so that
/// nothing in them is taken for a word of the search language.
fn telling_words(message: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in message.split(|c: char| !c.is_alphanumeric()) {
        let word = word.to_lowercase();
        if word.chars().count() >= SHORTEST_WORD && !COMMON.contains(&word.as_str()) && !words.contains(&word)
        {
            words.push(word);
        }
    }
    words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    words.truncate(MOST_WORDS);
    words.iter().map(|word| format!("\"{word}\"")).collect()
}

/// Words of at least four letters that stand in every second message.
const COMMON: [&str; 48] = [
    "about", "after", "again", "also", "been", "before", "could", "does", "done", "each", "file", "files",
    "find", "from", "give", "have", "help", "here", "into", "just", "know", "like", "make", "more", "need",
    "only", "other", "please", "show", "some", "tell", "than", "thanks", "that", "them", "then", "there",
    "these", "they", "this", "want", "were", "what", "when", "where", "which", "with", "would",
];

/// The best piece of each conversation, best first, as far as they fit. A piece must share two words with
/// the message, if the message has that many: one word in common is chance.
fn chosen(hits: impl Iterator<Item = SearchHit>, words: &[String]) -> Option<String> {
    let needed = words.len().min(2);
    let mut best: Vec<(usize, SearchHit)> = Vec::new();
    for hit in hits {
        let shared = shared(&hit.snippet, words);
        match best.iter_mut().find(|(_, other)| other.session == hit.session) {
            _ if shared < needed => {}
            Some((most, other)) if shared > *most => (*most, *other) = (shared, hit),
            Some(_) => {}
            None => best.push((shared, hit)),
        }
    }
    // The search's own order decides between equals.
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

fn shared(snippet: &str, words: &[String]) -> usize {
    let plain = unmarked(snippet).to_lowercase();
    words.iter().filter(|word| plain.contains(word.trim_matches('"'))).count()
}

fn line(hit: &SearchHit) -> String {
    let day = jiff::Timestamp::from_second(hit.timestamp as i64)
        .map_or_else(|_| "?".to_owned(), |time| time.strftime("%Y-%m-%d").to_string());
    let who = if hit.role == "user" { "the user said" } else { "you said" };
    let title = hit.title.as_deref().map_or(String::new(), |title| format!(" in \"{}\"", one_line(title)));
    format!("- {day}{title}, {who}: {}\n", one_line(&unmarked(&hit.snippet)))
}

/// Without the marks that a search puts around what matched.
fn unmarked(snippet: &str) -> String {
    snippet.replace(">>>", "").replace("<<<", "")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
