//! The data model of a conversation: messages, tool calls, usage, ids, and the rules that keep a history valid.
//!
//! Every other crate uses these types. Nothing here does I/O or knows a provider's format. The traits are
//! the interfaces through which a turn reaches its record, its mailbox and its hooks.

mod auxiliary;
mod cache;
mod compaction;
mod display;
mod event;
mod finished_turn;
mod history;
mod hooks;
mod ids;
mod image_size;
mod json;
mod lease;
mod mail;
mod memory_fence;
mod message;
mod model_names;
mod money;
mod quirks;
mod raw_json;
mod repair;
mod tokens;
mod tool_facts;
mod trace_span;
mod transcript;

pub use auxiliary::{AuxModel, AuxRequest, AuxTask};
pub use cache::{CacheBreak, CacheEntry, PrefixDigest, PrefixStatus, PromptPart};
pub use compaction::{Compaction, CompactionReport, KeptCounts, NewNode, Node, SummaryBy, Trigger};
pub use display::{display_call, display_parts, display_result};
pub use event::{
    AskedCall, CallEnding, EventOutlet, EventRef, EventRelay, EventSink, EventStream, EventWatch,
    SubagentEvent, TurnEvent, events,
};
pub use finished_turn::record_finished_turn;
pub use history::History;
pub use hooks::{HookCall, HookEvent, HookPoint, HookVerdict, Hooks, NoHooks, ToolStatus};
pub use ids::{CallId, IntentId, MailId, MessageId, SessionId, TurnId};
pub use json::{parse_lenient, without_lone_surrogates};
pub use lease::{Lease, Owner};
pub use mail::{DeliveryPoint, Mail, MailMode, Mailbox, NoMail, join_mail, mail_for_next_turn};
pub use memory_fence::{MemoryFilter, without_memory};
pub use message::{
    AssistantMessage, Content, Disposition, FinishReason, Issuer, Message, Reasoning, ToolCall,
    ToolDefinition, ToolMessage, UserMessage,
};
pub use model_names::{ModelName, NamedReasoning, PromptFamily, listed_output, max_output, silent_thinking};
pub use money::{Bill, Cost, CostStatus, Money};
pub use quirks::{Quirk, Quirks};
pub use raw_json::RawJson;
pub use repair::{UNAVAILABLE_RESULT, repair};
pub use tokens::{TokenCount, Usage, estimate_tokens};
pub use tool_facts::{
    CallDigest, CallTitle, ForSubagents, Guidance, Outcome, RunsIn, Subject, ToolFacts, ToolKind, ToolTable,
};
pub use trace_span::{CallEnd, ModelCall, TraceSpan};
pub use transcript::{
    Closing, Decided, Effect, FileChange, InnerCall, InnerEnd, Intent, IntentState, OpenTurn, Opening,
    Permits, ProcessMark, RecordError, Settled, Settlement, SpentCall, StartPermit, Transcript,
};

/// A boxed future that may be sent between threads, as the traits of this workspace return it.
pub type BoxFuture<'a, T> = futures::future::BoxFuture<'a, T>;
