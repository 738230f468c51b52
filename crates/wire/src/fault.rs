//! What can go wrong with a model call, raw and named.

use std::time::Duration;

/// A failed call, as it was observed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failure {
    #[error("HTTP {status}: {}", first_line(.body))]
    Http { status: u16, retry_after: Option<Duration>, body: String },
    #[error("{origin} cannot be reached: {cause}")]
    Unreachable { origin: String, cause: String },
    #[error("no {phase} within {limit:?}")]
    TimedOut { phase: TimeoutPhase, limit: Duration },
    #[error("the reply was cut off: {cause}")]
    Cut { cause: String },
    #[error("the reply could not be read: {cause}")]
    Garbled { cause: String },
    #[error("the reply is larger than {limit} bytes")]
    TooLarge { limit: usize },
    /// An error object inside an otherwise good stream.
    #[error("the provider reported: {}", first_line(.body))]
    Reported { body: String },
}

/// Which of a call's limits ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutPhase {
    Connect,
    FirstByte,
    Gap,
    Total,
}

impl std::fmt::Display for TimeoutPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "connection",
            Self::FirstByte => "first byte",
            Self::Gap => "further data",
            Self::Total => "complete reply",
        })
    }
}

/// A failure with a name that recovery can act on.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub class: FaultClass,
    /// What the provider said, in one line.
    pub detail: String,
    /// How long the provider asks us to wait.
    pub retry_after: Option<Duration>,
}

/// The kinds of fault that are answered differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultClass {
    Auth,
    Billing,
    RateLimited,
    Overloaded,
    Server,
    Timeout,
    Unreachable,
    StreamCut,
    Garbled,
    ContextOverflow,
    PayloadTooLarge,
    ModelNotFound,
    ContentPolicy,
    StreamingUnsupported,
    Format,
    Unknown,
}

impl FaultClass {
    /// The spelling used in events and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::RateLimited => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Server => "server_error",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::StreamCut => "stream_cut",
            Self::Garbled => "garbled",
            Self::ContextOverflow => "context_overflow",
            Self::PayloadTooLarge => "payload_too_large",
            Self::ModelNotFound => "model_not_found",
            Self::ContentPolicy => "content_policy_blocked",
            Self::StreamingUnsupported => "streaming_unsupported",
            Self::Format => "format_error",
            Self::Unknown => "unknown",
        }
    }
}

/// The first line of a body, short enough to be shown.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or("no explanation");
    match line.char_indices().nth(300) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}
