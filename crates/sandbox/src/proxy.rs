//! A proxy that connects to listed hosts only.
//!
//! Its listening socket belongs to the network namespace of the commands, which has no other way out; its outgoing
//! connections belong to this process. It reads the name of the host and passes bytes on: it sees no content of
//! encrypted connections.

use std::io::{Read, Result, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// The longest request head.
const LONGEST_HEAD: usize = 16 * 1024;
const CONNECT_LIMIT: Duration = Duration::from_secs(20);
const HEAD_LIMIT: Duration = Duration::from_secs(30);
const MOST_CONNECTIONS: usize = 256;

/// A running proxy; it stops when the value is dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    listener: TcpListener,
    is_over: Arc<AtomicBool>,
}

impl Proxy {
    /// Serves a listening socket in threads of this process.
    pub(crate) fn start(listener: TcpListener, hosts: Vec<String>) -> Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (accepting, over) = (listener.try_clone()?, is_over.clone());
        std::thread::Builder::new()
            .name("sandbox-proxy".to_owned())
            .spawn(move || serve(&accepting, &Arc::new(hosts), &over))?;
        Ok(Self { listener, is_over })
    }

    /// Variables that point programs to the proxy.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let address = format!("http://127.0.0.1:{}", crate::namespace::PROXY_PORT);
        let names = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"];
        let local =
            ["no_proxy", "NO_PROXY"].map(|name| (name.to_owned(), "localhost,127.0.0.1,::1".to_owned()));
        names.into_iter().map(|name| (name.to_owned(), address.clone())).chain(local).collect()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the accepting thread.
        let _ = crate::sys::shut_down(self.listener.as_fd());
    }
}

fn serve(listener: &TcpListener, hosts: &Arc<Vec<String>>, is_over: &AtomicBool) {
    let open = Arc::new(AtomicUsize::new(0));
    for client in listener.incoming() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(client) = client else { continue };
        if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (hosts, count) = (hosts.clone(), open.clone());
        let spawned = std::thread::Builder::new().name("sandbox-proxy".to_owned()).spawn(move || {
            // A broken connection concerns its two ends only.
            let _ = attend(client, &hosts);
            count.fetch_sub(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn attend(mut client: TcpStream, hosts: &[String]) -> Result<()> {
    client.set_read_timeout(Some(HEAD_LIMIT))?;
    let (head, rest) = read_head(&mut client)?;
    let Some(request) = Request::parse(&head) else {
        return refuse(&mut client, "400 Bad Request", "the proxy of the sandbox speaks HTTP only");
    };
    if !is_listed(&request.host, hosts) {
        let text = format!("the sandbox does not permit connections to {}", request.host);
        return refuse(&mut client, "403 Forbidden", &text);
    }
    let mut server = match connect(&request, hosts) {
        Ok(server) => server,
        Err(error) => return refuse(&mut client, "502 Bad Gateway", &error.to_string()),
    };
    client.set_read_timeout(None)?;
    match &request.forwarded {
        Some(head) => server.write_all(head)?,
        None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
    }
    server.write_all(&rest)?;
    pass_both_ways(client, server)
}

/// Reads until the empty line; returns the head and what follows it.
fn read_head(client: &mut TcpStream) -> Result<(Vec<u8>, Vec<u8>)> {
    let (mut all, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let count = client.read(&mut chunk)?;
        all.extend_from_slice(&chunk[..count]);
        if let Some(end) = all.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = all.split_off(end + 4);
            return Ok((all, rest));
        }
        if count == 0 || all.len() > LONGEST_HEAD {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
    }
}

/// A request to the proxy.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    host: String,
    port: u16,
    /// The head for the server; `None` for `CONNECT`.
    forwarded: Option<Vec<u8>>,
}

impl Request {
    fn parse(head: &[u8]) -> Option<Self> {
        let head = str::from_utf8(head).ok()?;
        let (first, fields) = head.split_once("\r\n")?;
        let mut words = first.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if method.eq_ignore_ascii_case("CONNECT") {
            let (host, port) = host_and_port(target, None)?;
            return Some(Self { host, port, forwarded: None });
        }
        let rest = target.strip_prefix("http://")?;
        let split = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(split);
        let (host, port) = host_and_port(authority, Some(80))?;
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        // One request per connection: the next one might be for another host.
        let kept = fields.split("\r\n").filter(|field| !field.is_empty() && !is_replaced(field));
        let kept: String = kept.map(|field| format!("{field}\r\n")).collect();
        let text =
            format!("{method} {path} {version}\r\nHost: {authority}\r\n{kept}Connection: close\r\n\r\n");
        Some(Self { host, port, forwarded: Some(text.into_bytes()) })
    }
}

fn is_replaced(field: &str) -> bool {
    let name = field.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(name.as_str(), "host" | "connection" | "proxy-connection" | "proxy-authorization" | "keep-alive")
}

fn host_and_port(authority: &str, default: Option<u16>) -> Option<(String, u16)> {
    if authority.contains('@') {
        return None;
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port.parse().ok()?)),
        _ => (authority, default),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase();
    (!host.is_empty()).then_some((host, port?))
}

/// Returns true for a listed name. `*.example.org` and `.example.org` are all names below it.
fn is_listed(host: &str, hosts: &[String]) -> bool {
    hosts.iter().any(|listed| {
        let listed = listed.trim().trim_end_matches('.').to_ascii_lowercase();
        match listed.strip_prefix('*').unwrap_or(&listed).strip_prefix('.') {
            Some(domain) => {
                host.strip_suffix(domain).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            None => host == listed,
        }
    })
}

/// Connects to the host. A listed name must not lead to this machine or its neighbours, unless it is listed as an
/// address.
fn connect(request: &Request, hosts: &[String]) -> Result<TcpStream> {
    let is_named = request.host.parse::<IpAddr>().is_err() && request.host != "localhost";
    let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
    for address in (request.host.as_str(), request.port).to_socket_addrs()? {
        if is_named && is_internal(address.ip()) && !is_listed(&address.ip().to_string(), hosts) {
            last = std::io::Error::other("the name leads to an internal address");
            continue;
        }
        match TcpStream::connect_timeout(&address, CONNECT_LIMIT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn is_internal(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_link_local() || address.is_unspecified(),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => is_internal(IpAddr::V4(mapped)),
            None => address.is_loopback() || address.is_unspecified() || address.is_unicast_link_local(),
        },
    }
}

fn refuse(client: &mut TcpStream, status: &str, text: &str) -> Result<()> {
    let length = text.len() + 1;
    write!(client, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}\n")
}

fn pass_both_ways(client: TcpStream, server: TcpStream) -> Result<()> {
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    let back =
        std::thread::Builder::new().name("sandbox-proxy".to_owned()).spawn(move || pass(&server, &client))?;
    pass(&from, &to);
    let _ = back.join();
    Ok(())
}

fn pass(mut from: &TcpStream, mut to: &TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
