//! A small web site on loopback: answers by path, and a record of the requests.

use hermes_guard::Secrets;
use hermes_providers::{HttpClients, Names};
use hermes_web::{WebClient, WebPorts, WebSettings};
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// Head and body of an answer.
pub(crate) type Answer = (String, Vec<u8>);

pub(crate) struct Site {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    task: AbortHandle,
}

/// An answer with status 200.
pub(crate) fn ok(content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
    answer("200 OK", &[("content-type", content_type)], body)
}

pub(crate) fn redirect(to: &str) -> Answer {
    answer("302 Found", &[("location", to)], "")
}

pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Answer {
    let body = body.into();
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    (
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len()),
        body,
    )
}

impl Site {
    /// A site whose pages are the values of `pages`; others are missing.
    pub(crate) async fn start(pages: Vec<(&str, Answer)>) -> Self {
        let pages: HashMap<String, Answer> =
            pages.into_iter().map(|(path, answer)| (path.to_owned(), answer)).collect();
        Self::of(move |path| pages.get(path).cloned()).await
    }

    pub(crate) async fn of(pages: impl Fn(&str) -> Option<Answer> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (record, pages) = (requests.clone(), Arc::new(pages));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, record.clone(), pages.clone()));
            }
        });
        Self { port, requests, task: task.abort_handle() }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The requests so far, with headers and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    record: Arc<Mutex<Vec<String>>>,
    pages: Arc<impl Fn(&str) -> Option<Answer>>,
) {
    let (mut request, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let Ok(count) = stream.read(&mut piece).await else { return };
        request.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            if count == 0 {
                return;
            }
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned));
        if body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0) {
            break;
        }
    }
    let text = String::from_utf8_lossy(&request).into_owned();
    let target = text.split(' ').nth(1).unwrap_or_default().to_owned();
    record.lock().unwrap().push(text);
    let path = target.split('?').next().unwrap_or_default();
    let (head, body) = pages(path).unwrap_or_else(|| answer("404 Not Found", &[], "missing"));
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(&body).await;
}

/// Settings under which the sites of tests can be reached.
pub(crate) fn private() -> WebSettings {
    WebSettings { allows_private: true, extract_backend: "direct".into(), ..WebSettings::default() }
}

pub(crate) fn client(settings: WebSettings) -> WebClient {
    client_with(settings, None)
}

pub(crate) fn client_with(settings: WebSettings, names: Option<Arc<dyn Names>>) -> WebClient {
    let secrets = Secrets::new([("KEY", "hunter2-hunter2".to_owned().into())]);
    WebClient::new(settings, WebPorts { clients: HttpClients::default(), secrets: Arc::new(secrets), names })
}

/// Names with scripted addresses. What passes the guard is connected to this machine, where the sites are.
#[derive(Default)]
pub(crate) struct ScriptedNames(pub(crate) Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>);

impl ScriptedNames {
    /// Each name with the addresses that it has at each look; the last ones stay.
    pub(crate) fn new(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let parsed = |all: &&[&str]| all.iter().map(|text| text.parse().unwrap()).collect();
        let names =
            names.iter().map(|(name, looks)| ((*name).to_owned(), looks.iter().map(parsed).collect()));
        Arc::new(Self(Mutex::new(names.collect())))
    }
}

impl Names for ScriptedNames {
    fn addresses<'a>(
        &'a self,
        host: &'a str,
    ) -> Pin<Box<dyn Future<Output = std::io::Result<Vec<IpAddr>>> + Send + 'a>> {
        let mut names = self.0.lock().unwrap();
        let looks = names.get_mut(host);
        let found =
            looks.map(|looks| if looks.len() > 1 { looks.pop_front() } else { looks.front().cloned() });
        let missing = || std::io::Error::other("no such name");
        let found = found.flatten().ok_or_else(missing);
        Box::pin(async move { found })
    }

    fn connected(&self, _: IpAddr) -> IpAddr {
        [127, 0, 0, 1].into()
    }
}
