//! Requests and replies of model APIs: provider-neutral types, and the formats in which they are sent.
//!
//! There is no HTTP client and no async runtime here. This crate encodes and decodes; `providers` sends and
//! receives.

mod arguments;
mod call_assembly;
mod classify;
mod encode;
mod fault;
mod formats;
mod meter;
mod model;
mod overflow;
mod request;
mod sse;
mod text_calls;
mod think_tags;

pub use arguments::{ArgumentsState, repair_arguments};
pub use classify::{Situation, classify, classify_in, retry_after_header};
pub use encode::{Encoder, encode};
pub use fault::{Failure, Fault, FaultClass, Flags, Refusal, TimeoutPhase};
pub use formats::anthropic::{AnthropicDialect, MessagesServer, ModelDots, ThinkingReplay, ThinkingStyle};
pub use formats::{
    ChatDialect, DecodeError, Decoder, ExtraFields, ReasoningControl, ResponsesBackend, ResponsesDialect,
};
pub use meter::{Bound, Meter, NoMeter, PlannedCall, Ticket};
pub use model::{CallState, Model, ModelEvent, ModelEvents, ModelProfile, ModelRoute, Reply, SingleModel};
pub use overflow::{Overflow, overflow};
pub use request::{
    ApiMode, CacheTtl, Dialect, Effort, EncodedRequest, ModelRequest, OutputCapKey, RequestSettings, Segment,
    SegmentKind, SystemRole,
};
pub use sse::{SseError, SseParser};
pub use text_calls::{WrittenCall, may_become_calls, written_calls};
