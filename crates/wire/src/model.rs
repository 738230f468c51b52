//! A model that can be asked, and what it answers.

use crate::{ApiMode, CacheTtl, Dialect, Effort, EncodedRequest, ExtraFields, Failure, Fault, FaultClass};
use futures::stream::BoxStream;
use hermes_conversation::{AssistantMessage, Bill, BoxFuture, FinishReason, Issuer, Usage};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One model at one endpoint, ready to be asked.
///
/// Implementations translate and transmit. They never retry, fall back or trim history:
/// those are decisions, and decisions belong to the agent.
pub trait Model: Send + Sync {
    /// What the request builder and the record need to know about it.
    fn profile(&self) -> &ModelProfile;

    /// Starts a reply. Dropping the stream abandons the call. A stream that ends without
    /// [`ModelEvent::Finished`] ends with an error.
    fn reply(&self, request: EncodedRequest) -> BoxFuture<'_, Result<ModelEvents, Failure>>;

    /// The last call failed like this: looks for another key of the same provider, or a way to renew
    /// this one. `true` means that the same request is worth sending again at once.
    fn another_key<'a>(&'a self, _fault: &'a Fault) -> BoxFuture<'a, bool> {
        Box::pin(async { false })
    }
}

/// A reply on its way in.
pub type ModelEvents = BoxStream<'static, Result<ModelEvent, Failure>>;

/// Which model to ask next. With fallbacks, the answer can change within a turn.
///
/// A route remembers where it stands; when to move is the agent's decision. What is not said here
/// is that of a route with one stop.
pub trait ModelRoute: Send + Sync {
    fn current(&self) -> Arc<dyn Model>;

    /// A turn begins: goes back to the first model, unless that one is to be left alone for now.
    /// Says whether the first model is the current one.
    fn restore(&self) -> bool {
        true
    }

    /// How many models come after the current one.
    fn stops_left(&self) -> u32 {
        0
    }

    /// Moves on to the next model because the current one failed like this.
    fn advance(&self, _because: FaultClass) -> Option<Arc<dyn Model>> {
        None
    }

    /// A turn ended without an answer.
    fn gave_up(&self) {}

    /// Every model it may ask, the first one first.
    fn stops(&self) -> Vec<Arc<dyn Model>> {
        vec![self.current()]
    }
}

/// A route with one stop.
pub struct SingleModel(pub Arc<dyn Model>);

impl ModelRoute for SingleModel {
    fn current(&self) -> Arc<dyn Model> {
        self.0.clone()
    }
}

/// The facts about a model that shape its requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelProfile {
    pub mode: ApiMode,
    #[serde(with = "shared_text")]
    pub model: Arc<str>,
    pub issuer: Issuer,
    pub base_url: String,
    pub dialect: Dialect,
    pub max_tokens: Option<u64>,
    /// The output cap of requests where the settings name none. Unlike `max_tokens` it reserves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_cap: Option<u64>,
    pub context_length: Option<u64>,
    /// The window that an Ollama server really gives the model, where that is known. It says nothing about
    /// a larger one that a request would need: it drops the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ollama_num_ctx: Option<u64>,
    /// Calls that the model writes as text are taken as calls: its server may not parse them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub text_tool_calls: bool,
    /// How hard to think; `None` leaves it to the endpoint.
    pub effort: Option<Effort>,
    /// Whether requests mark what is to be cached.
    pub cache: Option<CacheTtl>,
    /// Further members of its chat-completions bodies.
    #[serde(default, skip_serializing_if = "ExtraFields::is_empty")]
    pub extra: ExtraFields,
}

impl ModelProfile {
    /// The output cap that requests carry.
    pub fn output_cap(&self) -> Option<u64> {
        self.max_tokens.or(self.usual_cap)
    }

    /// Returns true for an endpoint that passes requests on to many vendors. Only such a one gets the session id.
    pub fn is_router(&self) -> bool {
        self.dialect.chat.names_session
    }

    /// Fills the echo field of a reply, where the endpoint demands it back.
    ///
    /// It is stored with the message, so that any program that resumes the session sends the same.
    pub fn keep_echo(&self, message: &mut AssistantMessage) {
        let echoes = self.mode == ApiMode::ChatCompletions && self.dialect.chat.echoes_reasoning;
        if echoes && message.reasoning.content.is_none() {
            message.reasoning.content =
                Some(message.reasoning.text.clone().unwrap_or_else(|| " ".to_owned()));
        }
    }
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    Text(String),
    Reasoning(String),
    /// The name of a tool appeared; its arguments are still being written.
    ToolPreparing(String),
    /// What the call has used so far. Should it break off, this is what is known of its price.
    Usage(Usage),
    /// All of it. A reply that came in one piece is this and nothing before it.
    Finished(Box<Reply>),
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub message: AssistantMessage,
    /// For each call of `message`, whether it may be run.
    pub calls: Vec<CallState>,
    pub finish: FinishReason,
    pub usage: Option<Usage>,
    /// What it cost. A decoder writes down what the provider says of it, the meter the rest.
    pub bill: Bill,
}

/// How a tool call came over the line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// As the model wrote it.
    Complete,
    /// Mended; the stored arguments are the mended ones.
    Repaired,
    /// Cut short: never run.
    Truncated,
    /// Not readable as arguments: never run.
    Malformed,
}

impl CallState {
    pub fn may_run(&self) -> bool {
        matches!(self, Self::Complete | Self::Repaired)
    }
}

mod shared_text {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::sync::Arc;

    pub(super) fn serialize<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Arc::from)
    }
}
