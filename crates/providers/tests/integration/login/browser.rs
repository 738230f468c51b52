//! Browsers that return with a code, and other connections to the listener.

use super::stub::{Lookups, Stub};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::StreamExt;
use futures::stream;
use hermes_providers::login::{
    Attempt, BrowserFlow, LoginChannels, LoginError, Redirect, Tokens, browser_login,
};
use secrecy::ExposeSecret;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// One parameter of an address.
fn param(url: &Url, name: &str) -> String {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap()
}

/// Sends bytes to the listener and reads the answer.
async fn knock(page: &Url, bytes: &str) -> String {
    let back = Url::parse(&param(page, "redirect_uri")).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", back.port().unwrap())).await.unwrap();
    // The listener may close the connection before a long request is written.
    let _ = stream.write_all(bytes.as_bytes()).await;
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap_or_default();
    said
}

async fn get(page: &Url, target: &str) -> String {
    knock(page, &format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")).await
}

/// Logs in with a browser that runs `act` on the page, and returns what the browser got.
async fn log_in<Act, Acting>(
    stub: &Stub,
    around: &Lookups,
    act: Act,
) -> (Result<Tokens, LoginError>, Vec<String>)
where
    Act: FnOnce(Url) -> Acting + Send + Sync + Clone + 'static,
    Acting: Future<Output = Vec<String>> + Send + 'static,
{
    let saw = Arc::<Mutex<Vec<tokio::task::JoinHandle<Vec<String>>>>>::default();
    let into = saw.clone();
    let open = move |page: &Url| {
        into.lock().unwrap().push(tokio::spawn(act.clone()(page.clone())));
        true
    };
    let channels = LoginChannels { open: &open, pasted: stream::empty().boxed() };
    let result = browser_login(&stub.browser(), channels, around.attempt()).await;
    let browser = saw.lock().unwrap().pop().unwrap();
    (result, browser.await.unwrap())
}

fn granted() -> Vec<(u16, serde_json::Value)> {
    vec![(200, json!({"access_token": "acc-hush", "refresh_token": "ref-hush", "expires_in": 60}))]
}

#[tokio::test]
async fn a_browser_comes_back_with_the_code() {
    let stub = Stub::saying(granted()).await;
    let around = Lookups::new();
    let (result, saw) = log_in(&stub, &around, |page| async move {
        let state = param(&page, "state");
        vec![page.to_string(), get(&page, &format!("/callback?code=the%2Fcode-hush&state={state}")).await]
    })
    .await;
    let tokens = result.unwrap();
    assert_eq!(tokens.access.expose_secret(), "acc-hush");
    let page = Url::parse(&saw[0]).unwrap();
    assert!(saw[0].starts_with(stub.url("/authorize").as_str()));
    for (name, want) in [
        ("response_type", "code"),
        ("client_id", "hermes-test"),
        ("scope", "a b"),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(param(&page, name), want);
    }
    assert!(saw[1].starts_with("HTTP/1.1 200 OK\r\n") && saw[1].contains("You can close this page"));
    assert!(!saw[1].contains("hush"), "{}", saw[1]);
    let forms = stub.forms();
    assert_eq!(forms.len(), 1);
    assert_eq!(
        (forms[0]["grant_type"].as_str(), forms[0]["code"].as_str()),
        ("authorization_code", "the/code-hush")
    );
    assert_eq!(forms[0]["redirect_uri"], param(&page, "redirect_uri"));
    // The verifier belongs to the challenge and was not sent before.
    let verifier = &forms[0]["code_verifier"];
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
    assert_eq!(param(&page, "code_challenge"), challenge);
    assert!(verifier.len() >= 43 && !saw[0].contains(verifier.as_str()));
    let open: Vec<String> = around.screen.lines();
    assert_eq!(open, [format!("{page} - 600")]);
}

#[tokio::test]
async fn other_connections_do_not_end_a_login() {
    let stub = Stub::saying(granted()).await;
    let around = Lookups::new();
    let (result, saw) = log_in(&stub, &around, |page| async move {
        let state = param(&page, "state");
        let silent = TcpStream::connect((
            "127.0.0.1",
            Url::parse(&param(&page, "redirect_uri")).unwrap().port().unwrap(),
        ))
        .await
        .unwrap();
        let saw = vec![
            knock(&page, "\u{16}\u{3}\u{1}\r\n\r\n").await,
            knock(&page, &format!("GET /{} HTTP/1.1\r\n", "x".repeat(40_000))).await,
            get(&page, "/favicon.ico").await,
            knock(&page, &format!("POST /callback?code=c&state={state} HTTP/1.1\r\n\r\n")).await,
            get(&page, "/callback?code=evil&state=guess").await,
            get(&page, "/callback?error=access_denied").await,
            get(&page, &format!("/callback?state={state}")).await,
            get(&page, &format!("/callback?code=good&state={state}")).await,
        ];
        drop(silent);
        saw.into_iter().map(|said| said.lines().next().unwrap_or("nothing").to_owned()).collect()
    })
    .await;
    assert!(result.is_ok());
    let (odd, missing) = ("HTTP/1.1 400 Bad Request", "HTTP/1.1 404 Not Found");
    assert_eq!(saw, [missing, "nothing", missing, missing, odd, odd, odd, "HTTP/1.1 200 OK"]);
    assert_eq!(stub.forms()[0]["code"], "good");
    assert_eq!(stub.seen().len(), 1);
}

#[tokio::test]
async fn refusal_is_reported() {
    let stub =
        Stub::saying(vec![(400, json!({"error": "invalid_grant", "error_description": "code is used"}))])
            .await;
    let around = Lookups::new();
    let (result, saw) = log_in(&stub, &around, |page| async move {
        let state = param(&page, "state");
        vec![
            get(&page, &format!("/callback?error=access_denied&error_description=not+today&state={state}"))
                .await,
        ]
    })
    .await;
    assert_eq!(result.unwrap_err().to_string(), "the login was refused: access_denied: not today");
    assert!(saw[0].contains("The login was refused"));
    assert_eq!(stub.seen().len(), 0);
    let (result, _) = log_in(&stub, &around, |page| async move {
        let state = param(&page, "state");
        vec![get(&page, &format!("/callback?code=c&state={state}")).await]
    })
    .await;
    let error = result.unwrap_err().to_string();
    assert!(error.ends_with("does not accept the login: invalid_grant: code is used"), "{error}");
}

/// Logs in with lines that the user pastes; they are made from the page.
async fn paste(
    flow: &BrowserFlow,
    around: &Lookups,
    lines: fn(&Url) -> Vec<String>,
) -> Result<Tokens, LoginError> {
    let (send, receive) = futures::channel::mpsc::unbounded();
    let open = move |page: &Url| {
        for line in lines(page) {
            send.unbounded_send(line).unwrap();
        }
        send.close_channel();
        false
    };
    let limit = Duration::from_millis(300);
    let channels = LoginChannels { open: &open, pasted: receive.boxed() };
    browser_login(flow, channels, Attempt { limit, ..around.attempt() }).await
}

#[tokio::test]
async fn pasted_code_is_accepted_even_if_the_port_is_taken() {
    let stub = Stub::saying(granted()).await;
    let taken = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = taken.local_addr().unwrap().port();
    for redirect in [Redirect { port: 0, path: "/callback" }, Redirect { port, path: "/callback" }] {
        let flow = BrowserFlow { redirect, ..stub.browser() };
        let around = Lookups::new();
        let lines = |page: &Url| {
            vec!["nonsense".into(), "c#other".into(), String::new(), format!("c#{}", param(page, "state"))]
        };
        assert!(paste(&flow, &around, lines).await.is_ok());
        let lines = around.screen.lines();
        assert_eq!(lines.iter().filter(|line| line.starts_with("there is no code")).count(), 1, "{lines:?}");
        assert_eq!(
            lines.iter().filter(|line| line.starts_with("this belongs to another")).count(),
            1,
            "{lines:?}"
        );
    }
    // Without a paste a taken port ends the login; otherwise it waits for the listener.
    let around = Lookups::new();
    let blocked = BrowserFlow { redirect: Redirect { port, path: "/callback" }, ..stub.browser() };
    let error = paste(&blocked, &around, |_| vec![]).await.unwrap_err();
    assert!(error.to_string().starts_with(&format!("port {port} on this machine")), "{error}");
    let error = paste(&stub.browser(), &around, |_| vec!["c#other".into()]).await.unwrap_err();
    assert!(matches!(error, LoginError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn login_can_be_cancelled() {
    let stub = Stub::saying(granted()).await;
    let around = Lookups::new();
    let cancel = around.cancel.clone();
    let open = move |_: &Url| {
        cancel.cancel();
        true
    };
    let channels = LoginChannels { open: &open, pasted: stream::empty().boxed() };
    let result = browser_login(&stub.browser(), channels, around.attempt()).await;
    assert!(matches!(result, Err(LoginError::Cancelled)));
}
