//! Gives a failure its name.

use crate::fault::first_line;
use crate::{Failure, Fault, FaultClass};
use std::time::Duration;

/// Wordings of "the conversation is too long", lower case.
const OVERFLOW_WORDS: &[&str] = &[
    "context length",
    "context_length",
    "context window",
    "maximum context",
    "too many tokens",
    "prompt is too long",
    "input is too long",
    "max_model_len",
    "n_ctx",
    "reduce the length",
];
const BILLING_WORDS: &[&str] = &[
    "insufficient_quota",
    "insufficient credits",
    "billing",
    "payment_required",
    "insufficient_credits",
    "balance",
];
const POLICY_WORDS: &[&str] = &["content_filter", "usage policy", "flagged", "responsible ai"];
const MODEL_WORDS: &[&str] =
    &["model_not_found", "model not found", "does not exist", "no such model", "unknown model"];
const OVERLOAD_WORDS: &[&str] = &["overloaded", "at capacity", "server is busy"];

/// Names a failure. Pure: the answer depends on status and wording alone.
pub fn classify(failure: &Failure) -> Fault {
    let (class, retry_after) = match failure {
        Failure::Http { status, retry_after, body } => {
            (of_response(*status, body), retry_hint(*retry_after, body))
        }
        Failure::Reported { body } => (of_report(body), retry_hint(None, body)),
        Failure::Unreachable { .. } => (FaultClass::Unreachable, None),
        Failure::TimedOut { .. } => (FaultClass::Timeout, None),
        Failure::Cut { .. } => (FaultClass::StreamCut, None),
        Failure::Garbled { .. } => (FaultClass::Garbled, None),
        Failure::TooLarge { .. } => (FaultClass::Format, None),
    };
    Fault { class, detail: detail(failure), retry_after }
}

fn of_response(status: u16, body: &str) -> FaultClass {
    let text = body.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match status {
        400 | 404 | 422 if says(MODEL_WORDS) && says(&["model"]) => FaultClass::ModelNotFound,
        400 | 422 if says(OVERFLOW_WORDS) => FaultClass::ContextOverflow,
        400 | 422 if says(&["stream"]) && says(&["not supported", "unsupported"]) => {
            FaultClass::StreamingUnsupported
        }
        400 | 403 if says(POLICY_WORDS) => FaultClass::ContentPolicy,
        400 | 403 | 404 if says(BILLING_WORDS) => FaultClass::Billing,
        401 | 403 => FaultClass::Auth,
        402 => FaultClass::Billing,
        404 => FaultClass::ModelNotFound,
        408 => FaultClass::Timeout,
        413 => FaultClass::PayloadTooLarge,
        429 if says(BILLING_WORDS) && !says(&["rate limit"]) => FaultClass::Billing,
        429 if says(OVERLOAD_WORDS) => FaultClass::Overloaded,
        429 => FaultClass::RateLimited,
        503 | 529 => FaultClass::Overloaded,
        500..=599 if says(OVERFLOW_WORDS) => FaultClass::ContextOverflow,
        500..=599 => FaultClass::Server,
        400..=499 => FaultClass::Format,
        // Redirects are not followed: a key must not travel to another host.
        _ => FaultClass::Format,
    }
}

/// An error object that came inside a stream carries no status; its code often is one.
fn of_report(body: &str) -> FaultClass {
    let code = serde_json::from_str::<serde_json::Value>(body)
        .ok()
        .and_then(|value| value["error"]["code"].as_u64().or_else(|| value["error"]["status"].as_u64()))
        .and_then(|code| u16::try_from(code).ok());
    match code {
        Some(status @ 400..=599) => of_response(status, body),
        _ => of_response(500, body),
    }
}

/// The provider's wish, from the header or, failing that, from the body.
fn retry_hint(header: Option<Duration>, body: &str) -> Option<Duration> {
    if header.is_some() {
        return header;
    }
    let value: serde_json::Value = serde_json::from_str(body).ok()?;
    let seconds = value["error"]["retry_after"].as_f64().or_else(|| value["retry_after"].as_f64())?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// What a person should read: the provider's own sentence where there is one.
fn detail(failure: &Failure) -> String {
    match failure {
        Failure::Http { status, body, .. } => format!("HTTP {status}: {}", message_in(body)),
        Failure::Reported { body } => message_in(body),
        other => other.to_string(),
    }
}

fn message_in(body: &str) -> String {
    let message = serde_json::from_str::<serde_json::Value>(body).ok().and_then(|value| {
        let error = &value["error"];
        error["message"].as_str().or(error.as_str()).or(value["message"].as_str()).map(str::to_owned)
    });
    first_line(message.as_deref().unwrap_or(body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use FaultClass::*;

    fn response(status: u16, message: &str) -> Failure {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        Failure::Http { status, retry_after: None, body }
    }

    #[test]
    fn responses_are_named() {
        for (status, message, want) in [
            (400, "x", Format),
            (400, "prompt is too long: 210000 tokens > 200000 maximum", ContextOverflow),
            (400, "Input is too long for requested model.", ContextOverflow),
            (400, "Unsupported parameter: 'temperature'", Format),
            (400, "stream is not supported for this model", StreamingUnsupported),
            (401, "bad key", Auth),
            (402, "x", Billing),
            (403, "Your account has insufficient credits", Billing),
            (404, "The model `x` does not exist", ModelNotFound),
            (408, "x", Timeout),
            (413, "x", PayloadTooLarge),
            (418, "x", Format),
            (429, "slow down", RateLimited),
            (429, "the engine is overloaded", Overloaded),
            (500, "x", Server),
            (502, "x", Server),
            (503, "x", Overloaded),
            (529, "x", Overloaded),
            (302, "", Format),
        ] {
            assert_eq!(classify(&response(status, message)).class, want, "{status} {message}");
        }
    }

    #[test]
    fn an_error_inside_a_stream_is_named_by_its_code() {
        for (body, want) in [
            (r#"{"error":{"code":429,"message":"slow"}}"#, RateLimited),
            (r#"{"error":{"message":"boom"}}"#, Server),
            (r#"{"error":"boom"}"#, Server),
        ] {
            assert_eq!(classify(&Failure::Reported { body: body.into() }).class, want, "{body}");
        }
    }

    #[test]
    fn the_wait_that_was_asked_for_is_found() {
        let header =
            Failure::Http { status: 429, retry_after: Some(Duration::from_secs(7)), body: String::new() };
        assert_eq!(classify(&header).retry_after, Some(Duration::from_secs(7)));
        let body = Failure::Http {
            status: 429,
            retry_after: None,
            body: r#"{"error":{"message":"x","retry_after":2.5}}"#.into(),
        };
        assert_eq!(classify(&body).retry_after, Some(Duration::from_millis(2500)));
    }
}
