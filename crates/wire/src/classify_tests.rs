use super::*;
use crate::TimeoutPhase;
use FaultClass::*;
use serde_json::json;
use std::time::Duration;

fn response(status: u16, message: &str) -> Failure {
    let body = json!({"error": {"message": message}}).to_string();
    Failure::Http { status, retry_after: None, body }
}

#[test]
fn responses_are_classified() {
    for (status, message, want) in [
        (400, "x", Format),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", ContextOverflow),
        (400, "请求的上下文长度超过限制", ContextOverflow),
        (400, "Prompt exceeds max length", ContextOverflow),
        (
            400,
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
            ContextOverflow,
        ),
        (400, "Input Tokens Exceeded: Number of input tokens exceeds maximum length.", ContextOverflow),
        (
            422,
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8000 `inputs` tokens and 512 `max_new_tokens`",
            ContextOverflow,
        ),
        (400, "The decoder prompt is longer than the maximum model length of 4096", ContextOverflow),
        (400, "Unsupported parameter: 'temperature'", Format),
        (400, "stream is not supported for this model", StreamingUnsupported),
        (400, "messages.3.content.0: Invalid `signature` in `thinking` block", ThinkingSignature),
        (400, "`thinking` blocks in the latest assistant message cannot be modified", ThinkingSignature),
        (400, "The long context beta is not yet available for this subscription.", LongContextBeta),
        (429, "Extra usage is required for long context requests", LongContextTier),
        (400, "Failed to parse grammar", SchemaKeywords),
        (400, "The encrypted content could not be verified", EncryptedContent),
        (400, "image dimensions exceed 8000 pixels", ImageTooLarge),
        (400, "tool message content must be a string", ToolImages),
        (400, "Your request was flagged as potentially violating our usage policy", ContentPolicy),
        (404, "No endpoints available matching your guardrail restrictions and data policy", ProviderPolicy),
        (401, "bad key", Auth),
        (402, "x", Billing),
        (402, "Usage limit reached, try again in 5 minutes", RateLimited),
        (403, "Your account has insufficient credits", Billing),
        (404, "The model `x` does not exist", ModelNotFound),
        (404, "Not Found", Unknown),
        (408, "x", Timeout),
        (413, "x", PayloadTooLarge),
        (418, "x", Format),
        (429, "slow down", RateLimited),
        (429, "the engine is overloaded", Overloaded),
        (500, "x", Server),
        (500, "context length exceeded", ContextOverflow),
        (502, "unknown parameter `x`", Format),
        (503, "x", Overloaded),
        (529, "x", Overloaded),
        (302, "", Format),
    ] {
        assert_eq!(classify(&response(status, message)).class, want, "{status} {message}");
    }
}

#[test]
fn error_inside_a_stream_is_classified_by_code_or_wording() {
    for (body, want) in [
        (r#"{"error":{"code":429,"message":"slow"}}"#, RateLimited),
        (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, Overloaded),
        (r#"{"type":"error","error":{"type":"authentication_error","message":"x"}}"#, Auth),
        (
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}"#,
            ContextOverflow,
        ),
        (r#"{"type":"error","error":{"type":"api_error","message":"x"}}"#, Server),
        (r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#, ContextOverflow),
        (r#"{"error":{"message":"boom"}}"#, Server),
        (r#"{"error":"boom"}"#, Server),
        ("not json", Server),
    ] {
        assert_eq!(classify(&Failure::Reported { body: body.into() }).class, want, "{body}");
    }
}

#[test]
fn anthropic_error_with_model_name_means_model_not_found() {
    for (message, want) in [("model: claude-9", ModelNotFound), ("Not found", Unknown)] {
        for body in [
            format!(r#"{{"type":"error","error":{{"type":"not_found_error","message":"{message}"}}}}"#),
            format!(r#"{{"type": "error", "error": {{"type": "not_found_error", "message": "{message}"}}}}"#),
        ] {
            let failure = Failure::Http { status: 404, retry_after: None, body };
            assert_eq!(classify(&failure).class, want, "{failure}");
        }
    }
}

#[test]
fn error_wrapped_by_aggregator_is_classified() {
    let raw = json!({"error": {"message": "prompt is too long"}}).to_string();
    let body =
        json!({"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": raw}}});
    let failure = Failure::Http { status: 400, retry_after: None, body: body.to_string() };
    let fault = classify(&failure);
    assert_eq!((fault.class, fault.detail.as_str()), (ContextOverflow, "HTTP 400: prompt is too long"));
    let limited = response(429, "Provider returned error");
    let aggregator = Situation { is_aggregator: true, ..Situation::default() };
    assert_eq!(classify_in(&limited, &aggregator).class, UpstreamRateLimited);
    assert_eq!(classify(&limited).class, RateLimited);
}

#[test]
fn unexplained_failure_of_large_request_means_overflow() {
    let large = Situation { tokens: 150_000, window: Some(200_000), messages: 300, ..Situation::default() };
    let cut = Failure::Cut { cause: "peer closed connection".into() };
    for (failure, situation, want) in [
        (response(400, "error"), large, ContextOverflow),
        (response(400, "error"), Situation::default(), Format),
        (response(400, "a long explanation that says what is wrong here"), large, Format),
        (cut.clone(), large, ContextOverflow),
        (cut.clone(), Situation { thinks_long: true, ..large }, StreamCut),
        (cut, Situation::default(), StreamCut),
    ] {
        assert_eq!(classify_in(&failure, &situation).class, want, "{failure} {situation:?}");
    }
}

#[test]
fn retry_delays_are_read() {
    let header =
        Failure::Http { status: 429, retry_after: Some(Duration::from_secs(7)), body: String::new() };
    assert_eq!(classify(&header).retry_after, Some(Duration::from_secs(7)));
    let fault = classify(&response(429, "try again in 20s"));
    assert_eq!(fault.retry_after, Some(Duration::from_secs(20)));
}

#[test]
fn bad_certificate_is_not_retried() {
    for cause in ["invalid peer certificate: UnknownIssuer", "No CA certificates were loaded from the system"]
    {
        let fault = classify(&Failure::Unreachable { origin: "https://x".into(), cause: cause.into() });
        assert_eq!((fault.class, fault.flags.retry), (Certificate, false), "{cause}");
    }
}

/// The results of the Python release. Differences are refinements: a transport failure is a typed value here,
/// not a sentence.
#[test]
fn classes_match_the_python_release() {
    const CASES: &str = include_str!("../tests/cases/error_classifier.jsonl");
    let mut seen = 0;
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (given, want) = (&case["in"], &case["out"]);
        let message = given["message"].as_str().unwrap_or_default();
        let reason = want["reason"].as_str().unwrap();
        let body = match &given["body"] {
            Value::Null => json!({"error": {"message": message}}).to_string(),
            body => body.to_string(),
        };
        let failure = match (given["type"].as_str(), given["status"].as_u64()) {
            (Some("ConnectError"), _) => continue,
            (Some(_), _) => Failure::TimedOut { phase: TimeoutPhase::Gap, limit: Duration::ZERO },
            (None, Some(status)) => {
                Failure::Http { status: u16::try_from(status).unwrap(), retry_after: None, body }
            }
            (None, None) if message.starts_with("peer closed") || message == "Connection error." => {
                Failure::Cut { cause: message.to_owned() }
            }
            (None, None) => Failure::Reported { body },
        };
        let situation = Situation {
            tokens: given["approx_tokens"].as_u64().unwrap_or_default(),
            window: given["context_length"].as_u64(),
            messages: given["num_messages"].as_u64().unwrap_or_default() as usize,
            ..Situation::default()
        };
        let fault = classify_in(&failure, &situation);
        let class = match fault.class {
            // A finer class for the same failure.
            StreamCut if matches!(reason, "timeout" | "unknown") => reason,
            class => class.as_str(),
        };
        assert_eq!(class, reason, "{line}");
        let flags = [fault.flags.retry, fault.flags.compress, fault.flags.rotate, fault.flags.fallback];
        let wanted = ["retryable", "compress", "rotate", "fallback"].map(|name| want[name] == true);
        assert_eq!(flags, wanted, "{line}");
        seen += 1;
    }
    assert_eq!(seen, 50);
}
