//! Judges the addresses that a program of others may make Hermes connect to.
//!
//! A name is resolved when the connection is made, each of its addresses is judged, and the connection goes to one
//! that passed: a name that resolves differently the next time has no effect. Metadata services of clouds, which hand
//! out credentials, are refused in any case.

use crate::public_address::{Reach, carried_v4, is_public};
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use url::{Host, Url};

/// Names of metadata services; the names below them count too.
const METADATA_NAMES: [&str; 8] = [
    "metadata",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.azure.internal",
    "metadata.azure.com",
    "metadata.tencentyun.com",
    "instance-data",
    "instance-data.ec2.internal",
];

/// Addresses of metadata services outside of 169.254.0.0/16: Alibaba, Oracle, Azure, and IPv6 of AWS and Google.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192), Ipv4Addr::new(168, 63, 129, 16)];
const METADATA_V6: [Ipv6Addr; 4] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
];

/// The source of the addresses of names.
pub trait Names: Send + Sync {
    /// Every address of a name.
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, std::io::Result<Vec<IpAddr>>>;

    /// The address to connect to, of one that passed. Another one only in tests, which stay on this machine.
    fn connected(&self, address: IpAddr) -> IpAddr {
        address
    }
}

/// Names as the system resolves them.
struct SystemNames;

impl Names for SystemNames {
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, std::io::Result<Vec<IpAddr>>> {
        Box::pin(
            async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|found| found.ip()).collect()) },
        )
    }
}

/// The rule for addresses of one kind of request.
#[derive(Clone)]
pub struct AddressGuard {
    reach: Reach,
    names: Arc<dyn Names>,
    /// The way to permit private addresses, for messages.
    advice: &'static str,
    /// The host of the proxy, which the user chose.
    proxy: Option<String>,
}

impl std::fmt::Debug for AddressGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AddressGuard").field("reach", &self.reach).finish_non_exhaustive()
    }
}

impl AddressGuard {
    pub fn new(reach: Reach, advice: &'static str) -> Self {
        Self { reach, names: Arc::new(SystemNames), advice, proxy: None }
    }

    /// The same rule with another source of addresses.
    #[must_use]
    pub fn with_names(self, names: Arc<dyn Names>) -> Self {
        Self { names, ..self }
    }

    pub(crate) fn exempting(&self, proxy: &str) -> Self {
        let host = Url::parse(proxy).ok().and_then(|url| url.host_str().map(bare));
        Self { proxy: host, ..self.clone() }
    }

    /// Judges a URL without resolving a name. The error says why it is refused.
    pub fn judge_url(&self, url: &Url) -> Result<(), String> {
        self.judge_number(url)?;
        let Some(Host::Domain(name)) = url.host() else { return Ok(()) };
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        if METADATA_NAMES.iter().any(|known| is_at_or_below(&name, known)) {
            return Err(format!("{name} is the metadata service of a cloud, which is never fetched"));
        }
        match self.reach == Reach::Public && is_at_or_below(&name, "localhost") {
            true => Err(format!("{name} is this machine; {}", self.advice)),
            false => Ok(()),
        }
    }

    /// Judges a URL whose host is a number, in any notation.
    pub(crate) fn judge_number(&self, url: &Url) -> Result<(), String> {
        match url.host() {
            Some(Host::Ipv4(address)) => self.judge(url.host_str().unwrap_or_default(), address.into()),
            Some(Host::Ipv6(address)) => self.judge(url.host_str().unwrap_or_default(), address.into()),
            Some(Host::Domain(_)) | None => Ok(()),
        }
    }

    /// Judges the addresses that the name in a URL has now. An unknown name passes: there is nothing to connect to.
    pub async fn judge_name(&self, url: &Url) -> Result<(), String> {
        let Some(Host::Domain(name)) = url.host() else { return Ok(()) };
        let Ok(found) = self.names.addresses(name).await else { return Ok(()) };
        found.into_iter().try_for_each(|address| self.judge(name, address))
    }

    fn judge(&self, host: &str, address: IpAddr) -> Result<(), String> {
        if is_metadata(address) {
            return Err(format!(
                "{host} is at {address}, a metadata service of clouds, which is never fetched"
            ));
        }
        match self.reach == Reach::Public && !is_public(address) {
            true => Err(format!("{host} is at the private address {address}; {}", self.advice)),
            false => Ok(()),
        }
    }

    /// The addresses of a name that pass; the first reason if none does.
    async fn passing(&self, name: &str) -> std::io::Result<Vec<SocketAddr>> {
        let found = self.names.addresses(name).await?;
        if self.proxy.as_deref() == Some(name) {
            return Ok(found.into_iter().map(|address| SocketAddr::new(address, 0)).collect());
        }
        let (mut passing, mut reason) = (Vec::new(), None);
        for address in found {
            match self.judge(name, address) {
                Ok(()) => passing.push(SocketAddr::new(self.names.connected(address), 0)),
                Err(why) => reason = reason.or(Some(why)),
            }
        }
        match (passing.is_empty(), reason) {
            (true, Some(why)) => Err(std::io::Error::other(why)),
            _ => Ok(passing),
        }
    }
}

impl Resolve for AddressGuard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let found = guard.passing(name.as_str()).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Returns true for addresses of the metadata services of clouds.
pub fn is_metadata(address: IpAddr) -> bool {
    let is_v4 =
        |address: Ipv4Addr| matches!(address.octets(), [169, 254, _, _]) || METADATA_V4.contains(&address);
    let is_v6 = matches!(address, IpAddr::V6(address) if METADATA_V6.contains(&address));
    is_v6 || carried_v4(address).is_some_and(is_v4)
}

fn is_at_or_below(name: &str, known: &str) -> bool {
    name == known || name.strip_suffix(known).is_some_and(|rest| rest.ends_with('.'))
}

fn bare(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').to_owned()
}

#[cfg(test)]
#[path = "address_guard_tests.rs"]
mod tests;
