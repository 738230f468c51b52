//! Recognises addresses of this machine and its private network.

/// Returns true for an address, with or without scheme, of this machine or a private network.
pub(super) fn is_local_address(address: &str) -> bool {
    let address = address.strip_prefix("https").or_else(|| address.strip_prefix("http")).unwrap_or(address);
    let rest = address.trim_start_matches([':', '/', '"', '\'']);
    let authority = rest.split(['/', '?', '#', ' ', '"', '\'', '`', ')', '>']).next().unwrap_or_default();
    // The part before the `@` is a user name, not a host.
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.starts_with("[::1]") {
        return true;
    }
    let host = host.split(':').next().unwrap_or_default();
    match host.parse::<std::net::Ipv4Addr>() {
        Ok(ip) => ip.is_loopback() || ip.is_private() || ip.is_unspecified() || ip.is_link_local(),
        Err(_) => host == "localhost" || host.ends_with(".localhost") || host.ends_with(".local"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_private_networks_are_local() {
        for (given, want) in [
            ("http://localhost:8080/x", true),
            ("://127.0.0.1/x?y", true),
            ("localhost:3000", true),
            ("http://[::1]:80/", true),
            ("http://192.168.0.2", true),
            ("https://evil.example", false),
            ("http://localhost@evil.example/", false),
            ("http://localhost.evil.example/", false),
            ("http://127.0.0.1.evil.example/", false),
        ] {
            assert_eq!(is_local_address(given), want, "{given}");
        }
    }
}
