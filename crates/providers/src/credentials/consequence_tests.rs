use super::*;
use hermes_wire::{Failure, classify};
use serde_json::{Value, json};
use std::time::Duration;

const NOW: f64 = 1_800_000_000.0;

fn fault(status: u16, code: &str, message: &str) -> Fault {
    let body = json!({"error": {"code": code, "message": message}}).to_string();
    classify(&Failure::Http { status, retry_after: None, body })
}

fn entry(provider: &str, fields: Value) -> Entry {
    let mut all = json!({"id": "x", "access_token": "key-0123456789"});
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    Entry::read(provider, all.as_object().unwrap(), 0)
}

fn rotate(until: Option<f64>) -> Consequence {
    Consequence::MarkAndRotate { until }
}

#[test]
fn each_fault_has_its_consequence() {
    use Consequence::{LeaveAlone, MarkDead, Refresh, RetrySame};
    let plain = || json!({});
    let login = || json!({"auth_type": "oauth", "refresh_token": "r"});
    let rests = || json!({"last_status": "exhausted", "last_error_reset_at": NOW + 50.0});
    for (what, provider, fields, fault, strikes, refreshes, others, want) in [
        ("a bill", "p", plain(), fault(402, "", "no credit"), 0, 0, 1, rotate(None)),
        ("a bill, alone", "p", plain(), fault(402, "", "no credit"), 0, 0, 0, LeaveAlone),
        ("a first limit", "p", plain(), fault(429, "", "slow down"), 0, 0, 1, RetrySame),
        ("a first limit, alone", "p", plain(), fault(429, "", "slow down"), 0, 0, 0, LeaveAlone),
        ("a second limit", "p", plain(), fault(429, "", "slow down"), 1, 0, 1, rotate(None)),
        ("a limit of a week", "p", plain(), fault(429, "", "Usage limit reached"), 0, 0, 1, rotate(None)),
        (
            "the same, by its code",
            "p",
            plain(),
            fault(429, "usage_limit_reached", "x"),
            0,
            0,
            1,
            rotate(None),
        ),
        ("a limit while it rests", "p", rests(), fault(429, "", "slow down"), 0, 0, 1, rotate(None)),
        (
            "a limit that says when it ends",
            "p",
            plain(),
            fault(429, "", "Usage limit reached, resets in 3h 5m"),
            0,
            0,
            0,
            rotate(Some(NOW + 11_100.0)),
        ),
        ("a bad key", "p", plain(), fault(401, "invalid_api_key", "no"), 0, 0, 1, rotate(None)),
        ("a bad key, alone", "p", plain(), fault(401, "invalid_api_key", "no"), 0, 0, 0, LeaveAlone),
        ("a revoked token", "p", plain(), fault(401, "token_revoked", "no"), 0, 0, 0, MarkDead),
        ("a revoked token at 403", "p", plain(), fault(403, "token_revoked", "no"), 0, 0, 1, rotate(None)),
        ("a login", "p", login(), fault(401, "token_expired", "no"), 0, 0, 1, Refresh),
        ("a login, renewed once", "p", login(), fault(401, "token_expired", "no"), 0, 1, 1, Refresh),
        ("a login, renewed twice", "p", login(), fault(401, "token_expired", "no"), 0, 2, 1, rotate(None)),
        ("a login that is over", "p", login(), fault(401, "invalid_grant", "no"), 0, 2, 1, MarkDead),
        ("a plain 403", "p", plain(), fault(403, "", "no"), 0, 0, 1, rotate(None)),
        ("Anthropic's 403", "anthropic", plain(), fault(403, "", "no"), 0, 0, 1, LeaveAlone),
        ("Anthropic's 401", "anthropic", plain(), fault(401, "", "no"), 0, 0, 1, rotate(None)),
        ("xAI's 403", "xai-oauth", login(), fault(403, "", "no subscription"), 0, 0, 1, LeaveAlone),
        (
            "xAI's 403 about a token",
            "xai-oauth",
            login(),
            fault(403, "", "OAuth2 access token could not be validated"),
            0,
            0,
            1,
            Refresh,
        ),
        (
            "an organisation without logins",
            "p",
            login(),
            fault(403, "", "OAuth authentication is currently not allowed for this organization"),
            0,
            0,
            1,
            LeaveAlone,
        ),
        ("a busy server", "p", plain(), fault(503, "", "overloaded"), 0, 0, 1, LeaveAlone),
        ("an unknown model", "p", plain(), fault(404, "model_not_found", "no"), 0, 0, 1, LeaveAlone),
        (
            "a provider behind another",
            "p",
            plain(),
            Fault::new(FaultClass::UpstreamRateLimited, "x"),
            3,
            0,
            1,
            LeaveAlone,
        ),
    ] {
        let entry = entry(provider, fields);
        let case = Case { fault: &fault, entry: &entry, now: NOW, strikes, refreshes, others };
        assert_eq!(after(&case), want, "{what}");
    }
}

#[test]
fn end_of_a_cooldown_is_read_from_header_and_body() {
    let body = |more: Value| {
        let mut error = json!({"message": "usage limit reached"});
        error.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"error": error}).to_string()
    };
    let entry = entry("p", json!({}));
    for (retry_after, body, want) in [
        (None, body(json!({})), None),
        (Some(30), body(json!({})), Some(NOW + 30.0)),
        (None, body(json!({"retry_after": 40})), Some(NOW + 40.0)),
        (None, body(json!({"resets_at": NOW + 50.0})), Some(NOW + 50.0)),
        (None, body(json!({"reset_at": "2027-01-15T08:01:00Z"})), Some(NOW + 60.0)),
        (Some(30), body(json!({"resets_at": NOW + 50.0})), Some(NOW + 50.0)),
        // A time in the past is ignored.
        (Some(30), body(json!({"resets_at": NOW - 50.0})), Some(NOW + 30.0)),
    ] {
        let retry_after = retry_after.map(Duration::from_secs);
        let fault = classify(&Failure::Http { status: 429, retry_after, body: body.clone() });
        let case = Case { fault: &fault, entry: &entry, now: NOW, strikes: 0, refreshes: 0, others: 1 };
        assert_eq!(after(&case), rotate(want), "{body} {retry_after:?}");
    }
}
