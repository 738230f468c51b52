//! A model behind an HTTP endpoint.

use crate::catalogue;
use crate::catalogue::refusals::{Refused, foreign_client};
use crate::client::root_cause;
use crate::credentials::{FixedKey, KeyChange, Keys};
use crate::receive::{self, ReplyBody};
use crate::request_extras::{self, Thinking};
use crate::shared_limit::SharedLimit;
use crate::tap::{self, Tap};
use crate::{CallSize, Deadlines, Endpoint, HttpClients, TimeLimits, transport};
use futures::StreamExt;
use hermes_conversation::{BoxFuture, Issuer};
use hermes_guard::{Secrets, redact};
use hermes_wire::{
    ApiMode, CacheTtl, Decoder, EncodedRequest, Failure, Fault, Model, ModelEvents, ModelProfile,
    TimeoutPhase, retry_after_header,
};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;
use url::Url;

/// The largest error text that is read.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// The part of the window that a default output cap may take: servers count prompt and cap together, and the
/// history is compacted at three quarters.
const USUAL_SHARE: u64 = 4;

/// Sends requests to one endpoint and reads the replies.
pub struct HttpModel {
    profile: ModelProfile,
    url: Url,
    /// Without its key, which is requested for each call.
    endpoint: Endpoint,
    keys: Arc<dyn Keys>,
    clients: HttpClients,
    time_limits: TimeLimits,
    /// Overrides the limits that follow from a call.
    deadlines: Option<Deadlines>,
    is_local: bool,
    answers_slowly: bool,
    secrets: Secrets,
    /// Held while the rest of a reply is read, so that the next request can reuse the connection.
    draining: Arc<tokio::sync::Mutex<()>>,
    tap: Option<Arc<dyn Tap>>,
    shared_limit: Option<SharedLimit>,
}

impl HttpModel {
    pub fn new(endpoint: &Endpoint, clients: HttpClients, secrets: Secrets) -> Self {
        let origin = endpoint.origin();
        let profile = ModelProfile {
            mode: endpoint.api_mode,
            model: endpoint.model.as_str().into(),
            issuer: Issuer { provider: endpoint.label(), origin, model: endpoint.model.clone() },
            base_url: endpoint.base_url.to_string(),
            dialect: transport::dialect(endpoint),
            max_tokens: endpoint.max_tokens,
            usual_cap: request_extras::usual_cap(endpoint),
            context_length: endpoint.context_length,
            ollama_num_ctx: endpoint.ollama_num_ctx,
            text_tool_calls: false,
            sees_images: None,
            effort: None,
            cache: transport::cache(endpoint, CacheTtl::FiveMinutes),
            extra: request_extras::extra_fields(endpoint, Thinking::Task(None)),
        };
        let clients = endpoint.extras().map_or(clients.clone(), |extras| clients.with_tls(&extras.tls));
        let mut bare = endpoint.clone();
        let key = bare.key.take();
        Self {
            profile,
            url: transport::url(endpoint),
            endpoint: bare,
            keys: Arc::new(FixedKey(key)),
            time_limits: clients.time_limits(),
            clients,
            deadlines: None,
            is_local: endpoint.is_loopback(),
            answers_slowly: catalogue::known(endpoint.provider).quirks.answers_slowly,
            // A key that is in no setting may be repeated as well.
            secrets: endpoint.key.as_ref().map_or(secrets.clone(), |key| secrets.with("key", key)),
            draining: Arc::default(),
            tap: None,
            shared_limit: None,
        }
    }

    /// Returns the same model with other limits; for tests, which set them in milliseconds.
    pub fn with_deadlines(mut self, deadlines: Deadlines) -> Self {
        self.deadlines = Some(deadlines);
        self
    }

    /// Returns the same model with the limits of its endpoint, which override the general ones.
    pub fn with_patience(mut self, wanted: TimeLimits) -> Self {
        self.time_limits = wanted.or(self.time_limits);
        self
    }

    /// The limits of one call.
    fn deadlines(&self, request: &EncodedRequest) -> Deadlines {
        /// Bytes of a request per token, roughly.
        const BYTES: u64 = 4;
        let call = CallSize {
            tokens: request.body.len() as u64 / BYTES,
            is_streamed: request.stream,
            is_local: self.is_local,
            answers_slowly: self.answers_slowly,
            model: &self.profile.model,
        };
        self.deadlines.unwrap_or_else(|| Deadlines::of(&call, &self.time_limits))
    }

    /// Returns the same model with keys that may change. They are bound to its origin.
    pub fn with_keys(mut self, keys: Arc<dyn Keys>) -> Self {
        self.keys = keys;
        self
    }

    /// Returns the same model with an observer of the bytes of its replies.
    pub fn with_tap(mut self, tap: Option<Arc<dyn Tap>>) -> Self {
        self.tap = tap;
        self
    }

    /// Returns the same model with a rate limit that it shares with other sessions.
    pub fn with_shared_limit(mut self, limit: Option<SharedLimit>) -> Self {
        self.shared_limit = limit;
        self
    }

    /// Returns the same model with a reasoning effort.
    pub fn with_thinking(mut self, thinking: Thinking) -> Self {
        self.profile.effort = thinking.effort();
        self.profile.extra = request_extras::extra_fields(&self.endpoint, thinking);
        self
    }

    /// Returns the same model; tool calls in its text are parsed.
    pub fn with_text_tool_calls(mut self, are_taken: bool) -> Self {
        self.profile.text_tool_calls = are_taken;
        self
    }

    /// Returns the same model; `sees_images` is what is known about it.
    pub fn with_sight(mut self, sees_images: Option<bool>) -> Self {
        self.profile.sees_images = sees_images;
        self
    }

    /// Returns the same model with its known window.
    pub fn with_window(mut self, tokens: u64) -> Self {
        self.profile.context_length = Some(tokens);
        self.profile.usual_cap = self.profile.usual_cap.map(|cap| cap.min(tokens / USUAL_SHARE).max(1));
        self
    }

    /// Returns the same model with another lifetime of cache marks.
    pub fn with_cache_ttl(mut self, ttl: CacheTtl) -> Self {
        self.profile.cache = self.profile.cache.map(|_| ttl);
        self
    }

    /// The headers of one request: some servers need the session.
    fn headers_for(&self, key: Option<&SecretString>, session: Option<&str>) -> HeaderMap {
        let mut headers = transport::headers(&self.endpoint, key);
        if self.profile.mode == ApiMode::CodexResponses
            && let Some(session) = session
        {
            for (name, value) in self.profile.dialect.responses.session_headers(session) {
                if let Ok(value) = HeaderValue::from_str(&value) {
                    headers.insert(HeaderName::from_static(name), value);
                }
            }
        }
        request_extras::extra_headers(&self.endpoint, session, &mut headers);
        headers
    }

    async fn send(&self, request: EncodedRequest) -> Result<ModelEvents, Failure> {
        if let Some(refusal) = self.shared_limit.as_ref().and_then(SharedLimit::refusal) {
            return Err(refusal);
        }
        drop(self.draining.lock().await);
        let deadlines = self.deadlines(&request);
        let client = self.clients.of(&self.url)?;
        let key = self.keys.current().await?;
        if let Some(tap) = &self.tap {
            tap.sending(request.session.as_deref(), key.as_ref());
        }
        let started = Instant::now();
        let headers = self.headers_for(key.as_ref(), request.session.as_deref());
        let sent = client.post(self.url.clone()).headers(headers).body(request.body).send();
        let limit = deadlines.first_byte.min(deadlines.total);
        let response = tokio::time::timeout(limit, sent)
            .await
            .map_err(|_| Failure::TimedOut { phase: TimeoutPhase::FirstByte, limit })?
            .map_err(|error| self.transport_failure(&error))?;
        if !response.status().is_success() {
            return Err(self.refusal(response, key, deadlines.gap).await);
        }
        if let Some(limit) = &self.shared_limit {
            limit.answered();
        }
        let is_stream = request.stream && !is_json(response.headers());
        let status = response.status().as_u16();
        let tap = self.tap.as_ref().map(|tap| tap.begun(request.session.as_deref(), status, is_stream));
        let receiving = ReplyBody::new(response, deadlines, started, self.draining.clone(), tap);
        match is_stream {
            true => Ok(receive::events(receiving, Decoder::new(request.mode))),
            false => tap::read_whole(request.mode, &receiving.whole_body().await?),
        }
    }

    fn transport_failure(&self, error: &reqwest::Error) -> Failure {
        let cause = redact(&self.secrets, &root_cause(error)).into_owned();
        if error.is_timeout() {
            return Failure::TimedOut { phase: TimeoutPhase::Connect, limit: Deadlines::connect() };
        }
        match error.is_connect() {
            true => Failure::Unreachable { origin: self.profile.issuer.origin.clone(), cause },
            false => Failure::Cut { cause },
        }
    }

    /// Reads the text of a refusal and removes secrets that it repeats: above all the key that was just sent, which
    /// may be newer than those known at the start.
    async fn refusal(
        &self,
        response: reqwest::Response,
        key: Option<SecretString>,
        gap: Duration,
    ) -> Failure {
        let status = response.status().as_u16();
        let retry_after = retry_after(status, response.headers());
        if let Some(limit) = &self.shared_limit {
            limit.refused(status, response.headers());
        }
        let location = response.headers().get("location").is_some();
        let is_challenge = response.headers().contains_key("cf-mitigated");
        let mut text = Vec::new();
        let mut body = response.bytes_stream();
        while let Ok(Some(Ok(chunk))) = tokio::time::timeout(gap, body.next()).await {
            text.extend_from_slice(&chunk);
            if text.len() > MAX_ERROR_BODY {
                text.truncate(MAX_ERROR_BODY);
                break;
            }
        }
        let advice = self.endpoint.key_advice.as_deref().filter(|_| key.is_none());
        let sent = Secrets::new(key.map(|key| ("key", key)));
        let known = redact(&self.secrets, &String::from_utf8_lossy(&text)).into_owned();
        let mut body = redact(&sent, &known).into_owned();
        if body.trim().is_empty() && location {
            body = "the server redirects to another address, which is not followed".to_owned();
        }
        let host = self.url.host_str().unwrap_or_default();
        if let Some(why) = foreign_client(&Refused { host, status, is_challenge, body: &body }) {
            body = why.to_owned();
        }
        if let Some(advice) = advice.filter(|_| matches!(status, 401 | 403)) {
            body = format!("the server asks for a key and none was sent: {advice}");
        }
        Failure::Http { status, retry_after, body }
    }
}

impl Model for HttpModel {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn reply(&self, request: EncodedRequest) -> BoxFuture<'_, Result<ModelEvents, Failure>> {
        Box::pin(self.send(request))
    }

    fn another_key<'a>(&'a self, fault: &'a Fault) -> BoxFuture<'a, bool> {
        Box::pin(async move { self.keys.after(fault).await != KeyChange::Nothing })
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.trim_start().starts_with("application/json")
}

/// The time to retry after, from a refusal. Quota headers count only if the refusal is about quotas.
pub(crate) fn retry_after(status: u16, headers: &HeaderMap) -> Option<Duration> {
    const WAITS: [&str; 2] = ["retry-after-ms", "retry-after"];
    const QUOTAS: [&str; 3] = ["x-ratelimit-reset-requests", "x-ratelimit-reset-tokens", "x-ratelimit-reset"];
    let now = seconds_since_1970();
    let quotas = if status == 429 { &QUOTAS[..] } else { &[] };
    WAITS
        .iter()
        .chain(quotas)
        .find_map(|name| retry_after_header(name, headers.get(*name)?.to_str().ok()?, now))
}

/// The current time.
pub(crate) fn seconds_since_1970() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64())
}
