//! The rules that classify errors by status, code and wording.

use super::{ErrorText, Situation};
use crate::FaultClass::{self, *};

/// One rule. All given conditions must hold.
pub(super) struct Rule {
    pub(super) class: FaultClass,
    /// Empty for any status, or none.
    statuses: &'static [u16],
    /// Error codes; one match is enough for `codes` and `any` together.
    codes: &'static [&'static str],
    /// Wordings, one of which must occur.
    any: &'static [&'static str],
    /// Wordings that must all occur.
    all: &'static [&'static str],
    /// Wordings of which none may occur.
    none: &'static [&'static str],
    only_aggregators: bool,
}

const ANY: Rule = Rule {
    class: Unknown,
    statuses: &[],
    codes: &[],
    any: &[],
    all: &[],
    none: &[],
    only_aggregators: false,
};

impl Rule {
    pub(super) fn fits(&self, said: &ErrorText, situation: &Situation) -> bool {
        let says = |word: &&str| said.text.contains(word);
        let status = self.statuses.is_empty() || said.status.is_some_and(|it| self.statuses.contains(&it));
        let named = self.codes.contains(&said.code.as_str()) || self.any.iter().any(says);
        let is_named = named || (self.codes.is_empty() && self.any.is_empty());
        let aggregator = !self.only_aggregators || situation.is_aggregator;
        status && is_named && aggregator && self.all.iter().all(says) && !self.none.iter().any(says)
    }
}

/// Wordings of "the conversation is too long".
const OVERFLOW: &[&str] = &[
    "context length",
    "context_length",
    "context window",
    "context size",
    "maximum context",
    "exceeds the context",
    "exceed context limit",
    "too many tokens",
    "token limit",
    "maximum number of tokens",
    "input token count",
    "prompt is too long",
    "prompt too long",
    "prompt exceeds max length",
    "maximum model length",
    "range of input length",
    "number of input tokens",
    "`max_new_tokens` must be <=",
    "input is too long",
    "input too long",
    "max_model_len",
    "max_tokens:",
    "n_ctx",
    "reduce the length",
    "上下文长度",
    "超过最大长度",
    "超出最大",
    "输入过长",
    "コンテキスト長",
    "zu viele token",
    "demasiados tokens",
];
const OVERLOAD: &[&str] = &[
    "overloaded",
    "at capacity",
    "server is busy",
    "temporarily overloaded",
    "engine is currently",
    "服务繁忙",
    "系统繁忙",
];
const CREDIT: &[&str] = &[
    "insufficient_quota",
    "insufficient credit",
    "insufficient_credit",
    "insufficient balance",
    "insufficient funds",
    "no usable credits",
    "balance depleted",
    "balance_depleted",
    "credit balance",
    "billing",
    "payment required",
    "payment_required",
    "spending limit",
    "spending-limit",
    "key limit exceeded",
    "余额不足",
    "欠费",
];
const CREDIT_CODES: &[&str] = &[
    "insufficient_quota",
    "billing_not_active",
    "payment_required",
    "insufficient_credits",
    "no_usable_credits",
    "balance_depleted",
    "model_not_supported_on_free_tier",
    "personal-team-blocked:spending-limit",
];
const MODEL: &[&str] = &[
    "model_not_found",
    "model not found",
    "no such model",
    "unknown model",
    "invalid model",
    "is not a valid model",
    "模型不存在",
];
const CERTIFICATE: &[&str] = &[
    "certificate verify failed",
    "invalid peer certificate",
    "unknownissuer",
    "self-signed certificate",
    "self signed certificate",
    "certificate has expired",
    "notvalidforname",
    // A machine without any root certificates.
    "no ca certificates",
];

/// Returns true if a transport error is about the server's certificate.
pub(super) fn is_certificate(text: &str) -> bool {
    CERTIFICATE.iter().any(|word| text.contains(word))
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        class: ContentPolicy,
        codes: &["content_filter", "content_policy_violation", "responsible_ai_policy_violation"],
        any: &[
            "content_filter",
            "usage policy",
            "usage policies",
            "flagged as",
            "was flagged",
            "responsible ai",
            "safety system",
        ],
        ..ANY
    },
    Rule {
        class: ThinkingSignature,
        statuses: &[400],
        all: &["thinking"],
        any: &["signature", "cannot be modified", "must remain"],
        ..ANY
    },
    Rule { class: LongContextTier, statuses: &[429], all: &["extra usage", "long context"], ..ANY },
    Rule {
        class: LongContextBeta,
        statuses: &[400],
        all: &["long context", "beta"],
        any: &["not yet available", "not available"],
        ..ANY
    },
    Rule {
        class: SchemaKeywords,
        statuses: &[400, 500],
        any: &[
            "generate parser for this template",
            "failed to parse grammar",
            "error parsing grammar",
            "json schema conversion failed",
        ],
        ..ANY
    },
    Rule {
        class: EncryptedContent,
        codes: &["invalid_encrypted_content"],
        any: &["invalid_encrypted_content", "encrypted content could not", "encrypted_content is invalid"],
        ..ANY
    },
    Rule {
        class: ProviderPolicy,
        any: &["guardrail restrictions", "data policy", "privacy settings"],
        statuses: &[400, 403, 404],
        ..ANY
    },
    Rule {
        class: ImageTooLarge,
        statuses: &[400, 413, 422],
        all: &["image"],
        any: &["exceeds", "too large", "dimension", "too big", "maximum allowed size"],
        none: &["context"],
        ..ANY
    },
    Rule {
        class: ToolImages,
        statuses: &[400, 422],
        any: &[
            "tool content must be a string",
            "tool message content must be a string",
            "image content in tool",
            "tool messages must be string",
        ],
        ..ANY
    },
    Rule {
        class: StreamingUnsupported,
        statuses: &[400, 422],
        all: &["stream"],
        any: &["not supported", "unsupported", "does not support"],
        ..ANY
    },
    // A limit that ends soon is not a missing credit.
    Rule {
        class: RateLimited,
        statuses: &[402],
        any: &["try again", "usage limit reached", "retry after", "resets in", "rate limit"],
        ..ANY
    },
    Rule { class: Billing, statuses: &[402], ..ANY },
    Rule { class: ContextOverflow, codes: &["context_length_exceeded", "max_tokens_exceeded"], ..ANY },
    Rule {
        class: ContextOverflow,
        statuses: &[400, 422, 500, 502, 503, 529],
        any: OVERFLOW,
        none: &["unsupported parameter", "unknown parameter"],
        ..ANY
    },
    Rule { class: Billing, statuses: &[400, 403, 404], codes: CREDIT_CODES, any: CREDIT, ..ANY },
    Rule { class: ModelNotFound, statuses: &[400, 404, 422], codes: &["model_not_found"], any: MODEL, ..ANY },
    Rule { class: ModelNotFound, statuses: &[400, 404, 422], all: &["model", "does not exist"], ..ANY },
    // Anthropic's whole message is `model: NAME`.
    Rule {
        class: ModelNotFound,
        statuses: &[404],
        all: &["not_found_error"],
        any: &["\"message\":\"model: ", "\"message\": \"model: "],
        ..ANY
    },
    Rule { class: Auth, statuses: &[401, 403], ..ANY },
    Rule { class: PayloadTooLarge, statuses: &[413], ..ANY },
    Rule { class: PayloadTooLarge, any: &["request entity too large", "payload too large"], ..ANY },
    Rule { class: Timeout, statuses: &[408], ..ANY },
    Rule { class: Overloaded, statuses: &[429], any: OVERLOAD, ..ANY },
    Rule {
        class: UpstreamRateLimited,
        statuses: &[429],
        all: &["provider returned error"],
        only_aggregators: true,
        ..ANY
    },
    Rule { class: RateLimited, statuses: &[429], ..ANY },
    Rule { class: Overloaded, statuses: &[503, 529], ..ANY },
    Rule {
        class: Format,
        statuses: &[500, 502],
        any: &["unknown parameter", "unsupported parameter", "unrecognized request argument"],
        ..ANY
    },
    Rule { class: Server, statuses: SERVER, ..ANY },
    // Only "not found": a wrong address, or a server that is starting.
    Rule { class: Unknown, statuses: &[404], ..ANY },
    Rule { class: Format, statuses: CLIENT, ..ANY },
    // Redirects are not followed: a key must not be sent to another host.
    Rule { class: Format, statuses: &[300, 301, 302, 303, 304, 305, 306, 307, 308], ..ANY },
    // Errors without a status, inside a stream.
    Rule { class: Certificate, any: CERTIFICATE, ..ANY },
    Rule {
        class: Auth,
        any: &[
            "invalid api key",
            "invalid_api_key",
            "incorrect api key",
            "authentication_error",
            "unauthorized",
        ],
        ..ANY
    },
    Rule { class: ContextOverflow, any: OVERFLOW, ..ANY },
    Rule { class: Overloaded, codes: &["overloaded_error"], any: OVERLOAD, ..ANY },
    Rule {
        class: RateLimited,
        codes: &["rate_limit_error", "rate_limit_exceeded"],
        any: &["too many requests", "rate limit", "请求过于频繁"],
        ..ANY
    },
    Rule { class: Billing, codes: CREDIT_CODES, any: CREDIT, ..ANY },
    Rule { class: ModelNotFound, codes: &["model_not_found"], any: MODEL, ..ANY },
    Rule {
        class: Timeout,
        any: &["timed out", "timeout", "peer closed connection", "incomplete chunked read"],
        ..ANY
    },
];

const SERVER: &[u16] = &[
    500, 501, 502, 504, 505, 506, 507, 508, 510, 511, 520, 521, 522, 523, 524, 525, 526, 527, 530, 598, 599,
];
const CLIENT: &[u16] = &[
    400, 405, 406, 407, 409, 410, 411, 412, 414, 415, 416, 417, 418, 421, 422, 423, 424, 425, 426, 428, 431,
    451, 499,
];
