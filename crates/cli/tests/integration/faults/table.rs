//! The table of server faults, with their original texts and the expected number of requests.

use super::row::{ALL, CHAT, How, MESSAGES, OPENAI, RESPONSES, Row};
use FaultClass::*;
use hermes_conversation::FinishReason;
use hermes_runtime::FaultClass;
use hermes_testkit::Fault;

/// Requests per model call, unless a setting says otherwise.
const ATTEMPTS: usize = 3;

/// Faults that stay: the turn ends without an answer.
pub(crate) fn staying() -> Vec<Row> {
    [lines(), accounts(), limits(), servers(), sizes(), requests(), policies()].concat()
}

fn accounts() -> Vec<Row> {
    vec![
        Row::refuses(Auth, OPENAI, 401, "invalid_api_key", "Incorrect API key provided: sk-no***ey."),
        Row::refuses(Auth, MESSAGES, 401, "authentication_error", "invalid x-api-key"),
        Row::refuses(Auth, MESSAGES, 403, "permission_error", "Your API key may not use this resource."),
        Row::breaks_off(Auth, "authentication_error", "OAuth token has expired."),
        Row::refuses(
            Billing,
            CHAT,
            402,
            "insufficient_credits",
            "Insufficient credits. Add more in settings.",
        ),
        Row::refuses(Billing, OPENAI, 403, "billing_not_active", "Your account is not active."),
        Row::refuses(
            Billing,
            MESSAGES,
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
        ),
        Row::refuses(ModelNotFound, OPENAI, 404, "model_not_found", "The model `m` does not exist."),
        Row::refuses(ModelNotFound, OPENAI, 400, "invalid_request_error", "m is not a valid model ID"),
        Row::refuses(ModelNotFound, MESSAGES, 404, "not_found_error", "model: claude-m"),
    ]
}

fn limits() -> Vec<Row> {
    let limited = "This request would exceed your organization's rate limit of 50,000 tokens per minute.";
    let quota = "You exceeded your current quota, please check your plan and billing details.";
    let rows = vec![
        Row::refuses(RateLimited, OPENAI, 429, "rate_limit_exceeded", "Rate limit reached for requests"),
        Row::refuses(RateLimited, MESSAGES, 429, "rate_limit_error", limited),
        Row::refuses(RateLimited, OPENAI, 429, "insufficient_quota", quota),
        Row::refuses(RateLimited, CHAT, 402, "", "Usage limit reached, try again in 5 minutes"),
        Row::breaks_off(RateLimited, "rate_limit_error", "Slow down."),
        Row::refuses(UpstreamRateLimited, CHAT, 429, "", "Provider returned error").at_an_aggregator(),
        Row::refuses(Overloaded, OPENAI, 503, "server_is_overloaded", "The engine is currently overloaded"),
        Row::refuses(Overloaded, MESSAGES, 529, "overloaded_error", "Overloaded"),
        Row::refuses(Overloaded, CHAT, 429, "1305", "The service may be temporarily overloaded"),
        Row::breaks_off(Overloaded, "overloaded_error", "Overloaded"),
    ];
    rows.into_iter().map(|row| row.times(ATTEMPTS)).collect()
}

fn servers() -> Vec<Row> {
    let page = Fault::Status {
        code: 502,
        headers: vec![("retry-after".into(), "0".into()), ("content-type".into(), "text/html".into())],
        body: "<html><body><h1>502 Bad Gateway</h1></body></html>".into(),
    };
    let rows = vec![
        Row::refuses(Server, OPENAI, 500, "server_error", "The server had an error. Sorry about that!"),
        Row::refuses(Server, MESSAGES, 500, "api_error", "Internal server error"),
        Row::new(Server, ALL, How::Does(page)),
        Row::breaks_off(Server, "api_error", "Internal server error"),
        Row::refuses(Timeout, ALL, 408, "timeout", "Request timed out."),
        Row::refuses(Unknown, ALL, 404, "", "Not Found"),
    ];
    rows.into_iter().map(|row| row.times(ATTEMPTS)).collect()
}

/// Without a `Retry-After` of zero there is one wait and not two.
fn lines() -> Vec<Row> {
    let garbage = Fault::Garbage("data: {\"choices\": oops\n\n".into());
    let rows = vec![
        Row::new(Unreachable, ALL, How::IsNotThere),
        Row::new(StreamCut, ALL, How::Spoils(Fault::DropAtByte(1200))),
        Row::new(StreamCut, ALL, How::Does(Fault::HangUp)),
        Row::new(Garbled, ALL, How::Does(garbage)),
    ];
    let mut rows: Vec<Row> = rows.into_iter().map(|row| row.times(2).of_attempts(2)).collect();
    rows.push(Row::new(Timeout, ALL, How::IsSilent).of_attempts(1));
    rows.push(Row::new(Certificate, ALL, How::IsUntrusted));
    rows.push(Row::new(Certificate, CHAT, How::NobodyIsTrusted));
    rows
}

/// Without compaction the turn ends, and the conversation is unchanged. These conversations are far below their
/// context windows, so a request that is rejected as too long is retried once.
fn sizes() -> Vec<Row> {
    let long = "prompt is too long: 210000 tokens > 200000 maximum";
    let tier = "Extra usage is required for long context requests.";
    let beta = "The long context beta is not yet available for this subscription.";
    let image = "image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes";
    vec![
        Row::refuses(
            ContextOverflow,
            OPENAI,
            400,
            "context_length_exceeded",
            "This model's maximum context length is 128000 tokens.",
        )
        .times(2),
        Row::refuses(ContextOverflow, MESSAGES, 400, "invalid_request_error", long).times(2),
        Row::refuses(ContextOverflow, CHAT, 500, "", "the request exceeds the available context size")
            .times(2),
        Row::breaks_off(ContextOverflow, "context_length_exceeded", "Your input exceeds the context window.")
            .times(2),
        // In a long conversation a bare refusal and a line that is cut mean the same.
        Row::refuses(ContextOverflow, ALL, 400, "", "error").after(82).times(2),
        Row::new(ContextOverflow, ALL, How::Does(Fault::HangUp)).after(202).times(2),
        Row::refuses(PayloadTooLarge, OPENAI, 413, "", "Request Entity Too Large"),
        Row::refuses(PayloadTooLarge, MESSAGES, 413, "request_too_large", "Request exceeds the maximum size"),
        Row::refuses(LongContextTier, MESSAGES, 429, "rate_limit_error", tier),
        Row::refuses(LongContextBeta, MESSAGES, 400, "invalid_request_error", beta),
        Row::refuses(ImageTooLarge, ALL, 400, "invalid_request_error", image).times(2),
    ]
}

fn requests() -> Vec<Row> {
    let grammar = "Unable to generate parser for this template.";
    let string = "tool message content must be a string";
    let signature = "messages.1.content.0: Invalid `signature` in `thinking` block";
    let sealed = "The encrypted content could not be verified.";
    let redirect = Fault::Redirect("https://elsewhere.invalid/v1".into());
    vec![
        Row::refuses(SchemaKeywords, CHAT, 400, "", grammar).times(2),
        Row::refuses(ToolImages, OPENAI, 400, "invalid_request_error", string).times(2),
        Row::refuses(Format, OPENAI, 400, "unsupported_parameter", "Unsupported parameter: 'temperature'"),
        Row::refuses(
            Format,
            MESSAGES,
            400,
            "invalid_request_error",
            "tools.0: Extra inputs are not permitted",
        ),
        Row::new(Format, ALL, How::Does(redirect)),
        Row::refuses(Format, ALL, 400, "", "error"),
        // These are mended once. What comes back then is not.
        Row::refuses(StreamingUnsupported, ALL, 400, "unsupported_value", "stream is not supported").times(2),
        Row::refuses(ThinkingSignature, MESSAGES, 400, "invalid_request_error", signature).times(2),
        Row::refuses(EncryptedContent, RESPONSES, 400, "invalid_encrypted_content", sealed).times(2),
    ]
}

fn policies() -> Vec<Row> {
    let flagged = "Your request was flagged as potentially violating our usage policy.";
    let guard = "No endpoints available matching your guardrail restrictions and data policy";
    vec![
        Row::refuses(ContentPolicy, OPENAI, 400, "content_filter", "The response was filtered."),
        Row::refuses(ContentPolicy, ALL, 400, "invalid_request_error", flagged),
        Row::new(ContentPolicy, ALL, How::Ends(FinishReason::ContentFilter))
            .ending_as("text_response(finish_reason=content_filter)"),
        Row::refuses(ProviderPolicy, CHAT, 404, "", guard).at_an_aggregator(),
    ]
}

/// Faults that pass: after them the server answers.
pub(crate) fn passing() -> Vec<Row> {
    let rows = staying().into_iter().filter_map(|row| {
        let failures = match row.class {
            RateLimited | UpstreamRateLimited | Overloaded | Timeout | StreamCut | Garbled | Unknown
            | StreamingUnsupported | ThinkingSignature | EncryptedContent | SchemaKeywords | ToolImages
            | ImageTooLarge => 1,
            Server => 2,
            _ => return None,
        };
        let attempts = row.attempts.map(|_| failures + 1);
        Some(Row { attempts, ..row.times(failures) })
    });
    rows.collect()
}

/// The advice to the user.
pub(crate) fn next_step(class: FaultClass) -> &'static str {
    match class {
        Auth => "`hermes doctor`",
        Billing => "the account needs credit",
        ModelNotFound => "`hermes config set model.default NAME`",
        Unreachable => "`hermes config explain model.base_url`",
        Certificate => "check the address, the clock and the CA certificates",
        RateLimited | UpstreamRateLimited | Overloaded | Server | Timeout | StreamCut | Garbled | Unknown => {
            "try again later with --continue"
        }
        ContextOverflow | PayloadTooLarge | LongContextTier | LongContextBeta => "start a new session",
        ImageTooLarge => "send a smaller one in a new session",
        ContentPolicy => "rephrase the prompt",
        ProviderPolicy => "change them, or the model",
        StreamingUnsupported | ThinkingSignature | EncryptedContent | ToolImages | SchemaKeywords
        | Format => "try another model",
        Budget => "`hermes budget`",
    }
}
