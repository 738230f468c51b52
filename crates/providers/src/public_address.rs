//! Addresses on the public internet, as opposed to this machine and private networks.
//!
//! A name is resolved once, its addresses are checked, and the connection goes to one of them: a name that resolves
//! differently the next time has no effect.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use url::Url;

/// The addresses that a download may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The public internet only.
    Public,
    /// Private addresses as well, as the user asked.
    Private,
}

/// The public addresses of a host name.
pub async fn public_addresses(host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
    let found: Vec<SocketAddr> = tokio::net::lookup_host((host, port)).await?.collect();
    let public: Vec<SocketAddr> = found.iter().copied().filter(|address| is_public(address.ip())).collect();
    match (public.is_empty(), found.first()) {
        (true, Some(private)) => Err(std::io::Error::other(private_place(host, private.ip()))),
        _ => Ok(public),
    }
}

fn private_place(host: &str, address: IpAddr) -> String {
    format!("{host} is at the private address {address}; use --allow-private if you mean it")
}

/// The IPv4 address that an address carries, in any form.
pub(crate) fn carried_v4(address: IpAddr) -> Option<Ipv4Addr> {
    let address = match address {
        IpAddr::V4(address) => return Some(address),
        IpAddr::V6(address) => address,
    };
    let [a, b, c, d, e, f, g, h] = address.segments();
    let of = |high: u16, low: u16| {
        let ([w, x], [y, z]) = (high.to_be_bytes(), low.to_be_bytes());
        Some(Ipv4Addr::new(w, x, y, z))
    };
    match (a, b) {
        (0, 0) if (c, d) == (0, 0) && matches!((e, f), (0, 0 | 0xffff) | (0xffff, 0)) => of(g, h),
        (0x64, 0xff9b) => of(g, h),
        (0x2002, _) => of(b, c),
        _ => None,
    }
}

/// Host and port of a repository, and true if it is fetched over HTTP; `None` for one on this machine.
pub fn repository_host(url: &str) -> Option<(String, u16, bool)> {
    let bare = |host: &str| host.trim_start_matches('[').trim_end_matches(']').to_owned();
    if url.contains("://") {
        let parsed = Url::parse(url).ok()?;
        let host = parsed.host_str().filter(|host| !host.is_empty())?;
        let is_web = matches!(parsed.scheme(), "http" | "https");
        return Some((bare(host), parsed.port_or_known_default().unwrap_or(22), is_web));
    }
    // `name@host:path`, as in ssh.
    let (place, _) = url.split_once(':').filter(|(place, _)| !place.contains('/'))?;
    let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
    Some((bare(host), 22, false))
}

/// Returns true for an address of the public internet. Forms that carry an IPv4 address are judged by it.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_reserved = match (a, b, c) {
        // This network, loopback, class E and broadcast, multicast.
        (0 | 127 | 224..=255, _, _) => true,
        // Private.
        (10, _, _) | (172, 16..=31, _) | (192, 168, _) => true,
        // Carrier-grade NAT; some clouds have their metadata service there.
        (100, 64..=127, _) => true,
        // Link-local, and the metadata of clouds.
        (169, 254, _) => true,
        // Protocol assignments, documentation, old relays, benchmarks.
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 18 | 19, _) | (198, 51, 100) | (203, 0, 113) => true,
        _ => false,
    };
    !is_reserved
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let carried = |high: u16, low: u16| {
        let ([w, x], [y, z]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(w, x, y, z))
    };
    match (a, b) {
        // Mapped, translated and compatible forms, loopback and the unspecified address.
        (0, 0) if (c, d) == (0, 0) && matches!((e, f), (0, 0 | 0xffff) | (0xffff, 0)) => carried(g, h),
        // NAT64.
        (0x64, 0xff9b) if (c, d, e, f) == (0, 0, 0, 0) => carried(g, h),
        (0x64, 0xff9b) => false,
        // 6to4.
        (0x2002, _) => carried(b, c),
        // Teredo and other assignments of the protocol, benchmarks, documentation.
        (0x2001, 0..=0x1ff | 0xdb8) | (0x3fff, 0..=0x0fff) => false,
        // Only this range is in use; unique local, link-local, site-local and multicast are outside.
        _ => (0x2000..=0x3fff).contains(&a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known_in_every_form() {
        for (text, want) in [
            ("8.8.8.8", true),
            ("1.1.1.1", true),
            ("172.15.0.1", true),
            ("172.32.0.1", true),
            ("100.63.0.1", true),
            ("100.128.0.1", true),
            ("192.0.1.1", true),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.168.1.1", false),
            ("100.64.0.1", false),
            ("100.100.100.200", false),
            ("169.254.169.254", false),
            ("192.0.0.192", false),
            ("192.0.2.1", false),
            ("198.18.0.1", false),
            ("198.51.100.7", false),
            ("203.0.113.9", false),
            ("224.0.0.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("2606:4700:4700::1111", true),
            ("2001:4860:4860::8888", true),
            ("::", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:10.0.0.1", false),
            ("::ffff:8.8.8.8", true),
            ("::ffff:0:169.254.169.254", false),
            ("::127.0.0.1", false),
            ("64:ff9b::127.0.0.1", false),
            ("64:ff9b::8.8.8.8", true),
            ("64:ff9b:1::8.8.8.8", false),
            ("2002:7f00:1::", false),
            ("2002:0a00:0001::1", false),
            ("2002:0808:0808::1", true),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("3fff::1", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
            ("4000::1", false),
            ("100::1", false),
        ] {
            assert_eq!(is_public(text.parse().unwrap()), want, "{text}");
        }
    }

    #[test]
    fn the_host_of_a_repository_is_found() {
        for (url, want) in [
            ("https://example.com/a.git", Some(("example.com", 443, true))),
            ("https://me:word@example.com:8443/a", Some(("example.com", 8443, true))),
            ("https://0x7f.1/a", Some(("127.0.0.1", 443, true))),
            ("https://[::1]/a", Some(("::1", 443, true))),
            ("ssh://git@10.0.0.1/a", Some(("10.0.0.1", 22, false))),
            ("git@github.com:a/b.git", Some(("github.com", 22, false))),
            ("file:///srv/a", None),
            ("/srv/a", None),
        ] {
            let want = want.map(|(host, port, is_web)| (host.to_owned(), port, is_web));
            assert_eq!(repository_host(url), want, "{url}");
        }
    }

    #[tokio::test]
    async fn a_name_of_this_machine_is_refused() {
        let error = public_addresses("localhost", 80).await.unwrap_err().to_string();
        assert!(error.contains("--allow-private"), "{error}");
    }
}
