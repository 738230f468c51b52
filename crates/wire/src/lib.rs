//! What crosses the line to a model: neutral request and event types, and the formats they
//! are written in.
//!
//! There is no HTTP client and no async runtime here. This crate turns values into bytes and
//! bytes into values; sending and receiving is the work of `providers`.

mod arguments;
mod calls;
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
mod think;

pub use arguments::{ArgumentsState, mend_arguments};
pub use classify::{Situation, classify, classify_in, retry_after_header};
pub use encode::{Encoder, encode};
pub use fault::{Failure, Fault, FaultClass, Flags, Refusal, TimeoutPhase};
pub use formats::anthropic::{AnthropicDialect, MessagesServer, ModelDots, ThinkingReplay, ThinkingStyle};
pub use formats::{
    ChatDialect, DecodeError, Decoder, ExtraFields, ReasoningDial, ResponsesBackend, ResponsesDialect,
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
