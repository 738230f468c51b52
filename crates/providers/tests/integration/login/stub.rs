//! A server with scripted answers, and the other parts of a login.

use futures::FutureExt;
use hermes_conversation::BoxFuture;
use hermes_providers::Fetcher;
use hermes_providers::login::{
    Attempt, BrowserFlow, DeviceFlow, LoginScreen, Redirect, TokenEndpoint, wait_for_real,
};
use hermes_scripted::Listener;
use hermes_scripted::http::{Connection, Request, whole};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use url::Url;

/// Returns the answer to a request.
type Answering = Arc<dyn Fn(&Request) -> (u16, Vec<u8>) + Send + Sync>;

pub(crate) struct Stub {
    listening: Listener,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Stub {
    /// Gives the answers in order, the last one repeatedly.
    pub(crate) async fn saying(answers: Vec<(u16, Value)>) -> Self {
        let left = Mutex::new(VecDeque::from(answers));
        Self::answering(move |_| {
            let mut left = left.lock().unwrap();
            let next = if left.len() > 1 { left.pop_front() } else { left.front().cloned() };
            let (status, body) = next.unwrap_or((404, Value::Null));
            (status, body.to_string().into_bytes())
        })
        .await
    }

    pub(crate) async fn answering(
        answer: impl Fn(&Request) -> (u16, Vec<u8>) + Send + Sync + 'static,
    ) -> Self {
        let seen = Arc::<Mutex<Vec<Request>>>::default();
        let (into, answer): (_, Answering) = (seen.clone(), Arc::new(answer));
        let listening =
            Listener::start(move |connection| serve(connection, answer.clone(), into.clone())).await.unwrap();
        Self { listening, seen }
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.listening.address())).unwrap()
    }

    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// The fields of the forms that were posted, in order.
    pub(crate) fn forms(&self) -> Vec<BTreeMap<String, String>> {
        self.seen().iter().map(|request| fields(&request.body)).collect()
    }

    pub(crate) fn token(&self) -> TokenEndpoint {
        TokenEndpoint {
            url: self.url("/token"),
            client_id: "hermes-test".into(),
            scope: "a b".into(),
            refresh_header: None,
        }
    }

    pub(crate) fn device(&self) -> DeviceFlow {
        DeviceFlow { device_url: self.url("/device"), token: self.token() }
    }

    pub(crate) fn browser(&self) -> BrowserFlow {
        BrowserFlow {
            authorize_url: self.url("/authorize"),
            redirect: Redirect { port: 0, path: "/callback" },
            token: self.token(),
        }
    }
}

async fn serve(mut connection: Connection, answer: Answering, seen: Arc<Mutex<Vec<Request>>>) {
    while let Ok(Some(request)) = connection.next_request().await {
        let (status, body) = answer(&request);
        seen.lock().unwrap().push(request);
        let headers = [("location", "http://127.0.0.1:1/stolen"), ("content-type", "application/json")];
        if connection.send(&whole(status, &headers, &body)).await.is_err() {
            return;
        }
    }
}

pub(crate) fn fields(form: &[u8]) -> BTreeMap<String, String> {
    url::form_urlencoded::parse(form).into_owned().collect()
}

/// Records the messages to the user.
#[derive(Default)]
pub(crate) struct Screen(pub(crate) Mutex<Vec<String>>);

impl Screen {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl LoginScreen for Screen {
    fn show(&self, url: &Url, user_code: Option<&str>, expires_in: Duration) {
        let line = format!("{url} {} {}", user_code.unwrap_or("-"), expires_in.as_secs());
        self.0.lock().unwrap().push(line);
    }

    fn status(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

/// The parts of an attempt. Waits take no time and are recorded.
pub(crate) struct Lookups {
    pub(crate) fetcher: Fetcher,
    pub(crate) screen: Screen,
    pub(crate) cancel: CancellationToken,
    pub(crate) waits: Arc<Mutex<Vec<u64>>>,
    wait: Box<hermes_providers::login::Wait>,
}

impl Lookups {
    pub(crate) fn new() -> Self {
        let waits = Arc::<Mutex<Vec<u64>>>::default();
        let into = waits.clone();
        let wait = move |time: Duration| -> BoxFuture<'static, ()> {
            into.lock().unwrap().push(time.as_secs());
            async {}.boxed()
        };
        Self { waits, wait: Box::new(wait), ..Self::by_the_clock() }
    }

    pub(crate) fn by_the_clock() -> Self {
        Self {
            fetcher: Fetcher { limit: Duration::from_secs(20), ..Fetcher::default() },
            screen: Screen::default(),
            cancel: CancellationToken::new(),
            waits: Arc::default(),
            wait: Box::new(wait_for_real),
        }
    }

    pub(crate) fn attempt(&self) -> Attempt<'_> {
        Attempt {
            fetcher: &self.fetcher,
            screen: &self.screen,
            cancel: &self.cancel,
            limit: Duration::from_secs(600),
            wait: &*self.wait,
        }
    }
}
