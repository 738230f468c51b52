//! The record of a session, for tools that search it.

use crate::Runtime;
use hermes_conversation::{BoxFuture, MessageId, Node, SessionId};
use hermes_store::OriginalRange;
use hermes_tools::{RecordHit, RecordMessage, RecordReader};

/// The number of searches while the index is behind.
const CATCHING_UP: usize = 50;

/// The record of one session.
pub(crate) struct SessionRecord {
    pub(crate) runtime: Runtime,
    pub(crate) session: SessionId,
}

impl RecordReader for SessionRecord {
    fn summaries(&self) -> BoxFuture<'_, Result<Vec<Node>, String>> {
        Box::pin(async {
            let store = self.runtime.store().map_err(|error| error.to_string())?;
            store.nodes(&self.session).await.map_err(|error| error.to_string())
        })
    }

    fn messages(
        &self,
        first: MessageId,
        last: MessageId,
        after: Option<MessageId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RecordMessage>, String>> {
        Box::pin(async move {
            let store = self.runtime.store().map_err(|error| error.to_string())?;
            let range = OriginalRange { first, last };
            let found = store.originals(&self.session, range, after, limit).await;
            let found = found.map_err(|error| error.to_string())?;
            Ok(found.into_iter().map(|one| RecordMessage { id: one.id, message: one.message }).collect())
        })
    }

    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<RecordHit>, String>> {
        Box::pin(async move {
            let store = self.runtime.store().map_err(|error| error.to_string())?;
            let wanted = limit.saturating_mul(2);
            let mut report = store.search_originals(&self.session, query, wanted).await;
            // The index may be behind a session that grows quickly; every search advances it.
            for _ in 0..CATCHING_UP {
                if report.as_ref().map_or(true, |report| report.complete) {
                    break;
                }
                report = store.search_originals(&self.session, query, wanted).await;
            }
            let mut report = report.map_err(|error| error.to_string())?;
            if !report.complete && report.hits.is_empty() {
                return Err("the search index is still behind this conversation; search again".to_owned());
            }
            // Messages outside the context window come first: the model has the others, such as the question itself.
            let last = store.last_summarised(&self.session).await.map_err(|error| error.to_string())?;
            report.hits.sort_by_key(|hit| hit.message > last);
            report.hits.truncate(limit);
            let hit = |hit: hermes_store::SearchHit| RecordHit {
                id: hit.message,
                role: hit.role,
                snippet: hit.snippet,
            };
            Ok(report.hits.into_iter().map(hit).collect())
        })
    }
}
