//! The window that a model server on this machine offers, requested before the first call.
//!
//! Each kind of server has its own request. The likely one is sent first, one after another on one connection, and
//! the first answer is used.

use super::{Basis, Window, read_llama_cpp, read_lm_studio, read_ollama_model, read_ollama_running, root};
use crate::Endpoint;
use crate::address::below;
use crate::facts::Stated;
use crate::fetch::Fetcher;
use hermes_wire::Failure;
use serde_json::{Value, json};
use std::time::Duration;

/// The result of asking a server for a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedWindow {
    /// The window that the model is served with.
    Tokens(u64),
    /// The server answers without stating a window.
    Unstated,
    /// The server is elsewhere, or did not answer in time.
    Unasked,
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Question {
    /// llama.cpp's settings.
    Props,
    /// The list of models, in which vLLM and some proxies state windows.
    Models,
    OllamaRunning,
    OllamaModel,
    LmStudio,
}

/// The content of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Window(u64),
    /// None, but these requests may help.
    Try(&'static [Question]),
}

const OLLAMA: &[Question] = &[Question::OllamaRunning, Question::OllamaModel];
const LM_STUDIO: &[Question] = &[Question::LmStudio];

/// Asks the server of a loopback endpoint for the window of the model, within `limit`. The window that the model was
/// trained for is not an answer: servers usually offer less.
pub async fn served_window(endpoint: &Endpoint, fetcher: &Fetcher, limit: Duration) -> ServedWindow {
    if !endpoint.is_loopback() {
        return ServedWindow::Unasked;
    }
    let asking = ask_all(endpoint, fetcher);
    tokio::time::timeout(limit, asking).await.unwrap_or(ServedWindow::Unasked)
}

async fn ask_all(endpoint: &Endpoint, fetcher: &Fetcher) -> ServedWindow {
    let mut questions = first_questions(endpoint);
    while let Some((question, rest)) = questions.split_first() {
        questions = rest;
        match ask(*question, endpoint, fetcher).await {
            Ok(answer) => match read(*question, &answer, &endpoint.model) {
                Answer::Window(tokens) => return ServedWindow::Tokens(tokens),
                Answer::Try([]) => {}
                Answer::Try(more) => questions = more,
            },
            // Another kind of server, or one without this path.
            Err(Failure::Http { status: 400..=499, .. } | Failure::Garbled { .. }) => {}
            Err(_) => return ServedWindow::Unasked,
        }
    }
    ServedWindow::Unstated
}

fn first_questions(endpoint: &Endpoint) -> &'static [Question] {
    if endpoint.may_be_ollama() {
        OLLAMA
    } else if endpoint.may_be_lm_studio() {
        LM_STUDIO
    } else {
        &[Question::Props, Question::Models]
    }
}

async fn ask(question: Question, endpoint: &Endpoint, fetcher: &Fetcher) -> Result<Value, Failure> {
    let (root, key) = (root(&endpoint.base_url), endpoint.key.as_ref());
    match question {
        Question::Props => fetcher.get(below(&root, "props"), key).await,
        Question::Models => fetcher.get(below(&endpoint.base_url, "models"), key).await,
        Question::OllamaRunning => fetcher.get(below(&root, "api/ps"), key).await,
        Question::OllamaModel => {
            fetcher.post(below(&root, "api/show"), key, &json!({ "model": endpoint.model })).await
        }
        Question::LmStudio => fetcher.get(below(&root, "api/v0/models"), key).await,
    }
}

fn read(question: Question, answer: &Value, model: &str) -> Answer {
    let window = match question {
        Question::Props => read_llama_cpp(answer).flatten(),
        Question::Models => return read_models(answer, model),
        Question::OllamaRunning => read_ollama_running(answer, model),
        Question::OllamaModel => read_ollama_model(answer),
        Question::LmStudio => read_lm_studio(answer, model).flatten(),
    };
    let given = window.filter(|window: &Window| window.basis != Basis::Trained);
    given.map_or(Answer::Try(&[]), |window| Answer::Window(window.tokens))
}

/// Parses a list of models: a window, or the owner that tells the kind of server.
fn read_models(answer: &Value, model: &str) -> Answer {
    let Some(rows) = answer.get("data").and_then(Value::as_array) else { return Answer::Try(&[]) };
    // A server with one model serves it under any name.
    let only = || Some(rows.first()?).filter(|_| rows.len() == 1);
    let Some(row) = rows.iter().find(|row| row["id"] == model).or_else(only) else {
        return Answer::Try(&[]);
    };
    if let Some(tokens) = Stated::in_row(row).window {
        return Answer::Window(tokens);
    }
    match row["owned_by"].as_str() {
        Some("library") => Answer::Try(OLLAMA),
        Some("organization_owner") => Answer::Try(LM_STUDIO),
        _ => Answer::Try(&[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_known_servers_are_read() {
        let props = json!({"default_generation_settings": {"n_ctx": 4096}});
        let listed = |row: Value| json!({ "data": [{"id": "other", "max_model_len": 1}, row] });
        for (question, answer, want) in [
            (Question::Props, props, Answer::Window(4096)),
            (Question::Props, json!({"error": "no"}), Answer::Try(&[])),
            (Question::Models, listed(json!({"id": "m", "max_model_len": 32_768})), Answer::Window(32_768)),
            (Question::Models, listed(json!({"id": "m", "context_length": 9_000})), Answer::Window(9_000)),
            (Question::Models, listed(json!({"id": "m", "owned_by": "library"})), Answer::Try(OLLAMA)),
            (
                Question::Models,
                listed(json!({"id": "m", "owned_by": "organization_owner"})),
                Answer::Try(LM_STUDIO),
            ),
            (Question::Models, listed(json!({"id": "m", "owned_by": "me"})), Answer::Try(&[])),
            (Question::Models, listed(json!({"id": "n"})), Answer::Try(&[])),
            (
                Question::OllamaRunning,
                json!({"models": [{"name": "m:latest", "context_length": 8192}]}),
                Answer::Window(8192),
            ),
            (Question::OllamaModel, json!({"parameters": "num_ctx 16384"}), Answer::Window(16_384)),
            (Question::OllamaModel, json!({"model_info": {"x.context_length": 131_072}}), Answer::Try(&[])),
            (
                Question::LmStudio,
                json!({"data": [{"id": "m", "state": "loaded", "loaded_context_length": 8192}]}),
                Answer::Window(8192),
            ),
            (
                Question::LmStudio,
                json!({"data": [{"id": "m", "state": "not-loaded", "max_context_length": 8192}]}),
                Answer::Try(&[]),
            ),
        ] {
            assert_eq!(read(question, &answer, "m"), want, "{question:?} {answer}");
        }
    }
}
