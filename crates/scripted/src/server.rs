//! The scripted model as a server.

use crate::http::{Connection, LAST_CHUNK, Request, chunked_head, put_chunk, whole};
use crate::{Listener, Rendering, ReplyScript, Script, json_body, models_body, sse_frames};
use serde::Deserialize;
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::time::Duration;

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];
const EVENTS: &[(&str, &str)] = &[("content-type", "text/event-stream"), ("cache-control", "no-cache")];

/// The name under which the scripted model is listed.
const MODEL: &str = "scripted";

/// A running scripted model. Dropping it stops the server.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
}

impl Server {
    /// Starts the server on a free port of loopback.
    pub async fn start(script: Script) -> io::Result<Self> {
        let script = Arc::new(script);
        let listener = Listener::start(move |connection| serve(connection, script.clone())).await?;
        Ok(Self { listener })
    }

    /// The base URL to configure: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        self.listener.base_url()
    }
}

async fn serve(mut connection: Connection, script: Arc<Script>) {
    loop {
        let (answer, last) = match connection.next_request().await {
            Ok(Some(request)) => (answer(&script, &request), request.wants_close()),
            Ok(None) => return,
            Err(error) => match error.status() {
                Some(status) => (Answer::error(status, &error), true),
                None => return,
            },
        };
        if send(&mut connection, answer).await.is_err() || last {
            return;
        }
    }
}

async fn send(connection: &mut Connection, answer: Answer) -> io::Result<()> {
    for (place, part) in answer.parts.iter().enumerate() {
        if place > 0 {
            tokio::time::sleep(answer.delay).await;
        }
        connection.send(part).await?;
    }
    Ok(())
}

/// A response in the parts in which it is sent.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    parts: Vec<Vec<u8>>,
    delay: Duration,
}

impl Answer {
    fn whole(status: u16, body: &[u8]) -> Self {
        Self { parts: vec![whole(status, JSON, body)], delay: Duration::ZERO }
    }

    fn error(status: u16, error: &dyn std::error::Error) -> Self {
        let message = error.to_string();
        let body = json!({"error": {"message": message, "type": "scripted_error", "code": null}});
        Self::whole(status, body.to_string().as_bytes())
    }

    /// A stream; without a delay it is one write, which is cheapest for both sides.
    fn stream(reply: &ReplyScript, rendering: &Rendering<'_>) -> Self {
        let mut parts = vec![chunked_head(200, EVENTS)];
        for frame in sse_frames(reply, rendering) {
            let mut part = Vec::with_capacity(frame.len() + 8);
            put_chunk(&mut part, frame.as_bytes());
            parts.push(part);
        }
        if let Some(last) = parts.last_mut() {
            last.extend_from_slice(LAST_CHUNK);
        }
        if reply.delay.is_zero() {
            parts = vec![parts.concat()];
        }
        Self { parts, delay: reply.delay }
    }
}

/// The fields of a request that determine the form of the response.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Ask {
    model: String,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct StreamOptions {
    include_usage: bool,
}

fn answer(script: &Script, request: &Request) -> Answer {
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/chat/completions") => complete(script, &request.body),
        ("GET", "/v1/models") => Answer::whole(200, &models_body(MODEL)),
        _ => Answer::error(404, &io::Error::other(format!("there is no {}", request.path))),
    }
}

fn complete(script: &Script, body: &[u8]) -> Answer {
    let ask: Ask = match serde_json::from_slice(body) {
        Ok(ask) => ask,
        Err(error) => return Answer::error(400, &error),
    };
    let (number, reply) = match script.reply_to(body) {
        Ok(found) => found,
        Err(error) => return Answer::error(500, &error),
    };
    let include_usage = ask.stream_options.is_some_and(|options| options.include_usage);
    let rendering = Rendering { number, model: &ask.model, include_usage };
    match ask.stream {
        Some(true) => Answer::stream(&reply, &rendering),
        Some(false) | None => Answer::whole(200, &json_body(&reply, &rendering)),
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
