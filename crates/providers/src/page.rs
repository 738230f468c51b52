//! Fetches a page of the web: addresses are judged, redirects are followed by hand, and size and time are limited.
//!
//! The address comes from a model or from a page, so it is never trusted. No key, no cookie and no referrer is sent.

use crate::address::origin;
use crate::client::root_cause;
use crate::{AddressGuard, HttpClients};
use futures::StreamExt;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, HeaderMap, USER_AGENT};
use std::time::Duration;
use url::Url;

/// The number of redirects that are followed.
const MOST_REDIRECTS: usize = 5;
const ACCEPTED: &str = "text/html,application/xhtml+xml,text/markdown,text/plain,application/json,application/xml;\
                        q=0.9,application/pdf;q=0.9,*/*;q=0.5";

/// Fetches pages under one rule for addresses.
#[derive(Clone)]
pub struct PageFetcher {
    clients: HttpClients,
    guard: AddressGuard,
    /// Bytes that are read of a page, as sent.
    most: usize,
    /// The time limit of a page with all its redirects.
    limit: Duration,
}

/// A page as it was sent.
#[derive(Debug)]
pub struct Page {
    /// The address after redirects.
    pub url: Url,
    pub content_type: Option<String>,
    /// The encoding of the bytes, such as `gzip`.
    pub encoding: Option<String>,
    pub bytes: Vec<u8>,
    /// The page has more bytes than are read.
    pub is_cut: bool,
}

/// The reason why a page was not fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    #[error("{0}")]
    Refused(String),
    #[error("the server answered with status {status}")]
    Status { status: u16, retry_after: Option<Duration> },
    #[error("{0}")]
    Failed(String),
}

impl PageFetcher {
    pub fn new(clients: &HttpClients, guard: AddressGuard, most: usize, limit: Duration) -> Self {
        Self { clients: clients.guarded(&guard), guard, most, limit }
    }

    /// Returns the same fetcher for files of up to `most` bytes.
    pub fn reading(&self, most: usize) -> Self {
        Self { most, ..self.clone() }
    }

    /// Fetches a page. `check` judges its address, and that of every redirect, beside the guard.
    pub async fn fetch(
        &self,
        url: Url,
        check: &(dyn Fn(&Url) -> Result<(), String> + Sync),
    ) -> Result<Page, PageError> {
        let late = |_| PageError::Failed(format!("no answer within {} s", self.limit.as_secs()));
        tokio::time::timeout(self.limit, self.follow(url, check)).await.map_err(late)?
    }

    /// Judges an address by its text, without resolving its name.
    pub fn judge_text(&self, url: &Url) -> Result<(), String> {
        self.guard.judge_url(url)
    }

    /// Judges an address with the addresses that its name has now, for a request that another service makes.
    pub async fn judge(&self, url: &Url) -> Result<(), String> {
        self.guard.judge_url(url)?;
        self.guard.judge_name(url).await
    }

    async fn follow(
        &self,
        url: Url,
        check: &(dyn Fn(&Url) -> Result<(), String> + Sync),
    ) -> Result<Page, PageError> {
        let mut url = url;
        for hop in 0..=MOST_REDIRECTS {
            self.judge_hop(&url, check).await.map_err(|why| match hop {
                0 => PageError::Refused(why),
                _ => PageError::Refused(format!("it redirects to {}: {why}", origin(&url))),
            })?;
            let response = self.send(&url).await?;
            let status = response.status();
            if status.is_success() {
                return self.read(url, response).await;
            }
            let next = header(response.headers(), "location").filter(|_| status.is_redirection());
            let Some(next) = next.and_then(|place| url.join(&place).ok()) else {
                let retry_after = header(response.headers(), "retry-after");
                let retry_after = retry_after.and_then(|text| text.parse().ok()).map(Duration::from_secs);
                return Err(PageError::Status { status: status.as_u16(), retry_after });
            };
            url = next;
        }
        Err(PageError::Failed(format!("more than {MOST_REDIRECTS} redirects")))
    }

    async fn judge_hop(
        &self,
        url: &Url,
        check: &(dyn Fn(&Url) -> Result<(), String> + Sync),
    ) -> Result<(), String> {
        check(url)?;
        self.guard.judge_url(url)?;
        // A proxy resolves the name itself, so that its address cannot be judged on connecting.
        match self.clients.proxy() {
            Some(_) => self.guard.judge_name(url).await,
            None => Ok(()),
        }
    }

    async fn send(&self, url: &Url) -> Result<reqwest::Response, PageError> {
        let client = self.clients.of(url).map_err(|failure| PageError::Failed(failure.to_string()))?;
        let request = client
            .get(url.clone())
            .header(ACCEPT, ACCEPTED)
            .header(ACCEPT_ENCODING, "gzip, deflate")
            .header(ACCEPT_LANGUAGE, "en;q=0.9,*;q=0.5")
            .header(USER_AGENT, concat!("Mozilla/5.0 (compatible; hermes/", env!("CARGO_PKG_VERSION"), ")"));
        request.send().await.map_err(|error| PageError::Failed(root_cause(&error)))
    }

    async fn read(&self, url: Url, response: reqwest::Response) -> Result<Page, PageError> {
        let headers = response.headers();
        let (content_type, encoding) = (header(headers, "content-type"), header(headers, "content-encoding"));
        let (mut bytes, mut is_cut) = (Vec::new(), false);
        let mut body = response.bytes_stream();
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|error| PageError::Failed(root_cause(&error)))?;
            let room = self.most - bytes.len();
            bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if chunk.len() > room {
                is_cut = true;
                break;
            }
        }
        Ok(Page { url, content_type, encoding, bytes, is_cut })
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(|value| value.trim().to_owned())
}
