//! The door on this machine that a browser comes back through.
//!
//! Anybody on this machine can knock, so every connection is served by itself, reads little, waits
//! little and proves by the state that it belongs to the login. What does not is sent away and the
//! login goes on.

use super::flow::Redirect;
use super::redirected::{self, NotOurs, Redirected};
use secrecy::SecretString;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::Url;

const MAX_HEAD: usize = 16 * 1024;
/// For reading a request and for writing the page.
const PATIENCE: Duration = Duration::from_secs(10);
const MAX_CONNECTIONS: usize = 32;
/// Before the next try when a connection could not be taken.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// An open port of 127.0.0.1 that waits for the browser.
pub(super) struct Callback {
    listener: TcpListener,
    port: u16,
    path: &'static str,
}

impl Callback {
    pub(super) async fn open(redirect: Redirect) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, redirect.port)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port, path: redirect.path })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Waits for what belongs to the login of this state.
    pub(super) async fn wait(&self, state: &SecretString) -> Redirected {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) if connections.len() < MAX_CONNECTIONS => {
                        connections.spawn(serve(stream, self.path, state.clone()));
                    }
                    // Too many knock at once: the door is closed to this one.
                    Ok(_) => {}
                    // The process has too many files open, or something like it; that may pass.
                    Err(_) => tokio::time::sleep(AFTER_FAILURE).await,
                },
                Some(served) = connections.join_next() => {
                    if let Ok(Some(found)) = served {
                        return found;
                    }
                }
            }
        }
    }
}

/// The address that the browser is sent back to.
pub(super) fn redirect_uri(port: u16, path: &str) -> String {
    format!("http://127.0.0.1:{port}{path}")
}

async fn serve(mut stream: TcpStream, path: &'static str, state: SecretString) -> Option<Redirected> {
    let head = tokio::time::timeout(PATIENCE, read_head(&mut stream)).await.ok()??;
    let found = target(&head).ok_or(NotOurs::OtherPath).and_then(|t| redirected::of_target(t, path, &state));
    let page = page(&found);
    // The person may have closed the tab; the login goes on all the same.
    let _ = tokio::time::timeout(PATIENCE, answer(&mut stream, page.as_bytes())).await;
    found.ok()
}

async fn answer(stream: &mut TcpStream, page: &[u8]) -> io::Result<()> {
    stream.write_all(page).await?;
    stream.shutdown().await
}

/// Everything up to the blank line; nothing when there is none within bounds.
async fn read_head(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let mut part = [0; 1024];
    loop {
        let count = stream.read(&mut part).await.ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&part[..count]);
        if head.windows(4).any(|four| four == b"\r\n\r\n") {
            return Some(head);
        }
        if head.len() > MAX_HEAD {
            return None;
        }
    }
}

/// What a well-formed GET asks for.
fn target(head: &[u8]) -> Option<&str> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some("GET"), Some(target), Some(version), None) if version.starts_with("HTTP/1.") => Some(target),
        _ => None,
    }
}

/// What the person sees. Nothing of the request is in it.
fn page(found: &Result<Redirected, NotOurs>) -> String {
    let (status, words) = match found {
        Ok(Redirected::Code(_)) => ("200 OK", "Hermes has got the answer. You can close this page."),
        Ok(Redirected::Refused(_)) => ("200 OK", "The login was refused. Hermes says more in the terminal."),
        Err(NotOurs::OtherState) => {
            ("400 Bad Request", "This does not belong to the login that is under way.")
        }
        Err(NotOurs::Incomplete) => ("400 Bad Request", "There is no code in this address."),
        Err(NotOurs::OtherPath) => ("404 Not Found", "There is nothing here."),
    };
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Hermes</title><p>{words}</p></html>\n"
    );
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\ncontent-security-policy: default-src 'none'\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The address with the login's question in it.
pub(super) fn with_query(base: &Url, pairs: &[(&str, &str)]) -> Url {
    let mut url = base.clone();
    url.query_pairs_mut().extend_pairs(pairs.iter().filter(|(_, value)| !value.is_empty()));
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_requests_are_read() {
        for (head, want) in [
            ("GET /callback?code=1 HTTP/1.1\r\nHost: x\r\n\r\n", Some("/callback?code=1")),
            ("POST /callback HTTP/1.1\r\n\r\n", None),
            ("GET /a b HTTP/1.1\r\n\r\n", None),
            ("GET /a HTTP/2\r\n\r\n", None),
            ("\u{16}\u{3}\u{1}", None),
            ("", None),
        ] {
            assert_eq!(target(head.as_bytes()), want, "{head:?}");
        }
        assert_eq!(target(b"GET /\xff HTTP/1.1\r\n\r\n"), None);
    }

    #[test]
    fn addresses_keep_their_own_query() {
        let base = Url::parse("https://a.example/auth?audience=x").unwrap();
        let url = with_query(&base, &[("scope", ""), ("state", "a b&c")]);
        assert_eq!(url.as_str(), "https://a.example/auth?audience=x&state=a+b%26c");
    }
}
