//! Keys of a pool against strict providers on loopback: the keys that are sent, and the file afterwards.

use futures::StreamExt;
use hermes_conversation::{BoxFuture, Message};
use hermes_guard::Secrets;
use hermes_providers::credentials::{
    AuthFile, Binding, ClockAndRandom, Credentials, Entry, NoRefresh, PooledKeys, Refresh, RefreshError,
    Refreshed, Strategy,
};
use hermes_providers::{HttpClients, HttpModel, Wanted, resolve};
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome};
use hermes_wire::{
    ApiMode, EncodedRequest, Failure, FaultClass, Model, ModelRequest, RequestSettings, classify, encode,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const START: u64 = 1_800_000_000;

/// A home with a pool for the endpoint `custom:box`, and a fixed clock.
struct World {
    home: TempHome,
    provider: FakeProvider,
    clock: Arc<AtomicU64>,
}

impl World {
    async fn new(entries: impl FnOnce(&str) -> Value) -> Self {
        let (home, provider) = (TempHome::new(), FakeProvider::start().await);
        let pool = json!({"credential_pool": {"custom:box": entries(&provider.base_url())}});
        home.write("auth.json", &pool.to_string());
        Self { home, provider, clock: Arc::new(AtomicU64::new(START)) }
    }

    fn credentials(&self) -> Arc<Credentials> {
        let clock = self.clock.clone();
        let now = move || clock.load(Ordering::Relaxed) as f64;
        let outside = ClockAndRandom { now: Arc::new(now), random: Arc::new(|| 0.0) };
        Arc::new(Credentials::load(self.home.path().join("auth.json"), outside))
    }

    fn binding(&self, strategy: Strategy) -> Binding {
        let url = url::Url::parse(&self.provider.base_url()).unwrap();
        Binding {
            provider: "custom:box".into(),
            origin: url.origin().ascii_serialization(),
            is_own: true,
            strategy,
            seeds: vec![],
        }
    }

    fn model(&self) -> HttpModel {
        self.model_with(self.credentials(), Arc::new(NoRefresh))
    }

    fn model_with(&self, credentials: Arc<Credentials>, refresh: Arc<dyn Refresh>) -> HttpModel {
        let wanted = Wanted {
            provider: Some("custom".into()),
            model: Some("m".into()),
            base_url: Some(self.provider.base_url()),
            ..Wanted::default()
        };
        let endpoint = resolve(&wanted, &|_| None).unwrap();
        let keys = PooledKeys::new(credentials, self.binding(Strategy::FillFirst), refresh);
        HttpModel::new(&endpoint, HttpClients::default(), Secrets::default()).with_keys(Arc::new(keys))
    }

    /// The keys that were sent, in order.
    fn sent(&self) -> Vec<String> {
        let key =
            |name: &str, request: &hermes_testkit::RecordedRequest| request.header(name).map(str::to_owned);
        let requests = self.provider.requests();
        let all = requests.iter().map(|request| key("authorization", request).unwrap_or_default());
        all.map(|text| text.trim_start_matches("Bearer ").to_owned()).collect()
    }

    fn entry(&self, id: &str) -> Value {
        let root: Value = serde_json::from_str(&self.home.read("auth.json")).unwrap();
        let list = root["credential_pool"]["custom:box"].as_array().unwrap().clone();
        list.into_iter().find(|entry| entry["id"] == id).unwrap_or_default()
    }
}

fn three(base_url: &str) -> Value {
    let entry = |id: &str, priority: u64| json!({"id": id, "label": id, "priority": priority, "access_token": format!("key-{id}-0123456789"), "base_url": base_url});
    json!([entry("one", 0), entry("two", 1), entry("three", 2)])
}

fn request() -> EncodedRequest {
    let request = ModelRequest {
        model: "m".into(),
        system: "s".into(),
        tools: Arc::from([]),
        messages: Arc::new(vec![Arc::new(Message::user("hi"))]),
        settings: RequestSettings { stream: true, ..RequestSettings::default() },
    };
    encode(ApiMode::ChatCompletions, &request)
}

/// Makes one call; a failure with its name, and true if there is another key.
async fn ask(model: &HttpModel) -> Result<(), (FaultClass, String, bool)> {
    let failure = match model.reply(request()).await {
        Ok(events) => match events.collect::<Vec<_>>().await.into_iter().find_map(Result::err) {
            None => return Ok(()),
            Some(failure) => failure,
        },
        Err(failure) => failure,
    };
    let fault = classify(&failure);
    let other = model.another_key(&fault).await;
    Err((fault.class, fault.detail, other))
}

/// Makes calls until there is an answer, or no other key.
async fn ask_on(model: &HttpModel) -> Result<(), String> {
    loop {
        match ask(model).await {
            Ok(()) => return Ok(()),
            Err((_, _, true)) => {}
            Err((_, detail, false)) => return Err(detail),
        }
    }
}

fn limited(seconds: &str) -> Fault {
    let body = json!({"error": {"message": "slow down, key-one-0123456789"}}).to_string();
    Fault::Status { code: 429, headers: vec![("retry-after".into(), seconds.into())], body }
}

#[tokio::test]
async fn second_rate_limit_rotates_keys_and_stores_the_cooldown() {
    let world = World::new(three).await;
    world.provider.fault(limited("90"));
    world.provider.fault(limited("90"));
    world.provider.replies([ReplyScript::text("Here."), ReplyScript::text("Again.")]);
    let model = world.model();
    ask_on(&model).await.unwrap();
    ask_on(&model).await.unwrap();
    let (one, two) = ("key-one-0123456789", "key-two-0123456789");
    assert_eq!(world.sent(), [one, one, two, two]);
    let entry = world.entry("one");
    assert_eq!((&entry["last_status"], &entry["last_error_code"]), (&json!("exhausted"), &json!(429)));
    assert_eq!(entry["last_error_reset_at"], json!((START + 90) as f64));
    assert_eq!(entry["last_status_at"], json!(START as f64));
    let message = entry["last_error_message"].as_str().unwrap();
    assert!(message.contains("slow down") && !message.contains("key-one"), "{message}");
    assert_eq!(world.entry("two").get("last_status"), None);

    // Another process begins with the second key, and with the first one again after its cooldown.
    world.provider.replies([ReplyScript::text("Two."), ReplyScript::text("One.")]);
    ask_on(&world.model()).await.unwrap();
    world.clock.store(START + 90, Ordering::Relaxed);
    ask_on(&world.model()).await.unwrap();
    assert_eq!(world.sent()[4..], [two, one]);
    world.provider.finish();
}

#[tokio::test]
async fn answered_request_clears_earlier_limits() {
    let world = World::new(three).await;
    let model = world.model();
    for _ in 0..3 {
        world.provider.fault(limited("90"));
        world.provider.reply(ReplyScript::text("Here."));
        ask_on(&model).await.unwrap();
    }
    assert!(world.sent().iter().all(|key| key == "key-one-0123456789"), "{:?}", world.sent());
    world.provider.finish();
}

#[tokio::test]
async fn billing_faults_and_revoked_tokens_rotate_at_once() {
    let world = World::new(three).await;
    world.provider.fault(Fault::status(402, "no credit left"));
    let body = json!({"error": {"message": "revoked", "code": "token_revoked"}}).to_string();
    world.provider.fault(Fault::Status { code: 401, headers: vec![], body });
    world.provider.reply(ReplyScript::text("Here."));
    ask_on(&world.model()).await.unwrap();
    assert_eq!(world.sent(), ["one", "two", "three"].map(|id| format!("key-{id}-0123456789")));
    assert_eq!(
        (&world.entry("one")["last_status"], &world.entry("one")["last_error_code"]),
        (&json!("exhausted"), &json!(402))
    );
    assert_eq!(
        (&world.entry("two")["last_status"], &world.entry("two")["last_error_reason"]),
        (&json!("dead"), &json!("token_revoked"))
    );
    world.provider.finish();
}

#[tokio::test]
async fn key_of_another_origin_is_never_sent() {
    let elsewhere = FakeProvider::start().await;
    let other = elsewhere.base_url();
    let world = World::new(|here| {
        json!([
            {"id": "far", "priority": 0, "access_token": "key-far-0123456789", "base_url": other},
            {"id": "near", "priority": 1, "access_token": "key-near-0123456789", "base_url": here},
        ])
    })
    .await;
    world.provider.fault(Fault::status(402, "no credit left"));
    let model = world.model();
    let (class, _, has_other) = ask(&model).await.unwrap_err();
    assert_eq!((class, has_other), (FaultClass::Billing, false), "the other key is not for this place");
    assert_eq!(world.sent(), ["key-near-0123456789"]);
    assert!(elsewhere.requests().is_empty());
    world.provider.finish();
    elsewhere.finish();
}

#[tokio::test]
async fn nothing_is_sent_while_all_keys_are_in_cooldown() {
    let rests = |seconds: u64| {
        json!([{"id": "a", "label": "a", "access_token": "key-a-0123456789",
        "last_status": "exhausted", "last_error_reset_at": START + seconds}])
    };
    for (seconds, class) in [(50, FaultClass::RateLimited), (4000, FaultClass::Auth)] {
        let world = World::new(|_| rests(seconds)).await;
        let (got, detail, has_other) = ask(&world.model()).await.unwrap_err();
        assert_eq!((got, has_other), (class, false), "{seconds}");
        assert!(detail.contains("custom:box") && detail.contains("hermes auth reset"), "{detail}");
        assert!(world.sent().is_empty());
        world.provider.finish();
    }
}

#[tokio::test]
async fn rotation_continues_if_the_file_breaks() {
    let world = World::new(three).await;
    world.provider.fault(Fault::status(402, "no credit left"));
    world.provider.fault(Fault::status(402, "no credit left"));
    world.provider.reply(ReplyScript::text("Here."));
    let model = world.model();
    let broken = world.home.write("auth.json", "{ broken");
    ask_on(&model).await.unwrap();
    assert_eq!(world.sent().len(), 3);
    assert_eq!(std::fs::read_to_string(broken).unwrap(), "{ broken");
    world.provider.finish();
}

#[tokio::test]
async fn users_of_one_process_take_different_keys() {
    let world = World::new(three).await;
    let credentials = world.credentials();
    let [first, second, third] =
        std::array::from_fn(|_| world.model_with(credentials.clone(), Arc::new(NoRefresh)));
    for model in [&first, &second, &third] {
        world.provider.reply(ReplyScript::text("x"));
        ask_on(model).await.unwrap();
    }
    drop(second);
    let fourth = world.model_with(credentials, Arc::new(NoRefresh));
    world.provider.reply(ReplyScript::text("x"));
    ask_on(&fourth).await.unwrap();
    assert_eq!(world.sent(), ["one", "two", "three", "two"].map(|id| format!("key-{id}-0123456789")));
    world.provider.finish();
}

/// Returns numbered tokens; `over` follows the last one.
#[derive(Default)]
struct Numbered {
    count: AtomicUsize,
    over: bool,
}

impl Refresh for Numbered {
    fn refresh<'a>(&'a self, entry: &'a Entry) -> BoxFuture<'a, Result<Refreshed, RefreshError>> {
        assert!(entry.refresh_token.is_some());
        Box::pin(async {
            let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
            if self.over {
                return Err(RefreshError::Over { reason: "invalid_grant".into() });
            }
            Ok(Refreshed {
                access_token: format!("token-{number}-0123456789").into(),
                refresh_token: Some(format!("refresh-{number}-0123456789").into()),
                expires_at: Some((START + 3600) as f64),
                ..Refreshed::default()
            })
        })
    }
}

fn login(expires_at: u64) -> impl FnOnce(&str) -> Value {
    move |_| {
        json!([
            {"id": "login", "priority": 0, "auth_type": "oauth", "source": "manual:device_code",
             "access_token": "token-0-0123456789", "refresh_token": "refresh-0-0123456789", "expires_at_ms": expires_at * 1000},
            {"id": "key", "priority": 1, "access_token": "key-spare-0123456789"},
        ])
    }
}

#[tokio::test]
async fn login_is_renewed_once_before_it_expires() {
    let world = World::new(login(START + 100)).await;
    let refresh = Arc::new(Numbered::default());
    world.provider.replies([ReplyScript::text("a"), ReplyScript::text("b")]);
    // Two processes that have read the same file.
    let models = [(); 2].map(|()| world.model_with(world.credentials(), refresh.clone()));
    for model in &models {
        ask_on(model).await.unwrap();
    }
    assert_eq!(world.sent(), ["token-1-0123456789"; 2]);
    assert_eq!(refresh.count.load(Ordering::Relaxed), 1);
    let entry = world.entry("login");
    assert_eq!(entry["refresh_token"], "refresh-1-0123456789");
    assert_eq!(entry["expires_at_ms"], json!((START + 3600) * 1000));
    world.provider.finish();
}

#[tokio::test]
async fn a_refused_login_is_renewed_twice_at_most_and_then_another_key_is_used() {
    let world = World::new(login(START + 9000)).await;
    for _ in 0..3 {
        world.provider.fault(Fault::status(401, "not today"));
    }
    world.provider.reply(ReplyScript::text("Here."));
    let refresh = Arc::new(Numbered::default());
    ask_on(&world.model_with(world.credentials(), refresh.clone())).await.unwrap();
    let want = ["token-0", "token-1", "token-2", "key-spare"].map(|name| format!("{name}-0123456789"));
    assert_eq!(world.sent(), want);
    assert_eq!(world.entry("login")["last_status"], "exhausted");
    world.provider.finish();
}

#[tokio::test]
async fn ended_login_is_disabled() {
    let world = World::new(login(START + 100)).await;
    world.provider.reply(ReplyScript::text("Here."));
    let refresh = Arc::new(Numbered { over: true, ..Numbered::default() });
    ask_on(&world.model_with(world.credentials(), refresh)).await.unwrap();
    assert_eq!(world.sent(), ["key-spare-0123456789"]);
    let entry = world.entry("login");
    assert_eq!(
        (&entry["last_status"], &entry["last_error_reason"]),
        (&json!("dead"), &json!("invalid_grant"))
    );
    world.provider.finish();
}

#[tokio::test]
async fn lock_of_another_process_is_awaited() {
    let world = World::new(three).await;
    let path = world.home.path().join("auth.json");
    let held = AuthFile::at(&path).lock().unwrap();
    world.provider.fault(Fault::status(402, "no credit left"));
    world.provider.reply(ReplyScript::text("Here."));
    let model = world.model();
    let failure = model.reply(request()).await.err().unwrap();
    assert!(matches!(failure, Failure::Http { status: 402, .. }));
    let fault = classify(&failure);
    let mut moving = model.another_key(&fault);
    assert!(futures::poll!(&mut moving).is_pending(), "the mark waits for the lock");
    drop(held);
    assert!(moving.await);
    assert_eq!(world.entry("one")["last_status"], "exhausted");
    ask_on(&model).await.unwrap();
    world.provider.finish();
}
