//! What was said: messages, tool calls, usage, ids, and the rules that keep a history valid.
//!
//! Every other crate speaks this language. Nothing here waits, reads a file or knows a
//! provider's format; the traits are the seams through which a turn reaches its record.

mod auxiliary;
mod cache;
mod compaction;
mod event;
mod history;
mod ids;
mod image_size;
mod json;
mod lease;
mod mail;
mod memory_fence;
mod message;
mod model_names;
mod money;
mod observed;
mod ports;
mod quirks;
mod raw_json;
mod repair;
mod shown;
mod tokens;
mod tool_facts;
mod transcript;

pub use auxiliary::{AuxModel, AuxRequest, AuxTask};
pub use cache::{CacheBreak, CacheEntry, CacheStep, PrefixMark, PromptPart};
pub use compaction::{Compaction, CompactionReport, Kept, NewNode, Node, SummaryBy, Trigger};
pub use event::{
    CallEnding, EventRelay, EventSink, EventStream, EventWatch, HelperNews, Sent, TurnEvent, events,
};
pub use history::History;
pub use ids::{CallId, IntentId, MailId, MessageId, SessionId, TurnId};
pub use json::{parse_lenient, without_lone_surrogates};
pub use lease::{Lease, Owner};
pub use mail::{DeliveryPoint, Mail, MailMode, Mailbox, NoMail, joined, next_turn};
pub use memory_fence::{MemoryFilter, without_memory};
pub use message::{
    AssistantMessage, Content, Disposition, FinishReason, Issuer, Message, Reasoning, ToolCall,
    ToolDefinition, ToolMessage, UserMessage,
};
pub use model_names::{ModelName, NamedReasoning, PromptFamily, listed_output, max_output, silent_thinking};
pub use money::{Bill, Cost, CostStatus, Money};
pub use observed::{CallEnd, ModelCall, Observed};
pub use ports::{HookCall, HookEvent, HookPoint, HookVerdict, Hooks, NoHooks, ToolStatus};
pub use quirks::{Quirk, Quirks};
pub use raw_json::RawJson;
pub use repair::{UNAVAILABLE_RESULT, repair};
pub use shown::{shown_call, shown_parts, shown_result};
pub use tokens::{TokenCount, Usage, estimate_tokens};
pub use tool_facts::{
    CallDigest, CallTitle, ForSubagents, Guidance, Outcome, RunsIn, Subject, ToolFacts, ToolKind, ToolTable,
};
pub use transcript::{
    Closing, Effect, FileChange, Intent, IntentState, OpenTurn, Opening, Permits, ProcessMark, RecordError,
    Settled, Settlement, SpentCall, StartPermit, Transcript,
};

/// A boxed future that may be sent between threads, as the traits of this workspace return it.
pub type BoxFuture<'a, T> = futures::future::BoxFuture<'a, T>;
