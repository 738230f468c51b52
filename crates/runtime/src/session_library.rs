//! The sessions of the store, for the model.

use crate::Runtime;
use hermes_conversation::{BoxFuture, Message, SessionId};
use hermes_store::{
    Include, ListFilter, SearchFilter, SearchHit, SessionDb, SessionSummary, Sort, StoredMessage,
};
use hermes_tools::{PastHit, PastMessage, PastOrder, PastSession, SessionLibrary};
use std::collections::BTreeSet;

/// Messages that a search looks at, before they are grouped by conversation.
const MOST_HITS: usize = 300;
/// Sessions whose titles are compared with a query.
const TITLES: usize = 500;
/// Sources whose sessions are parts of others.
const PARTS: [&str; 2] = ["subagent", "tool"];

/// The sessions of a home directory, as the model of one session sees them.
pub(crate) struct PastSessions {
    pub(crate) runtime: Runtime,
    pub(crate) session: SessionId,
}

impl PastSessions {
    fn store(&self) -> Result<&SessionDb, String> {
        self.runtime.store().map_err(|error| error.to_string())
    }

    /// The first session of the conversation that a session belongs to.
    async fn root(&self, id: &SessionId) -> Result<SessionId, String> {
        let line = self.store()?.ancestors(id).await.map_err(|error| error.to_string())?;
        Ok(line.into_iter().next().unwrap_or_else(|| id.clone()))
    }

    async fn listed(&self, limit: usize) -> Result<Vec<SessionSummary>, String> {
        let exclude_sources = PARTS.map(str::to_owned).to_vec();
        let filter = ListFilter { limit, exclude_sources, ..ListFilter::default() };
        self.store()?.list(filter).await.map_err(|error| error.to_string())
    }

    async fn search(&self, query: &str, order: PastOrder) -> Result<Vec<SearchHit>, String> {
        let filter = SearchFilter {
            limit: MOST_HITS,
            sort: match order {
                PastOrder::BestFirst => Sort::Rank,
                PastOrder::NewestFirst => Sort::Newest,
                PastOrder::OldestFirst => Sort::Oldest,
            },
            excluded_sources: PARTS.map(str::to_owned).to_vec(),
            ..SearchFilter::default()
        };
        let report = self.store()?.search_with(query, filter).await.map_err(|error| error.to_string())?;
        if !report.complete && report.hits.is_empty() {
            return Err("the search index is still behind; search again".to_owned());
        }
        Ok(report.hits)
    }

    /// Sessions whose title contains the query.
    async fn titled(&self, query: &str) -> Result<Vec<PastHit>, String> {
        let wanted = query.trim_matches('"').to_lowercase();
        let is_titled = |session: &SessionSummary| {
            session.title.as_deref().is_some_and(|title| title.to_lowercase().contains(&wanted))
        };
        let hit = |session: SessionSummary| {
            let snippet = format!("the title is: {}", session.title.as_deref().unwrap_or_default());
            PastHit { session: past(session), message: None, snippet }
        };
        Ok(self.listed(TITLES).await?.into_iter().filter(is_titled).map(hit).collect())
    }

    async fn found(
        &self,
        query: &str,
        roles: &[String],
        order: PastOrder,
        limit: usize,
    ) -> Result<Vec<PastHit>, String> {
        let in_messages = self.search(query, order).await?;
        let in_messages = in_messages.into_iter().filter(|hit| roles.contains(&hit.role)).map(hit_of);
        let mut hits: Vec<PastHit> = self.titled(query).await?.into_iter().chain(in_messages).collect();
        // Scheduled runs repeat themselves; what the user said comes first.
        hits.sort_by_key(|hit| hit.session.source == "cron");
        let mut seen = BTreeSet::from([self.root(&self.session).await?]);
        let mut found = Vec::new();
        for hit in hits {
            if found.len() == limit {
                break;
            }
            if seen.insert(self.root(&SessionId::new(hit.session.id.as_str())).await?) {
                found.push(hit);
            }
        }
        Ok(found)
    }
}

impl SessionLibrary for PastSessions {
    fn recent(&self, limit: usize) -> BoxFuture<'_, Result<Vec<PastSession>, String>> {
        Box::pin(async move {
            let own = self.root(&self.session).await?;
            let mut recent = Vec::new();
            for session in self.listed(limit.saturating_add(1)).await? {
                if self.root(&session.id).await? != own {
                    recent.push(past(session));
                }
            }
            recent.truncate(limit);
            Ok(recent)
        })
    }

    fn find<'a>(
        &'a self,
        query: &'a str,
        roles: &'a [String],
        order: PastOrder,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<PastHit>, String>> {
        Box::pin(self.found(query, roles, order, limit))
    }

    fn open<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(PastSession, Vec<PastMessage>), String>> {
        Box::pin(async move {
            let store = self.store()?;
            let id = store.resolve(id).await.map_err(|error| error.to_string())?;
            if self.root(&id).await? == self.root(&self.session).await? {
                return Err("that is this conversation; its messages are in your context".to_owned());
            }
            let stored = store.load(&id).await.map_err(|error| error.to_string())?;
            let messages =
                store.messages(&id, Include::Originals).await.map_err(|error| error.to_string())?;
            let session = PastSession {
                id: id.to_string(),
                title: stored.title,
                source: stored.source,
                model: stored.model,
                started_at: stored.started_at,
                last_active: messages.last().map_or(stored.started_at, |message| message.at),
                message_count: messages.len() as u64,
                preview: String::new(),
            };
            Ok((session, messages.into_iter().map(message_of).collect()))
        })
    }
}

fn past(session: SessionSummary) -> PastSession {
    PastSession {
        id: session.id.to_string(),
        title: session.title,
        source: session.source,
        model: session.model,
        started_at: session.started_at,
        last_active: session.last_active,
        message_count: session.message_count,
        preview: session.preview,
    }
}

fn hit_of(hit: SearchHit) -> PastHit {
    PastHit {
        message: Some((hit.message.0, hit.role)),
        snippet: hit.snippet,
        session: PastSession {
            id: hit.session.to_string(),
            title: hit.title,
            source: hit.source,
            model: hit.model,
            started_at: hit.session_started,
            last_active: hit.timestamp,
            message_count: 0,
            preview: String::new(),
        },
    }
}

fn message_of(stored: StoredMessage) -> PastMessage {
    let (role, content, tool_name, calls) = match stored.message {
        Message::User(message) => ("user", message.content.plain_text().into_owned(), None, Vec::new()),
        Message::Assistant(reply) => {
            ("assistant", reply.text, None, reply.calls.into_iter().map(|call| call.name).collect())
        }
        Message::Tool(result) => {
            ("tool", result.content.plain_text().into_owned(), Some(result.tool_name), Vec::new())
        }
    };
    PastMessage { id: stored.id.0, role: role.to_owned(), content, at: stored.at, tool_name, calls }
}
