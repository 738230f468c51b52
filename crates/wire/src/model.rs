//! The interface of a model, and its replies.

use crate::{ApiMode, CacheTtl, Dialect, Effort, EncodedRequest, ExtraFields, Failure, Fault, FaultClass};
use futures::stream::BoxStream;
use hermes_conversation::{AssistantMessage, Bill, BoxFuture, FinishReason, Issuer, Usage};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One model at one endpoint.
///
/// Implementations translate and transmit. They never retry, fall back or trim the history: the agent decides
/// about that.
pub trait Model: Send + Sync {
    /// The facts that the request builder and the record need.
    fn profile(&self) -> &ModelProfile;

    /// Starts a reply. Dropping the stream cancels the call. A stream that ends without
    /// [`ModelEvent::Finished`] ends with an error.
    fn reply(&self, request: EncodedRequest) -> BoxFuture<'_, Result<ModelEvents, Failure>>;

    /// Looks for another key of the same provider after this fault, or renews the current one. Returns true if
    /// the same request should be sent again at once.
    fn another_key<'a>(&'a self, _fault: &'a Fault) -> BoxFuture<'a, bool> {
        Box::pin(async { false })
    }
}

/// A streaming reply.
pub type ModelEvents = BoxStream<'static, Result<ModelEvent, Failure>>;

/// The sequence of models of a session. With fallbacks, the current model can change within a turn.
///
/// A route keeps its position; the agent decides when to move. The default methods are those of a route with
/// one model.
pub trait ModelRoute: Send + Sync {
    fn current(&self) -> Arc<dyn Model>;

    /// Returns to the first model at the start of a turn, unless it is in cooldown. Returns true if the first
    /// model is current.
    fn restore(&self) -> bool {
        true
    }

    /// The number of models after the current one.
    fn stops_left(&self) -> u32 {
        0
    }

    /// Moves on to the next model because of this fault.
    fn advance(&self, _because: FaultClass) -> Option<Arc<dyn Model>> {
        None
    }

    /// Reports that a turn ended without a reply.
    fn turn_failed(&self) {}

    /// All models of the route, in order.
    fn stops(&self) -> Vec<Arc<dyn Model>> {
        vec![self.current()]
    }
}

/// A route with one model.
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
    /// The output cap of requests by default. Unlike `max_tokens` it reserves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_cap: Option<u64>,
    pub context_length: Option<u64>,
    /// The real context window of a model on an Ollama server, if known. The server silently drops the
    /// beginning of a longer request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ollama_num_ctx: Option<u64>,
    /// Accepts tool calls that the model writes as text, because its server may not parse them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub text_tool_calls: bool,
    /// The model sees images; `None` if this is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sees_images: Option<bool>,
    /// The reasoning effort; `None` is the default of the endpoint.
    pub effort: Option<Effort>,
    /// The lifetime of cache marks; `None` for requests without marks.
    pub cache: Option<CacheTtl>,
    /// Additional members of chat-completions bodies.
    #[serde(default, skip_serializing_if = "ExtraFields::is_empty")]
    pub extra: ExtraFields,
}

impl ModelProfile {
    /// The output cap of requests.
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
    /// The name of a tool; its arguments are still being received.
    ToolPreparing(String),
    /// The usage so far, for the cost of a call that breaks off.
    Usage(Usage),
    /// The whole reply. A reply without streaming consists of this event only.
    Finished(Box<Reply>),
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub message: AssistantMessage,
    /// The state of each call of `message`.
    pub calls: Vec<CallState>,
    pub finish: FinishReason,
    pub usage: Option<Usage>,
    /// The cost. The decoder sets the part that the provider reports, the meter the rest.
    pub bill: Bill,
}

/// The validity of a received tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Complete, as the model wrote it.
    Complete,
    /// Repaired; the stored arguments are the repaired ones.
    Repaired,
    /// Truncated; never run.
    Truncated,
    /// Malformed arguments; never run.
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
