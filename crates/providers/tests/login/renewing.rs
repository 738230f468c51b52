//! The next token from a refresh token, and sources that renew by themselves.

use crate::stub::{Around, Stub};
use hermes_conversation::BoxFuture;
use hermes_providers::Asker;
use hermes_providers::login::{
    KeepTokens, LoginTokens, RefreshError, RefreshToken, TokenEndpoint, TokenSource, Tokens, VendorPlaces,
    VendorTokens, VendorTool, refresh,
};
use hermes_wire::{Failure, FaultClass, classify};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

fn of(stub: &Stub) -> RefreshToken {
    RefreshToken::new(SecretString::from("ref-hush"), stub.token().origin())
}

#[tokio::test]
async fn refusals_that_end_a_login_are_told_from_passing_ones() {
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
        let got = match refresh(&Asker::default(), &stub.token(), &of(&stub)).await.unwrap_err() {
            RefreshError::Terminal { reason } => format!("terminal {reason}"),
            RefreshError::Transient { .. } => "transient".into(),
            RefreshError::Refused { .. } => "refused".into(),
            RefreshError::OtherOrigin { .. } => "other".into(),
        };
        assert_eq!(got, want, "{status} {body}");
        assert_eq!(stub.seen().len(), 1, "{status} {body}");
    }
    let nobody = TokenEndpoint {
        url: "http://127.0.0.1:1/token".parse().unwrap(),
        ..Stub::saying(vec![]).await.token()
    };
    let token = RefreshToken::new(SecretString::from("ref-hush"), nobody.origin());
    let error = refresh(&Asker::default(), &nobody, &token).await.unwrap_err();
    assert!(matches!(error, RefreshError::Transient { .. }), "{error}");
}

#[tokio::test]
async fn a_refresh_token_goes_to_whoever_issued_it_in_the_way_they_want_it() {
    let stub = Stub::saying(vec![(200, json!({"access_token": "next-hush", "expires_in": 60}))]).await;
    let next = refresh(&Asker::default(), &stub.token(), &of(&stub)).await.unwrap();
    // Without a new one, the old one is used again.
    assert_eq!(next.refresh.unwrap().secret().expose_secret(), "ref-hush");
    let header = TokenEndpoint { refresh_header: Some("x-nous-refresh-token"), ..stub.token() };
    refresh(&Asker::default(), &header, &of(&stub)).await.unwrap();
    let (seen, forms) = (stub.seen(), stub.forms());
    assert_eq!(
        (forms[0]["grant_type"].as_str(), forms[0]["refresh_token"].as_str()),
        ("refresh_token", "ref-hush")
    );
    assert_eq!(seen[1].header("x-nous-refresh-token"), Some("ref-hush"));
    assert!(!forms[1].contains_key("refresh_token"));
    let other = Stub::saying(vec![]).await;
    let error = refresh(&Asker::default(), &other.token(), &of(&stub)).await.unwrap_err();
    assert!(matches!(error, RefreshError::OtherOrigin { .. }), "{error}");
    assert_eq!(other.seen().len(), 0);
}

/// Keeps tokens in memory; can be told to fail.
#[derive(Default)]
struct Drawer {
    tokens: Mutex<Option<Tokens>>,
    log: Mutex<Vec<String>>,
    failures: Mutex<u32>,
}

impl KeepTokens for Drawer {
    fn kept(&self) -> BoxFuture<'_, Option<Tokens>> {
        Box::pin(async { self.tokens.lock().unwrap().clone() })
    }

    fn keep<'a>(&'a self, tokens: &'a Tokens) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async {
            let mut failures = self.failures.lock().unwrap();
            if *failures > 0 {
                *failures -= 1;
                return Err(Failure::NoKey { why: "the disk is full".into(), rests_for: None });
            }
            self.log.lock().unwrap().push(tokens.access.expose_secret().to_owned());
            *self.tokens.lock().unwrap() = Some(tokens.clone());
            Ok(())
        })
    }
}

fn tokens(stub: &Stub, access: &str, life: i64) -> Tokens {
    let (now, span) = (SystemTime::now(), Duration::from_secs(life.unsigned_abs()));
    let expires_at = if life < 0 { now - span } else { now + span };
    Tokens {
        access: SecretString::from(access),
        refresh: Some(of(stub)),
        expires_at: Some(expires_at),
        scope: None,
        extra: serde_json::Map::new(),
    }
}

fn source(stub: &Stub, tokens: Tokens, drawer: &Arc<Drawer>) -> LoginTokens {
    *drawer.tokens.lock().unwrap() = Some(tokens.clone());
    LoginTokens::new(Around::new().asker, stub.token(), tokens, drawer.clone())
}

async fn said(token: impl Future<Output = Result<SecretString, Failure>>) -> String {
    match token.await {
        Ok(token) => token.expose_secret().to_owned(),
        Err(failure) => failure.to_string(),
    }
}

#[tokio::test]
async fn tokens_are_renewed_before_they_expire_and_once_when_refused() {
    let answer =
        |access: &str| (200, json!({"access_token": access, "refresh_token": "r", "expires_in": 3600}));
    let stub = Stub::saying(vec![answer("second"), answer("third")]).await;
    let drawer = Arc::<Drawer>::default();
    let fresh = source(&stub, tokens(&stub, "first", 3600), &drawer);
    assert_eq!(said(fresh.token()).await, "first");
    assert_eq!(stub.seen().len(), 0);
    // Two that were refused at once renew once.
    let first = SecretString::from("first");
    let (one, two) = tokio::join!(said(fresh.instead_of(&first)), said(fresh.instead_of(&first)));
    assert_eq!((one.as_str(), two.as_str()), ("second", "second"));
    assert_eq!(stub.seen().len(), 1);
    let due = source(&stub, tokens(&stub, "old", 60), &drawer);
    assert_eq!(said(due.token()).await, "third");
    assert_eq!(said(due.token()).await, "third");
    assert_eq!(stub.seen().len(), 2);
    assert_eq!(*drawer.log.lock().unwrap(), ["second", "third"]);
}

#[tokio::test]
async fn what_another_process_renewed_is_used_and_a_full_disk_loses_nothing() {
    let stub =
        Stub::saying(vec![(200, json!({"access_token": "next", "refresh_token": "r2", "expires_in": 3600}))])
            .await;
    let drawer = Arc::<Drawer>::default();
    let late = source(&stub, tokens(&stub, "old", -5), &drawer);
    *drawer.tokens.lock().unwrap() = Some(tokens(&stub, "by-another", 3600));
    assert_eq!(said(late.token()).await, "by-another");
    assert_eq!(stub.seen().len(), 0);
    let full = source(&stub, tokens(&stub, "old", -5), &drawer);
    *drawer.failures.lock().unwrap() = 1;
    assert_eq!(said(full.token()).await, "next");
    assert!(drawer.log.lock().unwrap().is_empty());
    assert_eq!(said(full.token()).await, "next");
    assert_eq!(*drawer.log.lock().unwrap(), ["next"]);
    assert_eq!(stub.seen().len(), 1);
}

#[tokio::test]
async fn a_login_that_has_ended_is_not_asked_for_again_until_there_is_a_new_one() {
    let stub = Stub::saying(vec![(400, json!({"error": "invalid_grant"}))]).await;
    let drawer = Arc::<Drawer>::default();
    let ended = source(&stub, tokens(&stub, "old", -5), &drawer);
    for _ in 0..2 {
        let failure = ended.token().await.unwrap_err();
        assert_eq!(failure.to_string(), "the login is no longer valid (invalid_grant); log in again");
        assert_eq!(classify(&failure).class, FaultClass::Auth);
    }
    assert_eq!(stub.seen().len(), 1);
    *drawer.tokens.lock().unwrap() = Some(tokens(&stub, "new-login", 3600));
    assert_eq!(said(ended.token()).await, "new-login");
    let passing = Stub::saying(vec![(503, json!(null))]).await;
    let later = source(&passing, tokens(&passing, "old", -5), &drawer);
    for _ in 0..2 {
        assert!(matches!(later.token().await, Err(Failure::Unreachable { .. })));
    }
    assert_eq!(passing.seen().len(), 2);
}

#[tokio::test]
async fn a_renewal_that_nobody_waits_for_is_not_lost() {
    let stub =
        Stub::saying(vec![(200, json!({"access_token": "next", "refresh_token": "r2", "expires_in": 3600}))])
            .await;
    let drawer = Arc::<Drawer>::default();
    let late = source(&stub, tokens(&stub, "old", -5), &drawer);
    let asked = async {
        while stub.seen().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        () = asked => {}
        _ = late.token() => panic!("the answer was there before the question"),
    }
    assert_eq!(said(late.token()).await, "next");
    assert_eq!((stub.seen().len(), drawer.log.lock().unwrap().len()), (1, 1));
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
