//! Codes that are entered on another device.

use super::stub::{Lookups, Stub};
use hermes_providers::login::{Attempt, LoginError, device_login};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::time::Duration;

fn code() -> (u16, Value) {
    let code = json!({
        "device_code": "dev-code-hush", "user_code": "ABCD-EFGH", "verification_uri": "https://a.example/device",
        "expires_in": 300, "interval": 5
    });
    (200, code)
}

fn error(code: &str) -> (u16, Value) {
    (400, json!({"error": code}))
}

fn granted() -> (u16, Value) {
    (200, json!({"access_token": "acc-hush", "refresh_token": "ref-hush", "expires_in": 3600, "team": "t"}))
}

#[tokio::test]
async fn server_is_polled_until_the_code_is_entered() {
    let pending = || error("authorization_pending");
    let stub = Stub::saying(vec![
        code(),
        pending(),
        pending(),
        pending(),
        error("slow_down"),
        // GitHub's form of the same answer.
        (200, json!({"error": "authorization_pending"})),
        (503, json!(null)),
        granted(),
    ])
    .await;
    let around = Lookups::new();
    let tokens = device_login(&stub.device(), around.attempt()).await.unwrap();
    assert_eq!(tokens.access.expose_secret(), "acc-hush");
    let refresh = tokens.refresh.unwrap();
    assert_eq!(refresh.secret().expose_secret(), "ref-hush");
    assert_eq!(refresh.issued_by(), stub.url("/").origin().ascii_serialization());
    assert!(tokens.expires_at.is_some());
    assert_eq!(tokens.extra["team"], "t");
    assert_eq!(*around.waits.lock().unwrap(), [5, 5, 5, 5, 10, 10, 15]);
    assert_eq!(
        around.screen.lines(),
        [
            "https://a.example/device ABCD-EFGH 300",
            "the server asks to poll more slowly",
            "HTTP 503 without a reason",
        ]
    );
    let seen = stub.seen();
    let paths: Vec<_> = seen.iter().map(|request| format!("{} {}", request.method, request.path)).collect();
    assert_eq!(paths[..2], ["POST /device", "POST /token"]);
    let agent = concat!("hermes/", env!("CARGO_PKG_VERSION"));
    assert!(seen.iter().all(|request| request.header("user-agent") == Some(agent)));
    assert!(seen.iter().all(|r| r.header("content-type") == Some("application/x-www-form-urlencoded")));
    let forms = stub.forms();
    assert_eq!((forms[0]["client_id"].as_str(), forms[0]["scope"].as_str()), ("hermes-test", "a b"));
    assert_eq!(forms[1]["grant_type"], "urn:ietf:params:oauth:grant-type:device_code");
    assert_eq!(forms[1]["device_code"], "dev-code-hush");
}

#[tokio::test]
async fn final_answers_end_a_login_at_once() {
    for (answers, want, asked) in [
        (vec![code(), error("access_denied")], "the login was refused: access_denied", 2),
        (
            vec![code(), error("expired_token")],
            "the code expired before it was entered; start the login again",
            2,
        ),
        (vec![code(), error("invalid_client")], "does not accept the login: invalid_client", 2),
        (vec![code(), (302, json!(null))], "not followed", 2),
        (vec![code(), (200, json!({"token_type": "bearer"}))], "access_token is missing", 2),
        (vec![code(), (200, json!([]))], "an object is missing", 2),
        (vec![(400, json!({"error": "invalid_scope"}))], "does not accept the login: invalid_scope", 1),
        (vec![(200, json!({"user_code": "x"}))], "is missing", 1),
        (vec![(307, json!(null))], "not followed", 1),
        // No one enters the code: sixty requests fit into its lifetime.
        (vec![code(), error("authorization_pending")], "the code expired", 61),
    ] {
        let stub = Stub::saying(answers).await;
        let around = Lookups::new();
        let got = device_login(&stub.device(), around.attempt()).await.unwrap_err().to_string();
        assert!(got.contains(want), "{want}: {got}");
        assert_eq!(stub.seen().len(), asked, "{want}");
    }
}

#[tokio::test]
async fn time_limit_and_cancellation_end_a_login() {
    let stub = Stub::saying(vec![code(), error("authorization_pending")]).await;
    let around = Lookups::new();
    let short = Attempt { limit: Duration::from_secs(12), ..around.attempt() };
    let late = device_login(&stub.device(), short).await.unwrap_err();
    assert!(matches!(late, LoginError::TimedOut { .. }), "{late}");
    assert_eq!(*around.waits.lock().unwrap(), [5, 5]);
    // Waiting by the clock, it ends when it is cancelled.
    let stub = Stub::saying(vec![code(), error("authorization_pending")]).await;
    let around = Lookups::by_the_clock();
    let stopped = async {
        while around.screen.lines().is_empty() {
            tokio::task::yield_now().await;
        }
        around.cancel.cancel();
    };
    let flow = stub.device();
    let (result, ()) = tokio::join!(device_login(&flow, around.attempt()), stopped);
    assert!(matches!(result, Err(LoginError::Cancelled)));
}
