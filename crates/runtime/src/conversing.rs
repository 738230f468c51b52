//! Hermes for programs: one call, one answer.
//!
//! [`chat`] takes words and gives words. [`run_conversation`] takes everything that can be said about a
//! question and gives everything that is known about its answer. Both make a stored session of their
//! own; a conversation that goes on for several turns is held with a [`Session`].
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
use hermes_tools::{AskUser, Nobody};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What [`run_conversation`] is asked. `Asked::from("words")` is the least.
pub struct Asked {
    /// Words, or parts with images.
    pub user_message: UserInput,
    /// More words for the system prompt, after those that all sessions share.
    pub system_message: Option<String>,
    /// What was said before; stored with the new session. What does not fit together is mended.
    pub conversation_history: Vec<Message>,
    /// The words to store, where those that are sent have more in them than a person said.
    pub persist_user_message: Option<String>,
    /// When it was said, in seconds since 1970; now unless given.
    pub persist_user_timestamp: Option<f64>,
    /// Hears of everything while it happens, text in pieces included.
    pub events: Option<EventSink>,
    /// Who is asked before a command runs; nobody unless given, and then such commands are not run.
    pub ask: Option<Arc<dyn AskUser>>,
    /// Stops the turn.
    pub cancel: CancellationToken,
}

impl From<&str> for Asked {
    fn from(words: &str) -> Self {
        UserMessage::text(words).into()
    }
}

impl From<UserInput> for Asked {
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

/// What came of a conversation.
#[derive(Debug, Clone)]
pub struct Conversed {
    /// The answer, why the turn ended, and what it took.
    pub report: TurnReport,
    /// The whole conversation, the answer included.
    pub messages: Vec<Arc<Message>>,
    pub session_id: SessionId,
    pub model: String,
    pub provider: String,
    pub base_url: String,
}

/// Answers words with words. An answer that is known to be incomplete counts; none at all is an error
/// that says why.
pub async fn chat(runtime: &Runtime, message: &str) -> Result<String, RuntimeError> {
    let report = run_conversation(runtime, Asked::from(message)).await?.report;
    report.final_response.ok_or_else(|| {
        RuntimeError::NoAnswer(report.error.unwrap_or_else(|| format!("no answer ({})", report.exit_reason)))
    })
}

/// Holds one turn in a new session. Whatever becomes of the turn is in the result; an error means that it
/// could not be held.
pub async fn run_conversation(runtime: &Runtime, asked: Asked) -> Result<Conversed, RuntimeError> {
    let ask = asked.ask.unwrap_or_else(|| Arc::new(Nobody));
    let mut session = {
        let opening = Opening { instructions: asked.system_message, ..runtime.default_opening() };
        Session::fresh(runtime, opening, ask)?
    };
    if let Some((first, rest)) = as_turn(asked.conversation_history) {
        session.go_on_from(first, rest).await?;
    }
    let message = match asked.persist_user_message {
        Some(stored) => persisted(asked.user_message, stored),
        None => asked.user_message,
    };
    let input = Input { at: asked.persist_user_timestamp, ..Input::from(message) };
    let events = asked.events.unwrap_or_else(|| events().0);
    let report = session.submit(input, &asked.cancel, events).await?;
    let endpoint = session.endpoint();
    let (model, provider, base_url) = match &report.stand_in {
        Some(other) => (other.model.clone(), other.provider.clone(), other.base_url.clone()),
        None => (endpoint.model.clone(), endpoint.label(), endpoint.base_url.to_string()),
    };
    let messages = session.history().map(|history| history.messages().to_vec()).unwrap_or_default();
    let session_id = session.id().clone();
    session.close(Parting::Left).await;
    Ok(Conversed { report, messages, session_id, model, provider, base_url })
}

/// What is sent goes beside what is stored. Parts cannot: they are stored as they are.
fn persisted(sent: UserMessage, stored: String) -> UserMessage {
    match sent.content {
        Content::Text(text) => UserMessage {
            content: Content::Text(stored),
            api_content: Some(sent.api_content.unwrap_or(text)),
        },
        Content::Parts(_) => sent,
    }
}

/// Stands where the past does not begin with the user, or does not end with an answer.
const MISSING: &str = "(missing)";

/// What was said before as a turn that is over: the user's first message, and the rest up to an answer.
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
    fn a_past_becomes_a_turn_that_is_over() {
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
    fn what_is_stored_may_be_less_than_what_is_sent() {
        let both = persisted(UserMessage::text("[voice] hello"), "hello".to_owned());
        assert_eq!((both.content.as_text(), both.api_content.as_deref()), ("hello", Some("[voice] hello")));
    }
}
