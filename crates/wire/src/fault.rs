//! Failures of model calls, as observed and as classified.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A failed call, as observed.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    #[error("HTTP {status}: {}", first_line(.body))]
    Http { status: u16, retry_after: Option<Duration>, body: String },
    #[error("{origin} cannot be reached: {cause}")]
    Unreachable { origin: String, cause: String },
    /// Nothing was sent: no stored key is usable now.
    #[error("{why}")]
    NoKey {
        why: String,
        /// The time until a key is usable again, if waiting makes sense.
        rests_for: Option<Duration>,
    },
    #[error("no {phase} within {limit:?}")]
    TimedOut { phase: TimeoutPhase, limit: Duration },
    #[error("the reply was cut off: {cause}")]
    Cut { cause: String },
    #[error("the reply could not be read: {cause}")]
    Garbled { cause: String },
    #[error("the reply is larger than {limit} bytes")]
    TooLarge { limit: usize },
    /// An error object inside an otherwise valid stream.
    #[error("the provider reported: {}", first_line(.body))]
    Reported { body: String },
    /// Not sent: a budget of the user could be exceeded.
    #[error("{why}")]
    OverBudget { why: String },
}

/// The limit that was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// A classified failure, on which recovery acts.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub class: FaultClass,
    pub flags: Flags,
    /// The provider's message, in one line.
    pub detail: String,
    /// The delay that the provider asks for.
    pub retry_after: Option<Duration>,
    /// The machine-readable parts of the error.
    pub refusal: Refusal,
}

/// The parts of an error that decide about the key that it was for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refusal {
    pub status: Option<u16>,
    /// `error.code` or `error.type`, in lower case; empty if there is none.
    pub code: String,
    /// The time at which a limit ends, as the provider writes it: a number or a date.
    pub resets_at: Option<String>,
}

impl Fault {
    /// A fault without an error text of a provider.
    pub fn new(class: FaultClass, detail: impl Into<String>) -> Self {
        let (flags, refusal) = (class.flags(), Refusal::default());
        Self { class, flags, detail: detail.into(), retry_after: None, refusal }
    }
}

/// The remedies that may help against a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// The same request again, perhaps slightly changed.
    pub retry: bool,
    /// A shorter conversation.
    pub compress: bool,
    /// Another key of the same provider.
    pub rotate: bool,
    /// Another provider.
    pub fallback: bool,
}

/// The fault classes, their spelling in events and reports, and the remedies: r(etry), c(ompact), (rotate)
/// k(ey), f(allback).
macro_rules! fault_classes {
    ($($(#[$doc:meta])* $class:ident $name:literal $flags:literal,)*) => {
        /// The classes of faults, each with its own recovery.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FaultClass {
            $($(#[$doc])* $class,)*
        }

        impl FaultClass {
            /// All classes, for tables.
            pub const ALL: &[Self] = &[$(Self::$class,)*];

            /// The spelling used in events and reports.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$class => $name,)*
                }
            }

            /// The remedies that may help.
            pub fn flags(self) -> Flags {
                let letters = match self {
                    $(Self::$class => $flags,)*
                };
                let has = |letter| letters.contains(letter);
                Flags { retry: has('r'), compress: has('c'), rotate: has('k'), fallback: has('f') }
            }
        }
    };
}

fault_classes! {
    Auth "auth" "kf",
    Billing "billing" "kf",
    RateLimited "rate_limit" "rkf",
    /// A provider behind an aggregator is at its limit; another key would not help.
    UpstreamRateLimited "upstream_rate_limit" "rf",
    Overloaded "overloaded" "r",
    Server "server_error" "r",
    Timeout "timeout" "r",
    Unreachable "unreachable" "r",
    StreamCut "stream_cut" "r",
    Garbled "garbled" "r",
    /// The certificate of the server cannot be trusted.
    Certificate "ssl_cert_verification" "",
    ContextOverflow "context_overflow" "rc",
    PayloadTooLarge "payload_too_large" "rc",
    /// The account is not enabled for long conversations at extra cost.
    LongContextTier "long_context_tier" "rc",
    LongContextBeta "oauth_long_context_beta_forbidden" "r",
    ImageTooLarge "image_too_large" "r",
    /// The endpoint accepts tool results as text only.
    ToolImages "multimodal_tool_content_unsupported" "r",
    /// The endpoint rejects the reasoning of earlier replies.
    ThinkingSignature "thinking_signature" "r",
    EncryptedContent "invalid_encrypted_content" "r",
    /// A tool schema has keywords that the server does not support.
    SchemaKeywords "llama_cpp_grammar_pattern" "r",
    StreamingUnsupported "streaming_unsupported" "r",
    ModelNotFound "model_not_found" "f",
    ContentPolicy "content_policy_blocked" "f",
    /// The rules of the account leave no provider for the request.
    ProviderPolicy "provider_policy_blocked" "",
    /// A budget of the user would be exceeded.
    Budget "budget" "",
    Format "format_error" "f",
    Unknown "unknown" "r",
}

/// The first line of a body, shortened for display.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or("no explanation");
    match line.char_indices().nth(300) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}
