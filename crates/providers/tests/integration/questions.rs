//! Lists of models and probes of local servers, against small servers on loopback.

use hermes_providers::login::VendorState;
use hermes_providers::{
    Basis, CustomProvider, Fetcher, HttpClients, HttpSettings, ListedModel, Lookups, Place, ProbedServer,
    ServedWindow, ServerKind, Stated, Wanted, Window, list_models, locate, probe, resolve, served_window,
};
use hermes_scripted::Listener;
use hermes_scripted::http::{Connection, Request, whole};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use url::Url;

/// The answers by path, with their status.
type Answers = Vec<(&'static str, u16, Value)>;
type Seen = Arc<Mutex<Vec<Request>>>;

/// A server that answers some paths, everything else with 404, and records the requests.
struct Stub {
    listening: Listener,
    seen: Seen,
}

impl Stub {
    async fn new(answers: Answers) -> Self {
        let seen = Seen::default();
        let (answers, into) = (Arc::new(answers), seen.clone());
        let listening = Listener::start(move |connection| serve(connection, answers.clone(), into.clone()))
            .await
            .unwrap();
        Self { listening, seen }
    }

    fn url(&self) -> Url {
        Url::parse(&self.listening.base_url()).unwrap()
    }

    fn asked(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.iter().map(|request| format!("{} {}", request.method, request.path)).collect()
    }
}

async fn serve(mut connection: Connection, answers: Arc<Answers>, seen: Seen) {
    while let Ok(Some(request)) = connection.next_request().await {
        let answer = answers.iter().find(|(path, _, _)| *path == request.path);
        let (status, body) = answer.map_or((404, json!({})), |(_, status, body)| (*status, body.clone()));
        seen.lock().unwrap().push(request);
        let location = [("location", "http://127.0.0.1:1/stolen"), ("content-type", "application/json")];
        if connection.send(&whole(status, &location, body.to_string().as_bytes())).await.is_err() {
            return;
        }
    }
}

fn fetcher(limit: Duration) -> Fetcher {
    Fetcher { limit, ..Fetcher::default() }
}

fn place(base_url: &str, key: &str) -> Place {
    let wanted = Wanted {
        provider: Some("custom".into()),
        base_url: Some(base_url.into()),
        api_key: Some(SecretString::from(key)),
        ..Wanted::default()
    };
    locate(&wanted, Lookups { variable: &|_| None, pooled: &|_| vec![], vendor: &|_| VendorState::Absent })
        .unwrap()
}

#[tokio::test]
async fn kinds_of_local_servers_and_their_windows_are_recognised() {
    let loaded = |tokens| Some(Window { tokens, basis: Basis::Loaded });
    let lm_row =
        json!({"id": "m", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 4096});
    let cases: Vec<(&str, Answers, Option<ProbedServer>)> = vec![
        (
            "LM Studio, loaded",
            vec![("/api/v0/models", 200, json!({"data": [lm_row]}))],
            Some(ProbedServer { kind: ServerKind::LmStudio, window: loaded(4096) }),
        ),
        (
            "LM Studio, not loaded",
            vec![(
                "/api/v0/models",
                200,
                json!({"data": [{"id": "m", "state": "not-loaded", "max_context_length": 8192}]}),
            )],
            Some(ProbedServer {
                kind: ServerKind::LmStudio,
                window: Some(Window { tokens: 8192, basis: Basis::Trained }),
            }),
        ),
        (
            "Ollama, running",
            vec![
                ("/api/version", 200, json!({"version": "0.9"})),
                ("/api/ps", 200, json!({"models": [{"name": "m:latest", "context_length": 8192}]})),
                ("/api/show", 200, json!({"model_info": {"llama.context_length": 131_072}})),
            ],
            Some(ProbedServer { kind: ServerKind::Ollama, window: loaded(8192) }),
        ),
        (
            "Ollama, configured",
            vec![
                ("/api/version", 200, json!({"version": "0.9"})),
                ("/api/ps", 200, json!({"models": []})),
                (
                    "/api/show",
                    200,
                    json!({"parameters": "stop \"x\"\nnum_ctx    16384", "model_info": {"llama.context_length": 131_072}}),
                ),
            ],
            Some(ProbedServer {
                kind: ServerKind::Ollama,
                window: Some(Window { tokens: 16_384, basis: Basis::Configured }),
            }),
        ),
        (
            "Ollama, only trained",
            vec![
                ("/api/version", 200, json!({"version": "0.9"})),
                (
                    "/api/show",
                    200,
                    json!({"model_info": {"general.architecture": "llama", "llama.context_length": 131_072}}),
                ),
            ],
            Some(ProbedServer {
                kind: ServerKind::Ollama,
                window: Some(Window { tokens: 131_072, basis: Basis::Trained }),
            }),
        ),
        (
            "llama.cpp",
            vec![("/props", 200, json!({"default_generation_settings": {"n_ctx": 2048}, "total_slots": 1}))],
            Some(ProbedServer { kind: ServerKind::LlamaCpp, window: loaded(2048) }),
        ),
        (
            "vLLM",
            vec![(
                "/v1/models",
                200,
                json!({"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 32_768}]}),
            )],
            Some(ProbedServer { kind: ServerKind::Vllm, window: loaded(32_768) }),
        ),
        (
            "vLLM without this model",
            vec![(
                "/v1/models",
                200,
                json!({"data": [{"id": "other", "owned_by": "vllm", "max_model_len": 32_768}]}),
            )],
            Some(ProbedServer { kind: ServerKind::Vllm, window: None }),
        ),
        ("something else", vec![("/v1/models", 200, json!({"data": [{"id": "m"}]}))], None),
        (
            "polite to every question",
            vec![
                ("/api/v0/models", 200, json!({"error": "Unexpected endpoint"})),
                ("/props", 200, json!([])),
            ],
            None,
        ),
    ];
    for (name, answers, want) in cases {
        let stub = Stub::new(answers).await;
        let got = probe(&stub.url(), "m", None, &fetcher(Duration::from_secs(5))).await;
        assert_eq!(got, want, "{name}");
    }
}

/// The result for a custom endpoint, and the requested paths.
async fn served(name: &str, answers: Answers) -> (ServedWindow, Vec<String>) {
    let stub = Stub::new(answers).await;
    let wanted = Wanted {
        provider: Some(format!("custom:{name}")),
        model: Some("m".into()),
        custom: vec![CustomProvider {
            name: name.into(),
            base_url: stub.listening.base_url(),
            ..CustomProvider::default()
        }],
        ..Wanted::default()
    };
    let endpoint = resolve(&wanted, &|_| None).unwrap();
    let found = served_window(&endpoint, &fetcher(Duration::from_secs(5)), Duration::from_secs(5)).await;
    (found, stub.asked())
}

#[tokio::test]
async fn window_is_requested_with_few_requests() {
    let made_for = json!({"llama.context_length": 131_072});
    let props = json!({"default_generation_settings": {"n_ctx": 4096}});
    for (name, answers, want, asked) in [
        ("box", vec![("/props", 200, props)], ServedWindow::Tokens(4096), vec!["GET /props"]),
        (
            "box",
            vec![(
                "/v1/models",
                200,
                json!({"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 32_768}]}),
            )],
            ServedWindow::Tokens(32_768),
            vec!["GET /props", "GET /v1/models"],
        ),
        ("box", vec![], ServedWindow::Unstated, vec!["GET /props", "GET /v1/models"]),
        ("box", vec![("/props", 503, json!({}))], ServedWindow::Unasked, vec!["GET /props"]),
        (
            "box",
            vec![
                ("/v1/models", 200, json!({"data": [{"id": "m", "owned_by": "library"}]})),
                ("/api/ps", 200, json!({"models": [{"name": "m:latest", "context_length": 4096}]})),
            ],
            ServedWindow::Tokens(4096),
            vec!["GET /props", "GET /v1/models", "GET /api/ps"],
        ),
        (
            "ollama",
            vec![("/api/ps", 200, json!({"models": [{"name": "m:latest", "context_length": 4096}]}))],
            ServedWindow::Tokens(4096),
            vec!["GET /api/ps"],
        ),
        (
            "ollama",
            vec![("/api/show", 200, json!({"parameters": "num_ctx 16384", "model_info": made_for.clone()}))],
            ServedWindow::Tokens(16_384),
            vec!["GET /api/ps", "POST /api/show"],
        ),
        // The window that the model was trained for is not the one that the server offers.
        (
            "ollama",
            vec![("/api/show", 200, json!({"model_info": made_for}))],
            ServedWindow::Unstated,
            vec!["GET /api/ps", "POST /api/show"],
        ),
        (
            "lmstudio",
            vec![(
                "/api/v0/models",
                200,
                json!({"data": [{"id": "m", "state": "loaded", "loaded_context_length": 8192}]}),
            )],
            ServedWindow::Tokens(8192),
            vec!["GET /api/v0/models"],
        ),
    ] {
        assert_eq!(
            served(name, answers).await,
            (want, asked.into_iter().map(str::to_owned).collect()),
            "{name}"
        );
    }
}

#[tokio::test]
async fn silent_server_times_out() {
    let silent = Listener::start(|mut connection: Connection| async move { connection.hung_up().await })
        .await
        .unwrap();
    let begun = Instant::now();
    let url = Url::parse(&silent.base_url()).unwrap();
    assert_eq!(probe(&url, "m", None, &fetcher(Duration::from_millis(50))).await, None);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn an_address_elsewhere_is_not_probed() {
    // Every request would come through this proxy.
    let proxy = Stub::new(vec![]).await;
    let settings = HttpSettings { proxy: Some(proxy.listening.base_url()), ..HttpSettings::default() };
    let fetcher = Fetcher { clients: HttpClients::new(settings), ..fetcher(Duration::from_secs(5)) };
    let far = Url::parse("http://192.0.2.1/v1").unwrap();
    assert_eq!(probe(&far, "m", None, &fetcher).await, None);
    assert_eq!(proxy.asked(), Vec::<String>::new());
    // The proxy works: a list is requested from any address.
    assert!(list_models(&place(far.as_str(), "k-123"), &fetcher).await.is_err());
    assert_eq!(proxy.asked().len(), 1);
}

#[tokio::test]
async fn models_are_listed_with_the_key_of_the_place() {
    let stub = Stub::new(vec![(
        "/v1/models",
        200,
        json!({"data": [{"id": "b", "context_length": 4096}, {"id": "a"}]}),
    )])
    .await;
    let listed =
        list_models(&place(&stub.listening.base_url(), "k-123"), &fetcher(Duration::from_secs(5))).await;
    let model =
        |id: &str, window| ListedModel { id: id.into(), stated: Stated { window, ..Stated::default() } };
    assert_eq!(listed.unwrap(), [model("a", None), model("b", Some(4096))]);
    assert_eq!(stub.asked(), ["GET /v1/models"]);
    assert_eq!(stub.seen.lock().unwrap()[0].header("authorization"), Some("Bearer k-123"));
}

#[tokio::test]
async fn refusals_redirects_and_nonsense_are_failures_that_show_no_key() {
    let key = "sk-hush-0123456789abcdef";
    let secrets = hermes_guard::Secrets::new([("model.api_key", SecretString::from(key))]);
    let fetcher = Fetcher { secrets, limit: Duration::from_secs(5), ..Fetcher::default() };
    for (status, body, words) in [
        (401, json!({"error": format!("bad key {key}")}), "HTTP 401"),
        (307, json!({}), "not followed"),
        (200, json!({"hello": 1}), "not a list of models"),
    ] {
        let stub = Stub::new(vec![("/v1/models", status, body)]).await;
        let error =
            list_models(&place(&stub.listening.base_url(), key), &fetcher).await.unwrap_err().to_string();
        assert!(error.contains(words) && !error.contains("hush"), "{error}");
        assert_eq!(stub.asked().len(), 1);
    }
}
