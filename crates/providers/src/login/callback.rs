//! The listener on this machine that the browser is redirected to.
//!
//! Any local process can connect, so every connection is served by itself, with limits on size and time, and must
//! present the state of the login. Others are rejected, and the login continues.

use super::flow::Redirect;
use super::redirected::{self, RedirectMismatch, Redirected};
use secrecy::SecretString;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::Url;

const MAX_HEAD: usize = 16 * 1024;
/// The time limit of reading a request and of writing the page.
const PATIENCE: Duration = Duration::from_secs(10);
const MAX_CONNECTIONS: usize = 32;
/// The pause after a connection could not be accepted.
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

    /// Waits for the answer to the login with this state.
    pub(super) async fn wait(&self, state: &SecretString) -> Redirected {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) if connections.len() < MAX_CONNECTIONS => {
                        connections.spawn(serve(stream, self.path, state.clone()));
                    }
                    // Too many connections at once: this one is closed.
                    Ok(_) => {}
                    // For example, the process has too many open files; that may pass.
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
    let found =
        target(&head).ok_or(RedirectMismatch::OtherPath).and_then(|t| redirected::of_target(t, path, &state));
    let page = page(&found);
    // The user may have closed the tab; the login continues.
    let _ = tokio::time::timeout(PATIENCE, answer(&mut stream, page.as_bytes())).await;
    found.ok()
}

async fn answer(stream: &mut TcpStream, page: &[u8]) -> io::Result<()> {
    stream.write_all(page).await?;
    stream.shutdown().await
}

/// Reads up to the blank line; `None` if there is none within the limits.
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

/// Returns the target of a valid GET.
fn target(head: &[u8]) -> Option<&str> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let mut text = std::str::from_utf8(line).ok()?.split(' ');
    match (text.next(), text.next(), text.next(), text.next()) {
        (Some("GET"), Some(target), Some(version), None) if version.starts_with("HTTP/1.") => Some(target),
        _ => None,
    }
}

/// Returns the page for the user. It has nothing of the request.
fn page(found: &Result<Redirected, RedirectMismatch>) -> String {
    let (status, text) = match found {
        Ok(Redirected::Code(_)) => ("200 OK", "Hermes has received the login. You can close this page."),
        Ok(Redirected::Refused(_)) => ("200 OK", "The login was refused. The terminal shows the reason."),
        Err(RedirectMismatch::OtherState) => {
            ("400 Bad Request", "This does not belong to the current login.")
        }
        Err(RedirectMismatch::Incomplete) => ("400 Bad Request", "There is no code in this address."),
        Err(RedirectMismatch::OtherPath) => ("404 Not Found", "Not found."),
    };
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Hermes</title><p>{text}</p></html>\n"
    );
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\ncontent-security-policy: default-src 'none'\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Returns the address with the query of the login.
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
