//! The web as tools see it: settings, services, the built-in extractor, and what is kept of their answers.

use crate::address_rules::AddressRules;
use crate::backends::{Backend, Body, Call, Entry, ExtractRow, SearchRow, entries, failures};
use crate::cache::Cache;
use crate::decode::unpacked;
use crate::pace::Pace;
use crate::page::{self, MOST_BYTES, MOST_TEXT, ReadPage, shorten};
use crate::settings::{WebSettings, extract_backend, search_backend};
use hermes_conversation::BoxFuture;
use hermes_guard::Secrets;
use hermes_providers::{
    AddressGuard, ApiMethod, ApiRequest, Fetcher, HttpClients, Names, Page, PageError, PageFetcher, Reach,
};
use hermes_tools::{Web, WebHit, WebPage};
use hermes_wire::Failure;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The time limit of a page with its redirects.
const PAGE_LIMIT: Duration = Duration::from_secs(30);
/// Bytes of the answer of a service.
const MOST_ANSWER: usize = 8 << 20;
const FRESH_PAGE: Duration = Duration::from_secs(15 * 60);
const FRESH_SEARCH: Duration = Duration::from_secs(5 * 60);
/// Characters of a title and of a description in the results of a search.
const MOST_TITLE: usize = 300;
const MOST_DESCRIPTION: usize = 2_000;

const ADVICE: &str = "private addresses are fetched only with security.allow_private_urls";

/// The web under one set of settings. All sessions of a home directory share it.
pub struct WebClient {
    settings: WebSettings,
    rules: Arc<AddressRules>,
    pages: PageFetcher,
    clients: HttpClients,
    secrets: Arc<Secrets>,
    pace: Pace,
    read: Cache<ReadPage>,
    found: Cache<Vec<WebHit>>,
}

/// The ports of a [`WebClient`].
pub struct WebPorts {
    pub clients: HttpClients,
    pub secrets: Arc<Secrets>,
    /// The source of addresses of names; `None` for that of the system.
    pub names: Option<Arc<dyn Names>>,
}

/// Returns the reason why no search is possible with these settings, if so.
pub fn search_problem(settings: &WebSettings) -> Option<String> {
    search_backend(settings).err()
}

impl WebClient {
    pub fn new(settings: WebSettings, ports: WebPorts) -> Self {
        let reach = if settings.allows_private { Reach::Private } else { Reach::Public };
        let guard = AddressGuard::new(reach, ADVICE);
        let guard = match ports.names {
            Some(names) => guard.with_names(names),
            None => guard,
        };
        Self {
            rules: Arc::new(AddressRules::new(&settings, ports.secrets.clone())),
            pages: PageFetcher::new(&ports.clients, guard, MOST_BYTES, PAGE_LIMIT),
            clients: ports.clients,
            secrets: ports.secrets,
            pace: Pace::default(),
            read: Cache::new(FRESH_PAGE),
            found: Cache::new(FRESH_SEARCH),
            settings,
        }
    }

    async fn found(&self, query: &str, limit: usize) -> Result<Vec<WebHit>, String> {
        let backend = search_backend(&self.settings)?;
        let Some(row) = &backend.search else { return Err(format!("{} cannot search", backend.name)) };
        let key = format!("{}\n{limit}\n{query}", backend.id);
        if let Some(hits) = self.found.get(&key) {
            return Ok(hits);
        }
        let hits = self.search_with(backend, row, query, limit).await?;
        let bytes = hits.iter().map(|hit| hit.title.len() + hit.url.len() + hit.description.len()).sum();
        self.found.put(key, hits.clone(), bytes);
        Ok(hits)
    }

    async fn search_with(
        &self,
        backend: &Backend,
        row: &SearchRow,
        query: &str,
        limit: usize,
    ) -> Result<Vec<WebHit>, String> {
        let answer = self.call(backend, &(row.call)(query, limit)).await?;
        let found = entries(row.results, &answer).map_err(|why| format!("{}: {why}", backend.name))?;
        // A result that may not be fetched is of no use, and its text is a way around the rules.
        let hits = found.into_iter().filter(|entry| self.rules.parse(&entry.url).is_ok()).map(hit);
        Ok(hits.take(limit).collect())
    }

    /// Sends a request to a service. Its key is in it, and in no other.
    async fn call(&self, backend: &Backend, call: &Call) -> Result<Vec<u8>, String> {
        let url = backend.url(call, &self.settings.variables)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        self.rules.judge_host(&host).map_err(|why| format!("{}: {why}", backend.name))?;
        self.pace.turn(&host).await?;
        let fetcher = Fetcher {
            clients: self.clients.clone(),
            secrets: Secrets::clone(&self.secrets),
            limit: backend.limit,
        };
        let key = backend.key_line(&self.settings.variables);
        let request = ApiRequest {
            method: ApiMethod::ByBody,
            url,
            headers: call.headers.iter().cloned().chain(key).collect(),
            body: match &call.body {
                Body::Nothing => None,
                Body::Json(value) => Some(("application/json", value.to_string())),
                Body::Form(pairs) => Some(("application/x-www-form-urlencoded", form(pairs))),
            },
            most: MOST_ANSWER,
        };
        fetcher.call_api(request).await.map_err(|failure| {
            if let Failure::Http { status: 429, retry_after, .. } = &failure {
                self.pace.pause(&host, *retry_after);
            }
            failure_text(backend, &failure)
        })
    }

    /// The pages, by a service if one is chosen. What it does not deliver is fetched here.
    async fn pages(&self, written: &[String]) -> Vec<WebPage> {
        let asked: Vec<Result<Url, String>> = written.iter().map(|url| self.rules.parse(url)).collect();
        let (backend, problem) = match extract_backend(&self.settings) {
            Ok(backend) => (backend, None),
            Err(problem) => (None, Some(problem)),
        };
        let delivered = match backend {
            Some(backend) => self.delivered(backend, &asked).await,
            None => vec![None; asked.len()],
        };
        let pages = written.iter().zip(asked).zip(delivered).map(|((written, url), delivered)| async {
            let read = match (url, delivered) {
                (_, Some(read)) => Ok(read),
                (Ok(url), None) => self.direct(url).await,
                (Err(why), None) => Err(why),
            };
            self.page(written, read, problem.as_deref())
        });
        // One after the other would add up the waiting.
        futures::future::join_all(pages).await
    }

    fn page(&self, written: &str, read: Result<ReadPage, String>, problem: Option<&str>) -> WebPage {
        let url = written.trim().to_owned();
        match read {
            Ok(page) => {
                let cut = if page.is_cut { "\n\n[The page is longer; its end was not read]" } else { "" };
                WebPage { url, title: page.title, content: Ok(page.text + cut) }
            }
            Err(why) => {
                let problem = problem.map(|problem| format!(" ({problem})")).unwrap_or_default();
                WebPage { url, title: String::new(), content: Err(why + &problem) }
            }
        }
    }

    /// The pages that a service delivers; `None` for those that it does not.
    async fn delivered(&self, backend: &Backend, asked: &[Result<Url, String>]) -> Vec<Option<ReadPage>> {
        let mut pages: Vec<Option<ReadPage>> = vec![None; asked.len()];
        let Some(row) = &backend.extract else { return pages };
        let mut wanted = Vec::new();
        for (nth, url) in asked.iter().enumerate() {
            // The service would fetch what is not fetched here.
            if let Ok(url) = url
                && self.pages.judge(url).await.is_ok()
            {
                pages[nth] = self.read.get(&cache_key(backend.id, url));
                wanted.extend(pages[nth].is_none().then(|| (nth, url.clone())));
            }
        }
        for some in wanted.chunks(row.pages) {
            let urls: Vec<String> = some.iter().map(|(_, url)| url.to_string()).collect();
            match self.extract_with(backend, row, &urls).await {
                Ok(found) => {
                    for ((nth, url), page) in some.iter().zip(found) {
                        if let Some(page) = &page {
                            self.read.put(cache_key(backend.id, url), page.clone(), page.text.len());
                        }
                        pages[*nth] = page;
                    }
                }
                Err(error) => tracing::warn!(error, "pages are fetched without the service"),
            }
        }
        pages
    }

    /// One entry for each address; a service may change their order and leave some out.
    async fn extract_with(
        &self,
        backend: &Backend,
        row: &ExtractRow,
        urls: &[String],
    ) -> Result<Vec<Option<ReadPage>>, String> {
        let answer = self.call(backend, &(row.call)(urls)).await?;
        let found = entries(row.results, &answer).map_err(|why| format!("{}: {why}", backend.name))?;
        for failed in failures(row, &answer) {
            tracing::info!(url = failed.url, reason = failed.failure, "a service did not extract a page");
        }
        let is_alone = urls.len() == 1 && found.len() == 1;
        let of = |url: &String| found.iter().find(|entry| is_alone || is_same(&entry.url, url));
        Ok(urls.iter().map(|url| of(url).filter(|entry| !entry.text.is_empty()).map(read_page)).collect())
    }

    /// A page by the built-in extractor.
    async fn direct(&self, url: Url) -> Result<ReadPage, String> {
        let key = cache_key("", &url);
        if let Some(page) = self.read.get(&key) {
            return Ok(page);
        }
        let page = self.fetched(url, &self.pages).await?;
        let read = tokio::task::spawn_blocking(move || page::read(page)).await;
        let page = read.map_err(|_| "the page could not be read".to_owned())??;
        self.read.put(key, page.clone(), page.text.len());
        Ok(page)
    }
}

impl WebClient {
    /// Fetches what is at an address, at the pace of its host.
    async fn fetched(&self, url: Url, fetcher: &PageFetcher) -> Result<Page, String> {
        let host = url.host_str().unwrap_or_default().to_owned();
        self.pace.turn(&host).await?;
        let check = |url: &Url| self.rules.judge(url);
        fetcher.fetch(url, &check).await.map_err(|error| {
            if let PageError::Status { status: 429 | 503, retry_after } = &error {
                self.pace.pause(&host, *retry_after);
            }
            error.to_string()
        })
    }

    async fn bytes(&self, written: &str, most: usize) -> Result<Vec<u8>, String> {
        let url = self.rules.parse(written)?;
        let page = self.fetched(url, &self.pages.reading(most)).await?;
        let (bytes, is_longer) = unpacked(page.bytes, page.encoding.as_deref(), most)?;
        match page.is_cut || is_longer {
            true => Err(format!("the file has more than {} MiB", most >> 20)),
            false => Ok(bytes),
        }
    }
}

impl Web for WebClient {
    fn refusal(&self, url: &str) -> Option<String> {
        let judged = self.rules.parse(url).and_then(|url| self.pages.judge_text(&url));
        // An address that is refused may hold a secret.
        judged.err().map(|why| format!("an address was refused: {why}"))
    }

    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<WebHit>, String>> {
        Box::pin(self.found(query, limit))
    }

    fn extract<'a>(&'a self, urls: &'a [String]) -> BoxFuture<'a, Vec<WebPage>> {
        Box::pin(self.pages(urls))
    }

    fn file<'a>(&'a self, url: &'a str, most: usize) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(self.bytes(url, most))
    }
}

fn cache_key(backend: &str, url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    format!("{backend}\n{url}")
}

/// Returns true if two addresses are the same, apart from the scheme, `www.` and a slash at the end.
fn is_same(one: &str, other: &str) -> bool {
    let bare = |text: &str| {
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        let text = text.split('#').next().unwrap_or_default();
        text.trim_start_matches("www.").trim_end_matches('/').to_owned()
    };
    bare(one) == bare(other)
}

fn read_page(entry: &Entry) -> ReadPage {
    let (mut text, mut title) = (entry.text.clone(), entry.title.clone());
    let is_cut = shorten(&mut text, MOST_TEXT);
    shorten(&mut title, MOST_TITLE);
    ReadPage { title, text, is_cut }
}

fn hit(entry: Entry) -> WebHit {
    let line = |text: &str, most: usize| {
        // Services mark the terms of the query.
        let text =
            text.replace("<strong>", "").replace("</strong>", "").replace("<b>", "").replace("</b>", "");
        let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        shorten(&mut text, most);
        text
    };
    WebHit {
        title: line(&entry.title, MOST_TITLE),
        description: line(&entry.text, MOST_DESCRIPTION),
        url: entry.url,
    }
}

fn form(pairs: &[(&'static str, String)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// A failure of a service with the next step.
fn failure_text(backend: &Backend, failure: &Failure) -> String {
    let name = backend.name;
    let key = backend.key.first().copied();
    match (failure, key) {
        (Failure::Http { status: 401 | 403, .. }, Some(key)) => {
            format!("{name} refused the key of {key}; check it in .env, or choose another web.backend")
        }
        (Failure::Http { status: 402 | 432 | 433, .. }, _) => {
            format!("the quota of {name} is used up; choose another web.backend")
        }
        (Failure::Http { status: 429, .. }, _) => {
            format!("{name} gets too many requests; try again later, or choose another web.backend")
        }
        (Failure::Http { status: 403, .. }, None) if backend.base.is_empty() => {
            format!("{name} answered with status 403: allow the format json in its settings (search.formats)")
        }
        (Failure::Http { status, .. }, _) => format!("{name} answered with status {status}"),
        (failure, _) => format!("{name} did not answer: {failure}; check {}", backend.base_variable),
    }
}
