//! Requests to the API of a service: JSON, limited in size and time, repeated while the service is busy.
//!
//! Every request may be repeated: what it starts is named by the client.

use crate::error::CloudError;
use crate::settings::{CloudSettings, Service, Timing};
use hermes_providers::{ApiMethod, ApiRequest, Fetcher};
use hermes_wire::Failure;
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::{Duration, Instant};
use url::Url;

/// Bytes of an answer, at most: a piece of output as Base64, and room for a service that escapes it.
const MOST_ANSWER: usize = 2 << 20;
/// Repetitions of a request.
const ATTEMPTS: u32 = 5;
/// The longest pause that a service may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// Characters of a message of the service.
const MOST_SAID: usize = 300;

/// The API of a service with its key.
pub(crate) struct Api {
    service: Service,
    key: SecretString,
    fetcher: Fetcher,
    timing: Timing,
}

/// A request without its address.
pub(crate) struct Request<'a> {
    pub(crate) method: ApiMethod,
    pub(crate) body: Option<&'a Value>,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) limit: Duration,
}

impl Api {
    pub(crate) fn new(settings: &CloudSettings, key: SecretString, fetcher: Fetcher) -> Self {
        let secrets = fetcher.secrets.with(settings.service.key_variable(), &key);
        Self {
            service: settings.service,
            key,
            fetcher: Fetcher { secrets, ..fetcher },
            timing: settings.timing,
        }
    }

    pub(crate) fn title(&self) -> &'static str {
        self.service.title()
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, url: Url) -> Result<T, CloudError> {
        let limit = self.timing.request();
        self.json(url, Request { method: ApiMethod::ByBody, body: None, headers: Vec::new(), limit }).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        url: Url,
        body: &Value,
        limit: Duration,
    ) -> Result<T, CloudError> {
        let headers = Vec::new();
        self.json(url, Request { method: ApiMethod::ByBody, body: Some(body), headers, limit }).await
    }

    pub(crate) async fn delete(&self, url: Url) -> Result<(), CloudError> {
        let limit = self.timing.request();
        let request = Request { method: ApiMethod::Delete, body: None, headers: Vec::new(), limit };
        self.send(url, request).await.map(drop)
    }

    pub(crate) async fn json<T: DeserializeOwned>(
        &self,
        url: Url,
        request: Request<'_>,
    ) -> Result<T, CloudError> {
        let bytes = self.send(url, request).await?;
        serde_json::from_slice(&bytes).map_err(|error| self.garbled(&error.to_string()))
    }

    pub(crate) fn garbled(&self, what: &str) -> CloudError {
        CloudError::Garbled { service: self.title(), what: what.to_owned() }
    }

    /// Sends a request whose answer does not matter beyond its status.
    pub(crate) async fn send(&self, url: Url, request: Request<'_>) -> Result<Vec<u8>, CloudError> {
        let (mut pause, begun) = (self.timing.pause(), Instant::now());
        for attempt in 1.. {
            let failure = match self.once(url.clone(), &request).await {
                Ok(bytes) => return Ok(bytes),
                Err(failure) => failure,
            };
            // After the grace, the far end has ended what it was about.
            let is_over = attempt == ATTEMPTS || begun.elapsed() > self.timing.grace();
            if is_over || !may_pass(&failure) {
                return Err(self.error(&failure));
            }
            let asked = match &failure {
                Failure::Http { retry_after: Some(asked), .. } => (*asked).min(LONGEST_PAUSE),
                _ => Duration::ZERO,
            };
            tokio::time::sleep(pause.max(asked)).await;
            pause *= 2;
        }
        unreachable!("the last attempt returns")
    }

    async fn once(&self, url: Url, request: &Request<'_>) -> Result<Vec<u8>, Failure> {
        let fetcher = Fetcher { limit: request.limit, ..self.fetcher.clone() };
        let key = ("authorization", format!("Bearer {}", self.key.expose_secret()));
        let call = ApiRequest {
            method: request.method,
            url,
            headers: request.headers.iter().cloned().chain([key]).collect(),
            body: request.body.map(|body| ("application/json", body.to_string())),
            most: MOST_ANSWER,
        };
        fetcher.call_api(call).await
    }

    fn error(&self, failure: &Failure) -> CloudError {
        let (service, variable) = (self.title(), self.service.key_variable());
        match failure {
            Failure::Http { status: status @ (401 | 403), .. } => {
                CloudError::Rejected { service, status: *status, variable }
            }
            Failure::Http { status: 404 | 410, .. } => CloudError::Gone { service },
            Failure::Http { status: 409, .. } => CloudError::Taken { service },
            Failure::Http { status, body, .. } if may_pass(failure) => {
                CloudError::NoAnswer { service, cause: format!("HTTP {status}: {}", said(body)) }
            }
            Failure::Http { status, body, .. } => {
                CloudError::Refused { service, status: *status, said: said(body) }
            }
            Failure::Garbled { .. } | Failure::TooLarge { .. } => self.garbled(&failure.to_string()),
            other => CloudError::NoAnswer { service, cause: said(&other.to_string()) },
        }
    }
}

/// Returns true for failures of networks and busy servers.
fn may_pass(failure: &Failure) -> bool {
    match failure {
        Failure::Http { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
        Failure::Unreachable { .. } | Failure::TimedOut { .. } | Failure::Cut { .. } => true,
        _ => false,
    }
}

/// The message in the body of an error, as one line of printable characters.
fn said(body: &str) -> String {
    let value: Option<Value> = serde_json::from_str(body).ok();
    let field = |name: &str| value.as_ref().and_then(|value| value.get(name)).and_then(Value::as_str);
    let text = field("message").or_else(|| field("error")).unwrap_or(body);
    let plain = text.chars().map(|char| if char.is_control() { ' ' } else { char });
    plain.take(MOST_SAID).collect::<String>().trim().to_owned()
}

/// An address below another one. The parts are escaped.
pub(crate) fn below(base: &Url, parts: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(parts);
    }
    url
}

/// Returns true for a name that a service may give a sandbox: it becomes a part of an address.
pub(crate) fn is_id(text: &str) -> bool {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
    !text.is_empty() && text.len() <= 128 && text.chars().all(is_plain)
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
