//! No error repeats a token that was sent, whatever a server answers.

use super::stub::{Lookups, Stub};
use futures::StreamExt;
use futures::stream;
use hermes_providers::login::{
    LoginChannels, RefreshToken, TokenEndpoint, browser_login, device_login, exchange_for_copilot, refresh,
};
use hermes_scripted::http::Request;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::error::Error;
use url::Url;

/// A part of every secret.
const WORD: &str = "hush";

/// The whole request, as a careless server would repeat it.
fn echo(request: &Request) -> String {
    let form = String::from_utf8_lossy(&request.body);
    let plain: Vec<String> = super::stub::fields(&request.body).into_values().collect();
    let headers: Vec<&str> = request.headers.iter().map(|(_, value)| value.as_str()).collect();
    format!("{form} {} {}", plain.join(" "), headers.join(" "))
}

/// The places of an answer that messages are taken from.
fn bodies(echo: &str) -> Vec<Vec<u8>> {
    let whole = [
        json!({"error": echo}),
        json!({"error": "invalid_grant", "error_description": echo}),
        json!({"error": {"code": echo, "message": echo}}),
        json!({"error": {"type": "server_error", "message": echo}}),
        json!({"message": echo}),
        json!({"access_token": [echo], "device_code": echo, "verification_uri": echo, "token": {"x": echo}}),
        json!({"device_code": "d", "user_code": "u", "verification_uri": format!("x:{echo}")}),
        json!([echo]),
        Value::String(echo.to_owned()),
    ];
    let mut all: Vec<Vec<u8>> = whole.iter().map(|body| body.to_string().into_bytes()).collect();
    all.push(format!("<html>{echo}").into_bytes());
    all.push(format!("{{\"error\": \"{echo}").into_bytes());
    all
}

fn check(error: &(dyn Error + 'static), place: &str) {
    let mut next = Some(error);
    while let Some(error) = next {
        let said = format!("{error} {error:?} {error:#?}");
        assert!(!said.contains(WORD), "{place}: {said}");
        next = error.source();
    }
}

#[tokio::test]
async fn no_error_repeats_a_token() {
    let kinds = bodies("").len();
    let mut checked = 0;
    for status in [200, 307, 400, 401, 403, 404, 429, 500] {
        for kind in 0..kinds {
            let place = format!("{status} {kind}");
            let stub =
                Stub::answering(move |request| (status, bodies(&echo(request)).swap_remove(kind))).await;
            let around = Lookups::new();
            let token = RefreshToken::new(SecretString::from("ref-hush-1"), stub.token().origin());
            let header = TokenEndpoint { refresh_header: Some("x-refresh"), ..stub.token() };
            for endpoint in [stub.token(), header] {
                check(&refresh(&around.fetcher, &endpoint, &token).await.unwrap_err(), &place);
            }
            let github = SecretString::from("github-hush-1");
            let exchanged = exchange_for_copilot(&around.fetcher, &stub.url("/token"), &github).await;
            check(&exchanged.unwrap_err(), &place);
            // The device's code is returned, then everything is repeated.
            let first = Stub::answering(move |request| match request.path.as_str() {
                "/device" => (200, json!({"device_code": "dev-hush-1", "user_code": "u", "verification_uri": "https://a.example"}).to_string().into_bytes()),
                _ => (status, bodies(&echo(request)).swap_remove(kind)),
            })
            .await;
            check(&device_login(&first.device(), around.attempt()).await.unwrap_err(), &place);
            let open = |page: &Url| {
                let page = page.clone();
                tokio::spawn(async move { come_back(&page).await });
                true
            };
            let channels = LoginChannels { open: &open, pasted: stream::empty().boxed() };
            check(&browser_login(&stub.browser(), channels, around.attempt()).await.unwrap_err(), &place);
            for line in around.screen.lines() {
                let is_page = line.starts_with("http");
                assert!(is_page || !line.contains(WORD), "{place}: {line}");
            }
            checked += 5;
        }
    }
    assert_eq!(checked, 8 * kinds * 5);
}

/// A browser that returns a code.
async fn come_back(page: &Url) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let param = |name: &str| page.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    let back = Url::parse(&param("redirect_uri")).unwrap();
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", back.port().unwrap())).await.unwrap();
    let line = format!("GET /callback?code=code-hush-1&state={} HTTP/1.1\r\n\r\n", param("state"));
    stream.write_all(line.as_bytes()).await.unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).await.unwrap();
    assert!(!page.contains(WORD));
}
