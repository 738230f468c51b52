//! Logging in and out through the binary, against providers on loopback: who sees which token.

use crate::command_log::CommandLog;
use crate::process::{finished, hermes, stderr, stdout};
use hermes_scripted::Listener;
use hermes_scripted::http::{Connection, Request, whole};
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::process::Output;
use std::sync::{Arc, Mutex};

const ACCESS: &str = "access-token-0123456789";
const RENEWED: &str = "renewed-token-0123456789";
const REFRESH: &str = "refresh-token-0123456789";

/// A server that answers a path with a list of answers, the last one for ever.
struct Portal {
    listening: Listener,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Portal {
    async fn start(answers: Vec<(&'static str, Vec<(u16, Value)>)>) -> Self {
        let seen = Arc::<Mutex<Vec<Request>>>::default();
        let (kept, answers) = (seen.clone(), Arc::new(Mutex::new(answers)));
        let listening = Listener::start(move |mut connection: Connection| {
            let (kept, answers) = (kept.clone(), answers.clone());
            async move {
                while let Ok(Some(request)) = connection.next_request().await {
                    let (status, body) = {
                        let mut answers = answers.lock().unwrap();
                        let path = request.path.clone();
                        let list = answers.iter_mut().find(|(known, _)| path.starts_with(known));
                        match list {
                            Some((_, list)) if list.len() > 1 => list.remove(0),
                            Some((_, list)) => list[0].clone(),
                            None => (404, json!(null)),
                        }
                    };
                    kept.lock().unwrap().push(request);
                    let headers = [("content-type", "application/json")];
                    let answer = whole(status, &headers, body.to_string().as_bytes());
                    if connection.send(&answer).await.is_err() {
                        return;
                    }
                }
            }
        });
        Self { listening: listening.await.unwrap(), seen }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.listening.address())
    }

    /// Every request as text, with its headers.
    fn text(&self) -> String {
        format!(
            "{:?}",
            self.seen
                .lock()
                .unwrap()
                .iter()
                .map(|request| (&request.headers, String::from_utf8_lossy(&request.body).into_owned()))
                .collect::<Vec<_>>()
        )
    }

    fn count(&self, path: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|request| request.path.starts_with(path)).count()
    }
}

async fn run(home: &TempHome, provider: &FakeProvider, args: &[&str]) -> Output {
    let mut command = hermes(home.path(), home.path(), args);
    command.env("NOUS_INFERENCE_BASE_URL", provider.base_url());
    finished(command).await
}

/// The output, which must contain no token.
fn shown(out: &Output) -> String {
    let all = stdout(out) + &stderr(out);
    for secret in [ACCESS, RENEWED, REFRESH] {
        assert!(!all.contains(secret), "{all}");
    }
    all
}

fn configure(home: &TempHome, portal: &Portal) {
    home.write_config(&format!(
        "model: {{provider: nous, default: m}}\n\
         auth: {{nous: {{device_url: '{}', token_url: '{}'}}}}\n",
        portal.url("/device"),
        portal.url("/token")
    ));
}

fn device() -> Value {
    json!({"device_code": "dev-0123456789", "user_code": "ABCD-EFGH", "verification_uri": "http://127.0.0.1/enter",
        "expires_in": 600, "interval": 0})
}

fn tokens(access: &str, life: u64) -> (u16, Value) {
    (
        200,
        json!({"access_token": access, "refresh_token": REFRESH, "expires_in": life, "token_type": "bearer"}),
    )
}

fn sent(provider: &FakeProvider) -> Vec<String> {
    let key = |request: &hermes_testkit::RecordedRequest| {
        request.header("authorization").unwrap_or_default().to_owned()
    };
    provider.requests().iter().map(key).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn login_is_stored_used_refreshed_and_deleted() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let pending = (400, json!({"error": "authorization_pending"}));
    let portal = Portal::start(vec![
        ("/device", vec![(200, device())]),
        // Enough for the login, the renewal before the first request ends, and the one after a refusal.
        ("/token", vec![pending, tokens(ACCESS, 3_600), tokens(RENEWED, 3_600)]),
    ])
    .await;
    configure(&home, &portal);
    let mut log = CommandLog::default();
    let mut logged = async |args: &[&str]| {
        let out = run(&home, &provider, args).await;
        shown(&out);
        log.add(args, &out);
        out
    };
    logged(&["-z", "hello"]).await;
    let login = logged(&["auth", "login", "nous"]).await;
    assert!(login.status.success(), "{}", shown(&login));

    provider.reply(ReplyScript::text("Hi."));
    assert_eq!(stdout(&run(&home, &provider, &["-z", "hello"]).await), "Hi.\n");
    assert_eq!(sent(&provider), [format!("Bearer {ACCESS}")]);
    assert_eq!(portal.count("/token"), 2);

    // Refused, it is renewed once, and the request is sent again.
    provider.fault(Fault::status(401, &format!("expired: {ACCESS}"))).reply(ReplyScript::text("Again."));
    let out = run(&home, &provider, &["-z", "hello"]).await;
    assert_eq!(stdout(&out), "Again.\n", "{}", shown(&out));
    shown(&out);
    assert_eq!(sent(&provider)[1..], [format!("Bearer {ACCESS}"), format!("Bearer {RENEWED}")]);
    assert!(home.read("auth.json").contains(RENEWED) && !home.read("auth.json").contains(ACCESS));

    logged(&["auth", "list"]).await;
    logged(&["auth", "logout", "nous"]).await;
    assert!(!home.read("auth.json").contains(RENEWED) && !home.read("auth.json").contains(REFRESH));
    logged(&["-z", "hello"]).await;
    insta::assert_snapshot!("login_and_logout", log);
    // The provider never saw the refresh token, and the portal never the access token.
    assert!(!format!("{:?}", provider.requests()).contains(REFRESH));
    assert!(!portal.text().contains(ACCESS) && !portal.text().contains(RENEWED));
    assert_eq!(portal.count("/token"), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn token_is_refreshed_before_it_expires() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let portal = Portal::start(vec![
        ("/device", vec![(200, device())]),
        ("/token", vec![tokens(ACCESS, 60), tokens(RENEWED, 3_600)]),
    ])
    .await;
    configure(&home, &portal);
    assert!(run(&home, &provider, &["auth", "login", "nous"]).await.status.success());
    provider.replies([ReplyScript::text("One."), ReplyScript::text("Two.")]);
    for want in ["One.\n", "Two.\n"] {
        assert_eq!(stdout(&run(&home, &provider, &["-z", "hello"]).await), want);
    }
    assert_eq!(sent(&provider), [format!("Bearer {RENEWED}"), format!("Bearer {RENEWED}")]);
    assert_eq!(portal.count("/token"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_login_stores_nothing() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let denied = (400, json!({"error": "access_denied", "error_description": "The user said no."}));
    let portal = Portal::start(vec![("/device", vec![(200, device())]), ("/token", vec![denied])]).await;
    configure(&home, &portal);
    let out = run(&home, &provider, &["auth", "login", "nous"]).await;
    assert_eq!(out.status.code(), Some(1), "{}", shown(&out));
    let mut log = CommandLog::default();
    log.add(&["auth", "login", "nous"], &out);
    assert!(!home.path().join("auth.json").exists());
    // Where nothing is known about a login, the message says what to set.
    let unknown = run(&home, &provider, &["auth", "login", "deepseek"]).await;
    assert_eq!(unknown.status.code(), Some(78));
    log.add(&["auth", "login", "deepseek"], &unknown);
    insta::assert_snapshot!("login_refused", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn github_token_is_exchanged_for_a_copilot_token_only() {
    const GITHUB: &str = "github_pat_0123456789";
    const SHORT: &str = "tid=copilot-0123456789";
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let portal = Portal::start(vec![(
        "/exchange",
        vec![(200, json!({"token": SHORT, "expires_at": 4_000_000_000_u64}))],
    )])
    .await;
    home.write_config(&format!(
        "model: {{provider: copilot, default: gpt-4.1, base_url: '{}', api_key: {GITHUB}}}\n\
         auth: {{copilot: {{exchange_url: '{}'}}}}\n",
        provider.base_url(),
        portal.url("/exchange")
    ));
    provider.reply(ReplyScript::text("Hi."));
    let out = run(&home, &provider, &["-z", "hello"]).await;
    assert_eq!(stdout(&out), "Hi.\n", "{}", stderr(&out));
    assert_eq!(sent(&provider), [format!("Bearer {SHORT}")]);
    assert!(!format!("{:?}", provider.requests()).contains(GITHUB));
    assert!(portal.text().contains(GITHUB) && !portal.text().contains(SHORT));
    // Hermes says who it is, to both.
    assert!(provider.requests()[0].header("user-agent").unwrap().starts_with("hermes/"));
    assert!(provider.requests()[0].header("editor-version").unwrap().starts_with("hermes/"));
}
