//! What can go wrong with a model call, raw and named.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A failed call, as it was observed.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    #[error("HTTP {status}: {}", first_line(.body))]
    Http { status: u16, retry_after: Option<Duration>, body: String },
    #[error("{origin} cannot be reached: {cause}")]
    Unreachable { origin: String, cause: String },
    /// Nothing was sent: no stored key may be used now.
    #[error("{why}")]
    NoKey {
        why: String,
        /// After how long one may be used again, where waiting for it makes sense.
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
    /// An error object inside an otherwise good stream.
    #[error("the provider reported: {}", first_line(.body))]
    Reported { body: String },
    /// Not sent: it could pass a limit that the user set.
    #[error("{why}")]
    OverBudget { why: String },
}

/// Which of a call's limits ran out.
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

/// A failure with a name that recovery can act on.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub class: FaultClass,
    pub flags: Flags,
    /// What the provider said, in one line.
    pub detail: String,
    /// How long the provider asks us to wait.
    pub retry_after: Option<Duration>,
    /// What the refusal says besides words.
    pub refusal: Refusal,
}

/// The parts of a refusal that decide about the key it was for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refusal {
    pub status: Option<u16>,
    /// `error.code` or `error.type`, in lower case; empty when there is none.
    pub code: String,
    /// The moment at which a limit ends, as the provider writes it: a number or a date.
    pub resets_at: Option<String>,
}

impl Fault {
    /// A fault that nobody but us has named.
    pub fn new(class: FaultClass, detail: impl Into<String>) -> Self {
        let (flags, refusal) = (class.flags(), Refusal::default());
        Self { class, flags, detail: detail.into(), retry_after: None, refusal }
    }
}

/// What may help against a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// The same request again, perhaps changed a little.
    pub retry: bool,
    /// A shorter conversation.
    pub compress: bool,
    /// Another key of the same provider.
    pub rotate: bool,
    /// Another provider.
    pub fallback: bool,
}

/// Each kind of fault that is answered differently, its spelling in events and reports, and what
/// may help: r(etry), c(ompress), (rotate) k(ey), f(allback).
macro_rules! fault_classes {
    ($($(#[$doc:meta])* $class:ident $name:literal $flags:literal,)*) => {
        /// The kinds of fault that are answered differently.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FaultClass {
            $($(#[$doc])* $class,)*
        }

        impl FaultClass {
            /// All of them, for tables.
            pub const ALL: &[Self] = &[$(Self::$class,)*];

            /// The spelling used in events and reports.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$class => $name,)*
                }
            }

            /// What may help.
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
    /// The other side's certificate cannot be trusted.
    Certificate "ssl_cert_verification" "",
    ContextOverflow "context_overflow" "rc",
    PayloadTooLarge "payload_too_large" "rc",
    /// Long conversations cost extra, which this account has not agreed to.
    LongContextTier "long_context_tier" "rc",
    LongContextBeta "oauth_long_context_beta_forbidden" "r",
    ImageTooLarge "image_too_large" "r",
    /// Results of tools must be text here.
    ToolImages "multimodal_tool_content_unsupported" "r",
    /// Replayed reasoning was refused.
    ThinkingSignature "thinking_signature" "r",
    EncryptedContent "invalid_encrypted_content" "r",
    /// A tool's schema has keywords that the server cannot use.
    SchemaKeywords "llama_cpp_grammar_pattern" "r",
    StreamingUnsupported "streaming_unsupported" "r",
    ModelNotFound "model_not_found" "f",
    ContentPolicy "content_policy_blocked" "f",
    /// The account's own rules leave no provider for the request.
    ProviderPolicy "provider_policy_blocked" "",
    /// A limit that the user set would be passed.
    Budget "budget" "",
    Format "format_error" "f",
    Unknown "unknown" "r",
}

/// The first line of a body, short enough to be shown.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or("no explanation");
    match line.char_indices().nth(300) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}
