//! The mapping of requests to scripted replies.

use crate::ReplyScript;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The replies of a scripted model.
pub struct Script(Answers);

enum Answers {
    Sequence { replies: Vec<ReplyScript>, next: AtomicUsize },
    Computed(Box<dyn Fn(&Value) -> ReplyScript + Send + Sync>),
}

/// The reason for which a script has no reply to a request.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("the script is over: it has {replies} replies and this is request {request}")]
    Over { replies: usize, request: usize },
    #[error("the request body is not JSON")]
    NotJson(#[source] serde_json::Error),
}

impl Script {
    /// One reply per request, in order. Requests past the end fail.
    pub fn sequence(replies: impl IntoIterator<Item = ReplyScript>) -> Self {
        Self(Answers::Sequence { replies: replies.into_iter().collect(), next: AtomicUsize::new(0) })
    }

    /// Replies computed from the request body. The server keeps no state between such requests, so a
    /// conversation can continue in another process: the same body gets the same reply, including its ids.
    pub fn by(answer: impl Fn(&Value) -> ReplyScript + Send + Sync + 'static) -> Self {
        Self(Answers::Computed(Box::new(answer)))
    }

    /// The reply to a request, and the number from which its ids are derived.
    pub(crate) fn reply_to(&self, body: &[u8]) -> Result<(u64, Cow<'_, ReplyScript>), ScriptError> {
        match &self.0 {
            Answers::Sequence { replies, next } => {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let over = ScriptError::Over { replies: replies.len(), request: place + 1 };
                let reply = replies.get(place).ok_or(over)?;
                Ok((place as u64 + 1, Cow::Borrowed(reply)))
            }
            Answers::Computed(answer) => {
                let body: Value = serde_json::from_slice(body).map_err(ScriptError::NotJson)?;
                // The length of the history replaces a counter, which would not survive this process.
                let number = body["messages"].as_array().map_or(0, Vec::len) as u64;
                Ok((number, Cow::Owned(answer(&body))))
            }
        }
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Answers::Sequence { replies, .. } => f.debug_tuple("Sequence").field(replies).finish(),
            Answers::Computed(_) => f.write_str("Computed"),
        }
    }
}
