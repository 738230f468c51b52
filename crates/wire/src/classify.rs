//! Classifies failures of model calls.
//!
//! The rules are a table (`rules`): the first match wins. This file prepares their input: status, error code,
//! and the whole error text in lower case.

mod hints;
mod rules;

pub use hints::retry_after_header;

use crate::fault::first_line;
use crate::{Failure, Fault, FaultClass, Refusal};
use rules::RULES;
use serde_json::Value;

/// The context of a failed call. A provider that cannot process a long conversation often only closes the
/// connection, or sends an error without an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Situation {
    /// The estimated size of the request.
    pub tokens: u64,
    /// The context window of the model, if known.
    pub window: Option<u64>,
    pub messages: usize,
    /// The model thinks for a long time before its first output; such calls are cut off for that reason, not
    /// for their length.
    pub thinks_long: bool,
    /// The endpoint is an aggregator, which forwards requests and errors of other providers.
    pub is_aggregator: bool,
}

/// Windows up to this size count as small.
const SMALL_WINDOW: u64 = 256_000;

impl Situation {
    /// Returns true if a bad request without an explanation means that it is too long.
    fn is_large(&self) -> bool {
        self.exceeds(0.4, 80_000, 80)
    }

    /// Returns true if a closed connection means that the request is too long.
    fn is_very_large(&self) -> bool {
        !self.thinks_long && self.exceeds(0.6, 120_000, 200)
    }

    fn exceeds(&self, share: f64, tokens: u64, messages: usize) -> bool {
        let window = self.window.unwrap_or(SMALL_WINDOW);
        self.tokens as f64 > window as f64 * share
            || (window <= SMALL_WINDOW && (self.tokens > tokens || self.messages > messages))
    }
}

/// Classifies a failure without context.
pub fn classify(failure: &Failure) -> Fault {
    classify_in(failure, &Situation::default())
}

/// Classifies a failure. Pure: the result depends on the failure and the situation alone.
pub fn classify_in(failure: &Failure, situation: &Situation) -> Fault {
    let nothing = Refusal::default;
    let (class, refusal, retry_after) = match failure {
        Failure::Http { status, retry_after, body } => {
            let said = ErrorText::new(Some(*status), body);
            let class = of_report(&said, situation);
            (class, said.refusal(body), retry_after.or_else(|| hints::in_body(body)))
        }
        Failure::Reported { body } => {
            let said = ErrorText::new(None, body);
            (of_report(&said, situation), said.refusal(body), hints::in_body(body))
        }
        Failure::NoKey { rests_for, .. } => match rests_for {
            Some(_) => (FaultClass::RateLimited, nothing(), *rests_for),
            None => (FaultClass::Auth, nothing(), None),
        },
        Failure::Unreachable { cause, .. } if rules::is_certificate(&cause.to_lowercase()) => {
            (FaultClass::Certificate, nothing(), None)
        }
        Failure::Unreachable { .. } => (FaultClass::Unreachable, nothing(), None),
        Failure::TimedOut { .. } => (FaultClass::Timeout, nothing(), None),
        Failure::Cut { .. } if situation.is_very_large() => (FaultClass::ContextOverflow, nothing(), None),
        Failure::Cut { .. } => (FaultClass::StreamCut, nothing(), None),
        Failure::Garbled { .. } => (FaultClass::Garbled, nothing(), None),
        Failure::TooLarge { .. } => (FaultClass::Format, nothing(), None),
        Failure::OverBudget { .. } => (FaultClass::Budget, nothing(), None),
    };
    let mut flags = class.flags();
    // A 403 means that this key lacks a permission, not that it is invalid.
    flags.rotate &= !(class == FaultClass::Auth && refusal.status == Some(403));
    Fault { class, flags, detail: detail(failure), retry_after, refusal }
}

/// The error text of the provider.
pub(crate) struct ErrorText {
    pub(crate) status: Option<u16>,
    /// `error.code` or `error.type`, in lower case.
    pub(crate) code: String,
    /// The whole text, in lower case.
    pub(crate) text: String,
    /// The error message, in lower case.
    message: String,
}

impl ErrorText {
    fn new(status: Option<u16>, body: &str) -> Self {
        let value = serde_json::from_str::<Value>(body).unwrap_or_default();
        let error = &value["error"];
        let code = [&error["code"], &error["type"], &value["code"], &error["status"]];
        let code = code.into_iter().filter_map(Value::as_str).find(|code| *code != "400");
        let number = [&error["code"], &error["status"], &value["status"]];
        let number = number.into_iter().filter_map(Value::as_u64).find_map(|code| u16::try_from(code).ok());
        let number = number.filter(|code| (400..600).contains(code));
        // An aggregator wraps the error of the provider behind it.
        let inner = error["metadata"]["raw"].as_str().unwrap_or_default();
        Self {
            status: status.or(number).or_else(|| status_of(error)),
            code: code.unwrap_or_default().to_lowercase(),
            text: format!("{body} {inner}").to_lowercase(),
            message: message_in(body).to_lowercase(),
        }
    }

    fn refusal(self, body: &str) -> Refusal {
        Refusal { status: self.status, code: self.code, resets_at: hints::moment_in_body(body) }
    }
}

/// The status that belongs to the name of an error, for errors inside a stream.
fn status_of(error: &Value) -> Option<u16> {
    [&error["code"], &error["type"]].into_iter().filter_map(Value::as_str).find_map(status_of_name)
}

fn status_of_name(name: &str) -> Option<u16> {
    Some(match name {
        "invalid_request_error" | "invalid_prompt" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "usage_limit_reached" => 429,
        "api_error" | "server_error" => 500,
        "timeout_error" => 504,
        "server_is_overloaded" | "slow_down" => 503,
        "overloaded_error" => 529,
        _ => return None,
    })
}

fn of_report(said: &ErrorText, situation: &Situation) -> FaultClass {
    let large = said.status == Some(400) && said.message.chars().count() < 30 && situation.is_large();
    let found = RULES.iter().find(|rule| rule.fits(said, situation)).map(|rule| rule.class);
    match found {
        Some(FaultClass::Format) | None if large => FaultClass::ContextOverflow,
        Some(class) => class,
        // A stream that broke after its start.
        None if said.status.is_none() => FaultClass::Server,
        None => FaultClass::Unknown,
    }
}

/// The text for the user: the provider's own message, if there is one.
fn detail(failure: &Failure) -> String {
    match failure {
        Failure::Http { status, body, .. } => format!("HTTP {status}: {}", message_in(body)),
        Failure::Reported { body } => message_in(body),
        other => other.to_string(),
    }
}

fn message_in(body: &str) -> String {
    let message = serde_json::from_str::<Value>(body).ok().and_then(|value| {
        let error = &value["error"];
        let inner = error["metadata"]["raw"].as_str().and_then(|raw| serde_json::from_str::<Value>(raw).ok());
        let inner = inner.as_ref().and_then(|value| value["error"]["message"].as_str());
        let outer = error["message"].as_str().or(error.as_str()).or(value["message"].as_str());
        inner.or(outer).map(str::to_owned)
    });
    first_line(message.as_deref().unwrap_or(body))
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
