//! The kind of model server at an address on this machine, and its real context window.
//!
//! All kinds are tried at once, each with its own requests; pure functions parse the answers. Only loopback is
//! probed. `served` asks for the window alone, with as few requests as possible, before a conversation.

mod served;

pub use served::{ServedWindow, served_window};

use crate::address::{below, is_loopback};
use crate::facts::Stated;
use crate::fetch::Fetcher;
use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;

/// The kinds of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    Ollama,
    LmStudio,
    LlamaCpp,
    Vllm,
}

impl ServerKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vLLM",
        }
    }
}

/// A server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbedServer {
    pub kind: ServerKind,
    pub window: Option<Window>,
}

/// The window in tokens, and its basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub tokens: u64,
    pub basis: Basis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The model is loaded with this window.
    Loaded,
    /// The model's settings ask for it.
    Configured,
    /// The model was trained for it; the server may offer less.
    Trained,
}

impl Basis {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Loaded => "loaded with it",
            Self::Configured => "configured",
            Self::Trained => "the model's largest; the server may give less",
        }
    }
}

fn of(tokens: Option<u64>, basis: Basis) -> Option<Window> {
    tokens.filter(|tokens| *tokens > 0).map(|tokens| Window { tokens, basis })
}

/// Probes the server at a loopback address. `None` for other addresses, unknown servers and without an answer.
pub async fn probe(
    base_url: &Url,
    model: &str,
    key: Option<&SecretString>,
    fetcher: &Fetcher,
) -> Option<ProbedServer> {
    if !is_loopback(base_url) {
        return None;
    }
    let root = root(base_url);
    let found = async |path: &str| fetcher.get(below(&root, path), key).await.ok();
    let (lm_studio, ollama, llama_cpp, vllm) =
        tokio::join!(found("api/v0/models"), found("api/version"), found("props"), async {
            fetcher.get(below(base_url, "models"), key).await.ok()
        },);
    if let Some(window) = lm_studio.as_ref().and_then(|answer| read_lm_studio(answer, model)) {
        return Some(ProbedServer { kind: ServerKind::LmStudio, window });
    }
    if ollama.is_some_and(|answer| answer.get("version").is_some_and(Value::is_string)) {
        let window = ollama_window(&root, model, key, fetcher).await;
        return Some(ProbedServer { kind: ServerKind::Ollama, window });
    }
    if let Some(window) = llama_cpp.as_ref().and_then(read_llama_cpp) {
        return Some(ProbedServer { kind: ServerKind::LlamaCpp, window });
    }
    let window = vllm.as_ref().and_then(|answer| read_vllm(answer, model))?;
    Some(ProbedServer { kind: ServerKind::Vllm, window })
}

async fn ollama_window(
    root: &Url,
    model: &str,
    key: Option<&SecretString>,
    fetcher: &Fetcher,
) -> Option<Window> {
    let asked = json!({ "model": model });
    let (running, shown) = tokio::join!(fetcher.get(below(root, "api/ps"), key), async {
        fetcher.post(below(root, "api/show"), key, &asked).await
    });
    let running = running.ok().and_then(|answer| read_ollama_running(&answer, model));
    running.or_else(|| shown.ok().and_then(|answer| read_ollama_model(&answer)))
}

/// The address without the `/v1` of the OpenAI format.
fn root(base_url: &Url) -> Url {
    let mut root = base_url.clone();
    let path = base_url.path().trim_end_matches('/');
    root.set_path(path.strip_suffix("/v1").unwrap_or(path));
    root
}

fn rows<'a>(answer: &'a Value, field: &str) -> Option<&'a Vec<Value>> {
    answer.get(field)?.as_array()
}

/// The outer value says if it is this kind of server, the inner one is its window.
fn read_lm_studio(answer: &Value, model: &str) -> Option<Option<Window>> {
    let rows = rows(answer, "data")?;
    rows.iter().find(|row| row.get("state").is_some())?;
    let number = |field: &str| rows.iter().find(|row| row["id"] == model)?.get(field)?.as_u64();
    let loaded = of(number("loaded_context_length"), Basis::Loaded);
    Some(loaded.or_else(|| of(number("max_context_length"), Basis::Trained)))
}

fn read_ollama_running(answer: &Value, model: &str) -> Option<Window> {
    let whole = |name: &str| if name.contains(':') { name.to_owned() } else { format!("{name}:latest") };
    let is_it = |row: &&Value| {
        [row.get("name"), row.get("model")]
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .any(|name| whole(name) == whole(model))
    };
    of(rows(answer, "models")?.iter().find(is_it)?.get("context_length")?.as_u64(), Basis::Loaded)
}

fn read_ollama_model(answer: &Value) -> Option<Window> {
    let parameters = answer.get("parameters").and_then(Value::as_str).unwrap_or_default();
    let asked = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    let trained = || {
        let info = answer.get("model_info")?.as_object()?;
        info.iter().find(|(field, _)| field.ends_with(".context_length"))?.1.as_u64()
    };
    of(asked, Basis::Configured).or_else(|| of(trained(), Basis::Trained))
}

fn read_llama_cpp(answer: &Value) -> Option<Option<Window>> {
    let settings = answer.get("default_generation_settings")?;
    let tokens = settings.get("n_ctx").or_else(|| answer.get("n_ctx")).and_then(Value::as_u64);
    Some(of(tokens, Basis::Loaded))
}

fn read_vllm(answer: &Value, model: &str) -> Option<Option<Window>> {
    let rows = rows(answer, "data")?;
    let is_vllm = |row: &&Value| row["owned_by"] == "vllm" || row.get("max_model_len").is_some();
    rows.iter().find(is_vllm)?;
    let row = rows.iter().find(|row| row["id"] == model);
    Some(of(row.and_then(|row| Stated::in_row(row).window), Basis::Loaded))
}
