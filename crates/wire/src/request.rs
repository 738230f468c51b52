//! A request to a model, before and after its encoding.

use crate::{AnthropicDialect, ChatDialect, ExtraFields, MessagesServer, ModelDots, ResponsesDialect};
use bytes::Bytes;
use hermes_conversation::{Issuer, Message, ModelName, ToolDefinition};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The formats of model APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApiMode {
    ChatCompletions,
    AnthropicMessages,
    CodexResponses,
}

impl ApiMode {
    /// The spelling used in settings and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat_completions",
            Self::AnthropicMessages => "anthropic_messages",
            Self::CodexResponses => "codex_responses",
        }
    }
}

/// The reasoning effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// No reasoning.
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
    Ultra,
}

impl Effort {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
            Self::Ultra => "ultra",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let all = [
            Self::None,
            Self::Minimal,
            Self::Low,
            Self::Medium,
            Self::High,
            Self::Xhigh,
            Self::Max,
            Self::Ultra,
        ];
        all.into_iter().find(|effort| effort.as_str() == text)
    }
}

/// The lifetime of a cached prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheTtl {
    FiveMinutes,
    OneHour,
}

/// Everything that determines the bytes of a request, and nothing else.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub model: Arc<str>,
    /// The stored system prompt of the session; empty for none.
    pub system: Arc<str>,
    /// Sorted by name; empty if the request offers no tools.
    pub tools: Arc<[ToolDefinition]>,
    pub messages: Arc<Vec<Arc<Message>>>,
    pub settings: RequestSettings,
}

/// The parts of a request that are neither prompt nor history.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestSettings {
    pub stream: bool,
    pub max_tokens: Option<u64>,
    pub dialect: Dialect,
    /// The receiver; reasoning is sent back only to the issuer that wrote it.
    pub issuer: Option<Issuer>,
    /// `None` is the default of the endpoint.
    pub effort: Option<Effort>,
    /// The lifetime of cache marks; `None` for no marks. The system prompt and the ends of the last three units
    /// of messages get a mark.
    pub cache: Option<CacheTtl>,
    /// The session id, for caches with a key.
    pub session: Option<Arc<str>>,
    /// Additional members of a chat-completions body.
    pub extra: ExtraFields,
}

/// The variations between endpoints of the same format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialect {
    pub system_role: SystemRole,
    pub output_cap: OutputCapKey,
    /// Send each call's provider extras back.
    pub keep_extra_content: bool,
    #[serde(default)]
    pub chat: ChatDialect,
    pub anthropic: AnthropicDialect,
    pub responses: ResponsesDialect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    System,
    Developer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputCapKey {
    MaxTokens,
    MaxCompletionTokens,
}

/// A request as it is sent.
///
/// The guarantee: without cache marks, the segment list of one request is a prefix of the next one's, within a
/// turn, across turns and across resume.
#[derive(Debug, Clone)]
pub struct EncodedRequest {
    pub mode: ApiMode,
    pub body: Bytes,
    pub segments: Vec<Segment>,
    pub stream: bool,
    /// The output token limit, if the request contains one.
    pub output_cap: Option<u64>,
    /// The session, for servers that route the requests of a session together.
    pub session: Option<Arc<str>>,
}

/// One part of the prompt, as the provider's cache sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    pub kind: SegmentKind,
    pub hash: [u8; 16],
    pub len: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentKind {
    Tools,
    System,
    Message,
}

impl Default for RequestSettings {
    fn default() -> Self {
        Self {
            stream: true,
            max_tokens: None,
            dialect: Dialect::default(),
            issuer: None,
            effort: None,
            cache: None,
            session: None,
            extra: ExtraFields::default(),
        }
    }
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            system_role: SystemRole::System,
            output_cap: OutputCapKey::MaxTokens,
            keep_extra_content: false,
            chat: ChatDialect::default(),
            anthropic: AnthropicDialect::default(),
            responses: ResponsesDialect::default(),
        }
    }
}

impl Dialect {
    /// The dialect that follows from the model's name alone.
    pub fn of_model(model: &str) -> Self {
        let name = ModelName::of(model);
        Self {
            system_role: match name.takes_developer_role() {
                true => SystemRole::Developer,
                false => SystemRole::System,
            },
            output_cap: match name.takes_completion_cap() {
                true => OutputCapKey::MaxCompletionTokens,
                false => OutputCapKey::MaxTokens,
            },
            keep_extra_content: name.keeps_extra_content(),
            chat: ChatDialect::default(),
            anthropic: AnthropicDialect::of(MessagesServer::Other, ModelDots::ToDashes, model),
            responses: ResponsesDialect::default(),
        }
    }
}
