//! GitHub tokens that are exchanged for Copilot tokens.

use super::stub::Stub;
use hermes_providers::Fetcher;
use hermes_providers::login::{CopilotTokens, EXCHANGE_URL, TokenSource, exchange_for_copilot};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use url::Url;

fn github() -> SecretString {
    SecretString::from("gho_hush0123456789012345")
}

fn in_seconds(seconds: u64) -> u64 {
    let at = SystemTime::now() + Duration::from_secs(seconds);
    at.duration_since(UNIX_EPOCH).unwrap().as_secs()
}

#[tokio::test]
async fn token_is_exchanged_once_and_again_before_it_expires() {
    let answer = |token: &str, life| (200, json!({"token": token, "expires_at": in_seconds(life)}));
    let stub = Stub::saying(vec![answer("one", 1800), answer("two", 60), answer("three", 1800)]).await;
    let near = Url::parse("http://127.0.0.1:9/").unwrap();
    let source = CopilotTokens::new(Fetcher::default(), stub.url("/token"), github(), &near).unwrap();
    for want in ["one", "one"] {
        assert_eq!(source.token().await.unwrap().expose_secret(), want);
    }
    let refused = SecretString::from("one");
    assert_eq!(source.instead_of(&refused).await.unwrap().expose_secret(), "two");
    // A minute is too short.
    assert_eq!(source.token().await.unwrap().expose_secret(), "three");
    let seen = stub.seen();
    assert_eq!(seen.len(), 3);
    let ourselves = concat!("hermes/", env!("CARGO_PKG_VERSION"));
    for request in &seen {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/token"));
        assert_eq!(request.header("authorization"), Some("token gho_hush0123456789012345"));
        assert_eq!(request.header("user-agent"), Some(ourselves));
        assert_eq!(request.header("editor-version"), Some(ourselves));
        assert_eq!(request.header("copilot-integration-id"), None);
    }
}

#[tokio::test]
async fn refusals_have_readable_reasons() {
    for (status, body, want) in [
        (
            401,
            json!({"message": "Bad credentials"}),
            "GitHub does not accept the GitHub token: Bad credentials",
        ),
        (403, json!({"message": "no gho_hush0123456789012345"}), "Hermes does not impersonate one of those"),
        (
            404,
            json!({"message": "Not Found"}),
            "GitHub gives no Copilot token for this GitHub token (Not Found)",
        ),
        (302, json!({}), "not followed"),
        (500, json!(null), "HTTP 500"),
        (200, json!({}), "holds no Copilot token"),
        (200, json!({"token": "t", "endpoints": {"api": "https://evil.example"}}), "not Copilot's"),
    ] {
        let stub = Stub::saying(vec![(status, body)]).await;
        let failure =
            exchange_for_copilot(&Fetcher::default(), &stub.url("/token"), &github()).await.unwrap_err();
        let (said, debug) = (failure.to_string(), format!("{failure:?}"));
        assert!(said.contains(want), "{want}: {said}");
        assert!(!said.contains("hush") && !debug.contains("hush"), "{debug}");
        assert_eq!(stub.seen().len(), 1);
    }
}

#[tokio::test]
async fn tokens_are_sent_to_their_own_addresses_only() {
    let elsewhere = Url::parse("https://github.example/token").unwrap();
    let failure = exchange_for_copilot(&Fetcher::default(), &elsewhere, &github()).await.unwrap_err();
    assert_eq!(failure.to_string(), "a GitHub token is not sent to https://github.example");
    let classic = SecretString::from("ghp_hush0123456789012345");
    let stub = Stub::saying(vec![]).await;
    let failure = exchange_for_copilot(&Fetcher::default(), &stub.url("/token"), &classic).await.unwrap_err();
    assert!(failure.to_string().contains("fine-grained"), "{failure}");
    assert_eq!(stub.seen().len(), 0);
    for (base_url, is_good) in [
        ("https://api.githubcopilot.com", true),
        ("https://api.enterprise.githubcopilot.com", true),
        ("https://api.githubcopilot.com.evil.example", false),
        ("http://api.githubcopilot.com", false),
        ("http://127.0.0.1:9", false),
    ] {
        let exchange = Url::parse(EXCHANGE_URL).unwrap();
        let base_url = Url::parse(base_url).unwrap();
        let made = CopilotTokens::new(Fetcher::default(), exchange, github(), &base_url);
        assert_eq!(made.is_ok(), is_good, "{base_url}");
    }
}
