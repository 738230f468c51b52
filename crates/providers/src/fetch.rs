//! Small requests to an endpoint: one JSON value, limited in size and time.

use crate::address::origin;
use crate::client::root_cause;
use crate::{Deadlines, HttpClients};
use futures::StreamExt;
use hermes_guard::{Secrets, redact};
use hermes_wire::{Failure, TimeoutPhase};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{RequestBuilder, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// The largest answer that is read, enough for hundreds of models with prices.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// Makes requests for lists and checks; model calls go through `HttpModel`.
#[derive(Clone)]
pub struct Fetcher {
    pub clients: HttpClients,
    /// Removed from the texts of an endpoint.
    pub secrets: Secrets,
    /// The time limit of one request.
    pub limit: Duration,
}

/// The method of a request to the API of a service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ApiMethod {
    /// POST with a body, else GET.
    #[default]
    ByBody,
    Delete,
}

/// A request to the API of a service, with a key that belongs to the origin of `url`.
#[derive(Debug, Clone)]
pub struct ApiRequest {
    pub method: ApiMethod,
    pub url: Url,
    /// Headers, of which some may hold the key.
    pub headers: Vec<(&'static str, String)>,
    /// The content type and the body.
    pub body: Option<(&'static str, String)>,
    /// The largest answer that is read.
    pub most: usize,
}

/// The header in which most servers take a key.
pub(crate) fn bearer(key: Option<&SecretString>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Some(key) = key
        && let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()))
    {
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    headers
}

impl Fetcher {
    /// The key must belong to the origin of `url`; redirects are not followed.
    pub(crate) async fn get(&self, url: Url, key: Option<&SecretString>) -> Result<Value, Failure> {
        self.ask(url, bearer(key), key, None).await
    }

    /// The same with headers that carry the key.
    pub(crate) async fn get_with(
        &self,
        url: Url,
        headers: HeaderMap,
        key: Option<&SecretString>,
    ) -> Result<Value, Failure> {
        self.ask(url, headers, key, None).await
    }

    pub(crate) async fn post(
        &self,
        url: Url,
        key: Option<&SecretString>,
        body: &Value,
    ) -> Result<Value, Failure> {
        self.ask(url, bearer(key), key, Some(body)).await
    }

    /// Sends a request to a service and reads the whole answer; anything but success is a failure. Redirects are not
    /// followed.
    pub async fn call_api(&self, request: ApiRequest) -> Result<Vec<u8>, Failure> {
        let (client, place) = (self.clients.of(&request.url)?, origin(&request.url));
        let mut call = match (request.method, request.body) {
            (ApiMethod::Delete, _) => client.delete(request.url),
            (ApiMethod::ByBody, None) => client.get(request.url),
            (ApiMethod::ByBody, Some((kind, body))) => {
                client.post(request.url).header(CONTENT_TYPE, kind).body(body)
            }
        };
        for (name, value) in request.headers {
            let mut value = HeaderValue::from_str(&value).map_err(|_| Failure::Unreachable {
                origin: place.clone(),
                cause: format!("the value of the header {name} has a character that cannot be sent"),
            })?;
            value.set_sensitive(true);
            call = call.header(name, value);
        }
        let answer = self.whole_answer(call, place, request.most).await?;
        if !answer.status.is_success() {
            let body = redact(&self.secrets, &String::from_utf8_lossy(&answer.bytes)).into_owned();
            let retry_after = answer.headers.get("retry-after").and_then(|value| value.to_str().ok());
            let retry_after = retry_after.and_then(|text| text.parse().ok()).map(Duration::from_secs);
            return Err(Failure::Http { status: answer.status.as_u16(), retry_after, body });
        }
        Ok(answer.bytes)
    }

    async fn ask(
        &self,
        url: Url,
        headers: HeaderMap,
        key: Option<&SecretString>,
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        let client = self.clients.of(&url)?;
        let place = origin(&url);
        let request = match body {
            None => client.get(url),
            Some(body) => client.post(url).header(CONTENT_TYPE, "application/json").body(body.to_string()),
        };
        let answer = self.whole_answer(request.headers(headers), place, MAX_ANSWER).await?;
        if !answer.status.is_success() {
            // A key that is in no setting may be repeated as well.
            let secrets = key.map_or(self.secrets.clone(), |key| self.secrets.with("key", key));
            let body = redact(&secrets, &String::from_utf8_lossy(&answer.bytes)).into_owned();
            return Err(Failure::Http { status: answer.status.as_u16(), retry_after: None, body });
        }
        serde_json::from_slice(&answer.bytes).map_err(|error| Failure::Garbled { cause: error.to_string() })
    }

    /// Sends a request and reads the whole answer of any status; a redirect is a failure.
    pub(crate) async fn whole_answer(
        &self,
        request: RequestBuilder,
        place: String,
        most: usize,
    ) -> Result<Answer, Failure> {
        let answer = self.any_answer(request, place, most).await?;
        if answer.status.is_redirection() {
            let body = "the server redirects to another address, which is not followed".to_owned();
            return Err(Failure::Http { status: answer.status.as_u16(), retry_after: None, body });
        }
        Ok(answer)
    }

    /// As [`Fetcher::whole_answer`], including redirects, which are not followed.
    pub(crate) async fn any_answer(
        &self,
        request: RequestBuilder,
        place: String,
        most: usize,
    ) -> Result<Answer, Failure> {
        let late = |_| Failure::TimedOut { phase: TimeoutPhase::Total, limit: self.limit };
        tokio::time::timeout(self.limit, self.exchange(request, place, most)).await.map_err(late)?
    }

    async fn exchange(&self, request: RequestBuilder, place: String, most: usize) -> Result<Answer, Failure> {
        let sent = request.header(ACCEPT, "application/json").send().await;
        let response = sent.map_err(|error| Failure::Unreachable {
            origin: place,
            cause: redact(&self.secrets, &root_cause(&error)).into_owned(),
        })?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut bytes = Vec::new();
        let mut body = response.bytes_stream();
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|error| Failure::Cut { cause: root_cause(&error) })?;
            bytes.extend_from_slice(&chunk);
            if bytes.len() > most {
                return Err(Failure::TooLarge { limit: most });
            }
        }
        Ok(Answer { status, headers, bytes })
    }
}

/// An answer of a server, read in full.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Default for Fetcher {
    fn default() -> Self {
        Self {
            clients: HttpClients::default(),
            secrets: Secrets::default(),
            limit: Deadlines::default().connect,
        }
    }
}
