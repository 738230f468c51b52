//! The next token from a refresh token, and the logins of vendors' own programs.

use super::stub::Stub;
use hermes_providers::Fetcher;
use hermes_providers::login::{
    RefreshError, RefreshToken, TokenEndpoint, TokenSource, VendorPlaces, VendorTokens, VendorTool, refresh,
};
use hermes_wire::Failure;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

fn of(stub: &Stub) -> RefreshToken {
    RefreshToken::new(SecretString::from("ref-hush"), stub.token().origin())
}

#[tokio::test]
async fn permanent_and_temporary_refusals_are_distinguished() {
    for (status, body, want) in [
        (400, json!({"error": "invalid_grant"}), "terminal invalid_grant"),
        (
            401,
            json!({"error": {"code": "refresh_token_reused", "message": "m"}}),
            "terminal refresh_token_reused",
        ),
        (401, json!({"error": {"type": "token_revoked"}}), "terminal token_revoked"),
        (200, json!({"error": "token_invalidated"}), "terminal token_invalidated"),
        (401, json!({"error": "something_new"}), "terminal something_new"),
        (401, json!(null), "refused"),
        (403, json!(null), "refused"),
        (400, json!({"error": "invalid_client"}), "refused"),
        (302, json!({}), "refused"),
        (429, json!({"error": "rate_limited"}), "transient"),
        (500, json!(null), "transient"),
        (503, json!({"error": "temporarily_unavailable"}), "transient"),
        (200, json!({}), "transient"),
    ] {
        let stub = Stub::saying(vec![(status, body.clone())]).await;
        let got = match refresh(&Fetcher::default(), &stub.token(), &of(&stub)).await.unwrap_err() {
            RefreshError::Terminal { reason } => format!("terminal {reason}"),
            RefreshError::Transient { .. } => "transient".into(),
            RefreshError::Refused { .. } => "refused".into(),
            RefreshError::OtherOrigin { .. } => "other".into(),
        };
        assert_eq!(got, want, "{status} {body}");
        assert_eq!(stub.seen().len(), 1, "{status} {body}");
    }
    let unreachable = TokenEndpoint {
        url: "http://127.0.0.1:1/token".parse().unwrap(),
        ..Stub::saying(vec![]).await.token()
    };
    let token = RefreshToken::new(SecretString::from("ref-hush"), unreachable.origin());
    let error = refresh(&Fetcher::default(), &unreachable, &token).await.unwrap_err();
    assert!(matches!(error, RefreshError::Transient { .. }), "{error}");
}

#[tokio::test]
async fn refresh_token_is_sent_to_its_issuer_in_its_form() {
    let stub = Stub::saying(vec![(200, json!({"access_token": "next-hush", "expires_in": 60}))]).await;
    let next = refresh(&Fetcher::default(), &stub.token(), &of(&stub)).await.unwrap();
    // Without a new one, the old one is used again.
    assert_eq!(next.refresh.unwrap().secret().expose_secret(), "ref-hush");
    let header = TokenEndpoint { refresh_header: Some("x-nous-refresh-token"), ..stub.token() };
    refresh(&Fetcher::default(), &header, &of(&stub)).await.unwrap();
    let (seen, forms) = (stub.seen(), stub.forms());
    assert_eq!(
        (forms[0]["grant_type"].as_str(), forms[0]["refresh_token"].as_str()),
        ("refresh_token", "ref-hush")
    );
    assert_eq!(seen[1].header("x-nous-refresh-token"), Some("ref-hush"));
    assert!(!forms[1].contains_key("refresh_token"));
    let other = Stub::saying(vec![]).await;
    let error = refresh(&Fetcher::default(), &other.token(), &of(&stub)).await.unwrap_err();
    assert!(matches!(error, RefreshError::OtherOrigin { .. }), "{error}");
    assert_eq!(other.seen().len(), 0);
}

async fn said(token: impl Future<Output = Result<SecretString, Failure>>) -> String {
    match token.await {
        Ok(token) => token.expose_secret().to_owned(),
        Err(failure) => failure.to_string(),
    }
}

#[tokio::test]
async fn a_vendors_file_is_read_again_and_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".credentials.json");
    let write = |token: &str, at: u64| {
        let text = json!({"claudeAiOauth": {"accessToken": token, "refreshToken": "r", "expiresAt": at}})
            .to_string();
        std::fs::write(&path, &text).unwrap();
        text
    };
    let places = VendorPlaces { claude_dir: Some(folder.path().into()), ..VendorPlaces::default() };
    let source = VendorTokens::new(VendorTool::ClaudeCode, places);
    assert!(said(source.token()).await.contains("no login of Claude Code on this machine: run `claude`"));
    let expired = write("old-hush", 5);
    let told = said(source.token()).await;
    assert!(told.contains("has expired: run `claude`") && !told.contains("hush"), "{told}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expired);
    write("renewed", 0);
    assert_eq!(said(source.token()).await, "renewed");
    let refused = SecretString::from("renewed");
    assert!(said(source.instead_of(&refused)).await.contains("does not accept the login of Claude Code"));
    write("again", 0);
    assert_eq!(said(source.instead_of(&refused)).await, "again");
}
