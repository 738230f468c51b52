//! Judges the address of a page before it is fetched, and again after each redirect.
//!
//! Numbers and names that lead to private networks are the business of `providers`, which judges them on connecting.

use crate::blocklist::Blocklist;
use crate::settings::{Network, WebSettings};
use hermes_guard::{Secrets, redact};
use std::borrow::Cow;
use std::sync::Arc;
use url::Url;

/// Bytes of an address.
const MOST_BYTES: usize = 8_000;

/// The rules for addresses of one home directory.
pub(crate) struct AddressRules {
    network: Network,
    blocklist: Blocklist,
    secrets: Arc<Secrets>,
}

impl AddressRules {
    pub(crate) fn new(settings: &WebSettings, secrets: Arc<Secrets>) -> Self {
        let blocklist = Blocklist::new(settings.blocklist.clone());
        Self { network: settings.network.clone(), blocklist, secrets }
    }

    /// Reads an address that was written by a model or a user.
    pub(crate) fn parse(&self, written: &str) -> Result<Url, String> {
        let written = written.trim();
        if written.len() > MOST_BYTES {
            return Err(format!("the address has more than {MOST_BYTES} bytes"));
        }
        let with_scheme = || format!("https://{written}");
        let has_scheme = written.split_once(':').is_some_and(|(scheme, rest)| {
            scheme.chars().all(|c| c.is_ascii_alphanumeric())
                && !rest.starts_with(|c: char| c.is_ascii_digit())
        });
        let url = Url::parse(&if has_scheme { written.to_owned() } else { with_scheme() })
            .map_err(|error| format!("this is not an address ({error})"))?;
        self.judge(&url)?;
        Ok(url)
    }

    /// Judges an address by its text.
    pub(crate) fn judge(&self, url: &Url) -> Result<(), String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("the scheme `{}` is not fetched, only http and https", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the address carries a user name or password; credentials are not sent".to_owned());
        }
        let host = url.host_str().unwrap_or_default();
        self.judge_host(host)?;
        if let Some(domain) = self.blocklist.blocks(host) {
            return Err(format!("{domain} is blocked by security.website_blocklist"));
        }
        match self.carries_secret(url) {
            true => Err("the address carries a key or another secret, which is not sent".to_owned()),
            false => Ok(()),
        }
    }

    /// Judges a host by `sandbox.network`.
    pub(crate) fn judge_host(&self, host: &str) -> Result<(), String> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        match &self.network {
            Network::On => Ok(()),
            Network::Off => Err("the network is off (sandbox.network is off)".to_owned()),
            Network::Hosts(hosts) if hosts.iter().any(|allowed| is_allowed(allowed, &host)) => Ok(()),
            Network::Hosts(_) => {
                Err(format!("{host} is not in sandbox.network, which lists the hosts that may be reached"))
            }
        }
    }

    /// A secret can be written in parts of an address in several ways, so its decoded text is searched as well.
    fn carries_secret(&self, url: &Url) -> bool {
        let written = url.as_str();
        let mut forms = vec![written.to_owned()];
        for _ in 0..2 {
            let last = forms.last().map_or("", String::as_str);
            let decoded = percent_decoded(last);
            if decoded == last {
                break;
            }
            forms.push(decoded);
        }
        let has = |text: &String| {
            self.secrets.occur_in(text) || matches!(redact(&Secrets::default(), text), Cow::Owned(_))
        };
        forms.iter().any(has)
    }
}

/// Returns true if a host is one of the list; `*.example.org` and `.example.org` are all names below it. A port in the list is not compared.
fn is_allowed(allowed: &str, host: &str) -> bool {
    let allowed = allowed.trim().to_ascii_lowercase();
    let allowed = match allowed.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) && !name.contains(':') => name,
        _ => &allowed,
    };
    match allowed.strip_prefix('*').unwrap_or(allowed).strip_prefix('.') {
        Some(parent) => host.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.')),
        None => allowed == host,
    }
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut all, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let pair = digit(at + 1).zip(digit(at + 2)).filter(|_| *byte == b'%');
        let code = pair.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        all.push(code.unwrap_or(if *byte == b'+' { b' ' } else { *byte }));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[cfg(test)]
#[path = "address_rules_tests.rs"]
mod tests;
