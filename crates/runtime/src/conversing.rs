//! Hermes as a library: one call, one answer.
//!
//! [`chat`] takes a text and returns a text. [`run_conversation`] takes a prompt with all its options and returns
//! the whole result. Both create a stored session of their own; a conversation of several turns needs a
//! [`Session`].
//!
//! ```no_run
//! # async fn example(launch: hermes_runtime::Launch) -> Result<(), hermes_runtime::RuntimeError> {
//! let runtime = hermes_runtime::Runtime::open(launch)?;
//! let answer = hermes_runtime::chat(&runtime, "What is 2+2?").await?;
//! # drop(answer);
//! # Ok(())
//! # }
//! ```

use crate::{Input, Opening, Parting, Runtime, RuntimeError, Session, TurnReport, UserInput};
use hermes_conversation::{Content, EventSink, Message, SessionId, UserMessage, events, repair};
use hermes_tools::{AskUser, NoUser};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The input of [`run_conversation`]. `ConversationRequest::from("text")` is the shortest.
pub struct ConversationRequest {
    /// The text of the prompt, or parts with images.
    pub user_message: UserInput,
    /// More text for the system prompt, after the part that all sessions share.
    pub system_message: Option<String>,
    /// Earlier messages, stored with the new session. An invalid sequence is repaired.
    pub conversation_history: Vec<Message>,
    /// The text to store, if it differs from the one that is sent.
    pub persist_user_message: Option<String>,
    /// The time of the prompt in seconds since 1970; the default is now.
    pub persist_user_timestamp: Option<f64>,
    /// Receives every event of the turn, including pieces of text.
    pub events: Option<EventSink>,
    /// Answers approvals; without it, calls that need approval are denied.
    pub ask: Option<Arc<dyn AskUser>>,
    /// Stops the turn.
    pub cancel: CancellationToken,
}

impl From<&str> for ConversationRequest {
    fn from(words: &str) -> Self {
        UserMessage::text(words).into()
    }
}

impl From<UserInput> for ConversationRequest {
    fn from(user_message: UserInput) -> Self {
        Self {
            user_message,
            system_message: None,
            conversation_history: Vec::new(),
            persist_user_message: None,
            persist_user_timestamp: None,
            events: None,
            ask: None,
            cancel: CancellationToken::new(),
        }
    }
}

/// The result of a conversation.
#[derive(Debug, Clone)]
pub struct ConversationResult {
    /// The answer, the reason why the turn ended, and its usage.
    pub report: TurnReport,
    /// All messages, including the answer.
    pub messages: Vec<Arc<Message>>,
    pub session_id: SessionId,
    pub model: String,
    pub provider: String,
    pub base_url: String,
}

/// Answers a text with a text. An incomplete answer is returned as well; without any, the error has the reason.
pub async fn chat(runtime: &Runtime, message: &str) -> Result<String, RuntimeError> {
    let report = run_conversation(runtime, ConversationRequest::from(message)).await?.report;
    report.final_response.ok_or_else(|| {
        RuntimeError::NoAnswer(report.error.unwrap_or_else(|| format!("no answer ({})", report.exit_reason)))
    })
}

/// Runs one turn in a new session. The result says how the turn ended; an error means that it could not be run.
pub async fn run_conversation(
    runtime: &Runtime,
    request: ConversationRequest,
) -> Result<ConversationResult, RuntimeError> {
    let ask = request.ask.unwrap_or_else(|| Arc::new(NoUser));
    let mut session = {
        let opening = Opening { instructions: request.system_message, ..runtime.default_opening() };
        Session::fresh(runtime, opening, ask)?
    };
    if let Some((first, rest)) = as_turn(request.conversation_history) {
        session.store_earlier_messages(first, rest).await?;
    }
    let message = match request.persist_user_message {
        Some(stored) => persisted(request.user_message, stored),
        None => request.user_message,
    };
    let input = Input { at: request.persist_user_timestamp, ..Input::from(message) };
    let events = request.events.unwrap_or_else(|| events().0);
    let report = session.submit(input, &request.cancel, events).await?;
    let endpoint = session.endpoint();
    let (model, provider, base_url) = match &report.stand_in {
        Some(other) => (other.model.clone(), other.provider.clone(), other.base_url.clone()),
        None => (endpoint.model.clone(), endpoint.label(), endpoint.base_url.to_string()),
    };
    let messages = session.history().map(|history| history.messages().to_vec()).unwrap_or_default();
    let session_id = session.id().clone();
    session.close(Parting::Left).await;
    Ok(ConversationResult { report, messages, session_id, model, provider, base_url })
}

/// The text that is sent is kept beside the stored one. Parts are stored as they are.
fn persisted(sent: UserMessage, stored: String) -> UserMessage {
    match sent.content {
        Content::Text(text) => UserMessage {
            content: Content::Text(stored),
            api_content: Some(sent.api_content.unwrap_or(text)),
        },
        Content::Parts(_) => sent,
    }
}

/// A placeholder for earlier messages that do not begin with the user or do not end with an answer.
const MISSING: &str = "(missing)";

/// Earlier messages as one completed turn: the user's first message, and the rest up to an answer.
fn as_turn(past: Vec<Message>) -> Option<(UserMessage, Vec<Message>)> {
    let mut messages = repair(past);
    if !matches!(messages.first()?, Message::User(_)) {
        messages.insert(0, Message::user(MISSING));
    }
    if !matches!(messages.last(), Some(Message::Assistant(said)) if said.calls.is_empty()) {
        messages.push(Message::assistant(MISSING));
    }
    let mut messages = messages.into_iter();
    match messages.next() {
        Some(Message::User(first)) => Some((first, messages.collect())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_messages_become_a_completed_turn() {
        let (user, answer) = (|| Message::user("q"), || Message::assistant("a"));
        for (past, want) in [
            (vec![], None),
            (vec![user(), answer()], Some(("q", vec![answer()]))),
            (vec![user()], Some(("q", vec![Message::assistant(MISSING)]))),
            (vec![answer()], Some((MISSING, vec![answer()]))),
        ] {
            let want = want.map(|(first, rest)| (UserMessage::text(first), rest));
            assert_eq!(as_turn(past), want);
        }
    }

    #[test]
    fn stored_text_may_differ_from_sent_text() {
        let both = persisted(UserMessage::text("[voice] hello"), "hello".to_owned());
        assert_eq!((both.content.as_text(), both.api_content.as_deref()), ("hello", Some("[voice] hello")));
    }
}
