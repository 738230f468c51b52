//! The rules by which a provider rejects requests.
//!
//! For chat completions, the rules of OpenAI and Anthropic combined, so that a valid request is accepted by
//! both; the Messages format has its own. Each rule has a name, which is the `code` of the error body.

mod anthropic;
mod messages;
mod reasoning_content;
mod request;
mod responses;
mod sequence;
mod tools;

pub use anthropic::check_anthropic;
pub use responses::check_responses;

use serde_json::{Value, json};

/// Checks a request body against all rules and returns the first violation.
pub fn check(body: &Value) -> Result<(), Rejection> {
    request::check(body)?;
    tools::check(body)?;
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    messages::check(messages)?;
    sequence::check(messages)?;
    reasoning_content::check(body["model"].as_str().unwrap_or_default(), messages)
}

/// A rejected request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} at {at}: {}", .rule.name(), .rule.explanation())]
pub struct Rejection {
    pub rule: Rule,
    /// The path in the body, such as `messages[2].content`.
    pub at: String,
}

impl Rejection {
    pub(crate) fn new(rule: Rule, at: impl Into<String>) -> Self {
        Self { rule, at: at.into() }
    }

    /// The error in OpenAI's format.
    pub fn body(&self) -> Value {
        let kind = "invalid_request_error";
        let (message, code) = (self.to_string(), self.rule.name());
        json!({"error": {"message": message, "type": kind, "param": self.at, "code": code}})
    }

    /// The error in Anthropic's format.
    pub fn anthropic_body(&self) -> Value {
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": self.to_string()}})
    }
}

macro_rules! rules {
    ($($rule:ident $name:literal $explanation:literal,)*) => {
        /// A rule for requests.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Rule {
            $(#[doc = $explanation] $rule,)*
        }

        impl Rule {
            /// All rules.
            pub const ALL: &[Self] = &[$(Self::$rule,)*];

            /// The name used in error bodies.
            pub fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }

            /// The requirement of the rule.
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$rule => $explanation,)* }
            }
        }
    };
}

rules! {
    NotJson "not_json" "the body must be a JSON object",
    MissingModel "missing_model" "`model` must be a non-empty string",
    MissingMessages "missing_messages" "`messages` must be an array",
    EmptyMessages "empty_messages" "`messages` must not be empty",
    StreamOptionsWithoutStream "stream_options_without_stream" "`stream_options` needs `stream: true`",
    TwoOutputCaps "two_output_caps" "`max_tokens` and `max_completion_tokens` exclude each other",
    EmptyTools "empty_tools" "`tools` must be absent or a non-empty array",
    ToolChoiceWithoutTools "tool_choice_without_tools" "`tool_choice` needs `tools`",
    InvalidTool "invalid_tool" "a tool needs `type: function`, a name and a parameters object",
    DuplicateTool "duplicate_tool" "tool names must be unique",
    EmptyName "empty_name" "a function name must not be empty",
    InvalidName "invalid_name" "a function name must match ^[a-zA-Z0-9_-]{1,64}$",
    InvalidMessage "invalid_message" "a message must be an object",
    UnknownRole "unknown_role" "the role must be system, developer, user, assistant or tool",
    InternalKey "internal_key" "keys beginning with `_` are internal",
    UnknownKey "unknown_key" "the key is not part of the format",
    MisplacedKey "misplaced_key" "the key does not belong to this role",
    NullContent "null_content" "only an assistant with tool calls may leave out its content",
    InvalidContent "invalid_content" "content must be a string or a non-empty array of typed parts",
    InvalidCalls "invalid_calls" "`tool_calls` must be a non-empty array of function calls",
    MissingCallId "missing_call_id" "a call and its result need a non-empty id",
    DuplicateCallId "duplicate_call_id" "call ids must be unique within a message",
    InvalidArguments "invalid_arguments" "arguments must be a string that holds JSON",
    SystemNotFirst "system_not_first" "a system message can only be the first message",
    FirstNotUser "first_not_user" "the conversation must begin with a user message",
    ConsecutiveUsers "consecutive_users" "two user messages must not follow each other",
    ConsecutiveAssistants "consecutive_assistants" "two assistant messages must not follow each other",
    MisplacedResult "misplaced_result" "a tool message must directly follow the calls it answers",
    UnknownCallId "unknown_call_id" "the tool message answers a call that was not made",
    AnsweredTwice "answered_twice" "the call has been answered before",
    UnansweredCall "unanswered_call" "every call must be answered before the conversation goes on",

    MissingEcho "missing_echo" "every assistant message to this model needs a non-empty `reasoning_content`",
    UnwantedEcho "unwanted_echo" "`reasoning_content` is not an input of this model",

    MissingMaxTokens "missing_max_tokens" "`max_tokens` must be a positive number",
    InvalidSystem "invalid_system" "`system` must be text or a non-empty list of text blocks",
    InvalidThinking "invalid_thinking" "`thinking` must be adaptive, disabled, or enabled with a budget of at least 1024 that is below `max_tokens`",
    InvalidEffort "invalid_effort" "the effort must be low, medium, high, xhigh or max",
    InvalidToolChoice "invalid_tool_choice" "`tool_choice` must be auto, any, none or a tool that is offered",
    InvalidSchema "invalid_schema" "a schema must be of type object and combine nothing at the top",
    LastNotUser "last_not_user" "the conversation must end with a user message",
    UnknownBlock "unknown_block" "this role has no such block",
    EmptyText "empty_text" "text must not be blank",
    InvalidSource "invalid_source" "a source must be base64 data of a known type or a web address",
    InvalidCallId "invalid_call_id" "a call id must match ^[a-zA-Z0-9_-]+$",
    InvalidInput "invalid_input" "`input` must be an object",
    ResultNotFirst "result_not_first" "results must come before anything else in a message",
    UnsignedThinking "unsigned_thinking" "thinking must carry the signature or the data it was issued with",
    ThinkingLast "thinking_last" "a message must not end with thinking",
    ThinkingMissing "thinking_missing" "with a thinking budget, calls that are being answered must begin with thinking",
    InvalidMark "invalid_mark" "a cache mark must be ephemeral, for 5m or 1h",
    MisplacedMark "misplaced_mark" "thinking carries no cache mark",
    TooManyMarks "too_many_marks" "at most four cache marks are taken",
    MarkOrder "mark_order" "marks for 1h must come before those for 5m",

    MissingInput "missing_input" "`input` must be a non-empty array",
    StoredResponse "stored_response" "`store` must be false",
    InvalidInclude "invalid_include" "`include` must be an array of known names",
    InvalidReasoning "invalid_reasoning" "`reasoning` takes a known effort and a known kind of summary",
    SmallOutputCap "small_output_cap" "`max_output_tokens` must be an integer of at least 16",
    LongCacheKey "long_cache_key" "`prompt_cache_key` must be a string of 1 to 64 characters",
    InvalidItem "invalid_item" "an item must be a message, reasoning, a function call or its output",
    WrongPart "wrong_part" "the part's type does not fit who says it",
    LongCallId "long_call_id" "a call id has at most 64 characters",
    UnencryptedReasoning "unencrypted_reasoning" "reasoning needs its `encrypted_content`: nothing is stored",
    StaleItemId "stale_item_id" "the item's `id` names something that was never stored",
    LoneReasoning "lone_reasoning" "reasoning must be followed by the text or calls that it led to",
}

/// Returns true if every provider accepts the function name.
fn check_name(name: &Value, at: &str) -> Result<(), Rejection> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    match name.as_str() {
        Some("") => Err(Rejection::new(Rule::EmptyName, at)),
        Some(name) if name.len() <= 64 && name.chars().all(allowed) => Ok(()),
        Some(_) | None => Err(Rejection::new(Rule::InvalidName, at)),
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
