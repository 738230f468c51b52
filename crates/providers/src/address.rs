//! Addresses of endpoints: parsing, comparing origins, display.

use crate::resolve::ResolveError;
use url::{Host, Url};

/// Parses a base URL. The error repeats nothing of a text that may hold a password.
pub fn parse_base_url(text: &str) -> Result<Url, ResolveError> {
    let text = text.trim();
    let bad = |url: &str, cause: &str| ResolveError::BadUrl { url: url.to_owned(), cause: cause.to_owned() };
    let shown = if text.contains('@') { "(an address with a user name)" } else { text };
    let mut url = Url::parse(text).map_err(|error| bad(shown, &error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad(shown, "the scheme is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let host = url.host_str().unwrap_or_default();
        return Err(bad(host, "it carries a user name or password; use model.api_key"));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

/// Returns the reason why a text cannot be the address of a proxy. The text may hold a password, so it is never
/// repeated.
pub fn proxy_problem(text: &str) -> Option<String> {
    const SCHEMES: [&str; 5] = ["http", "https", "socks4", "socks5", "socks5h"];
    match Url::parse(text) {
        Ok(url) if SCHEMES.contains(&url.scheme()) && url.host_str().is_some_and(|host| !host.is_empty()) => {
            None
        }
        Ok(url) => Some(format!("an address with the scheme `{}`", url.scheme())),
        Err(error) => Some(format!("text that is not an address ({error})")),
    }
}

/// The origin (scheme, host and port) that a key is bound to. The same host without TLS, on another port or with
/// a trailing dot is another origin.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// The origin of an address in text form.
pub(crate) fn origin_of(text: &str) -> Option<String> {
    parse_base_url(text).ok().map(|url| origin(&url))
}

/// Returns true if an address is on this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Returns an address for display and logs, without the query, which may hold a secret.
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let has_query = url.query().is_some();
    url.set_query(None);
    if has_query { format!("{url}?…") } else { url.to_string() }
}

/// Returns the address of a path below a base URL; its query is kept.
pub(crate) fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url
}
