//! Settings that are addresses: `config set` refuses one that no request could be sent to.

use super::error::{ConfigError, Origin, Problem};
use hermes_providers::{parse_base_url, proxy_problem};

/// The kinds of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Address {
    Endpoint,
    Proxy,
}

/// Refuses text that is not an address, for keys that hold one. Empty text takes the address away, and one
/// with a `${VARIABLE}` is known only later.
pub(super) fn check_address(key: &str, text: &str) -> Result<(), ConfigError> {
    let text = text.trim();
    let Some(kind) = kind(key).filter(|_| !text.is_empty() && !text.contains("${")) else { return Ok(()) };
    let problem = match kind {
        Address::Endpoint => parse_base_url(text).err().map(|error| error.to_string()),
        Address::Proxy => proxy_problem(text),
    };
    let Some(problem) = problem else { return Ok(()) };
    let wanted = match kind {
        Address::Endpoint => "an address such as https://host.example/v1",
        Address::Proxy => "an address such as http://host.example:3128 or socks5://host.example:1080",
    };
    Err(ConfigError::Value(Problem::WrongType {
        origin: Origin::CommandLine,
        key: key.to_owned(),
        found: problem,
        wanted: wanted.to_owned(),
    }))
}

fn kind(key: &str) -> Option<Address> {
    let leaf = key.rsplit('.').next().unwrap_or(key);
    let is_entry = key.starts_with("providers.") || key.starts_with("custom_providers");
    match leaf {
        "base_url" => Some(Address::Endpoint),
        "url" | "api" if is_entry => Some(Address::Endpoint),
        "endpoint" if key == "telemetry.otlp.endpoint" => Some(Address::Endpoint),
        "proxy" if key == "network.proxy" => Some(Address::Proxy),
        // Copilot's other program has an address of its own kind.
        _ if leaf.ends_with("_BASE_URL") && leaf != "COPILOT_ACP_BASE_URL" => Some(Address::Endpoint),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_are_taken_where_an_address_belongs() {
        for (key, text, is_taken) in [
            ("model.base_url", "http://127.0.0.1:8000/v1", true),
            ("model.base_url", "https://host.example", true),
            ("model.base_url", "", true),
            ("model.base_url", "${MY_URL}", true),
            ("model.base_url", "127.0.0.1:8000", false),
            ("model.base_url", "htp://x", false),
            ("model.base_url", "https://me:hush@host.example/v1", false),
            ("providers.box.url", "nowhere", false),
            ("providers.box.base_url", "https://box.example", true),
            ("auxiliary.vision.base_url", "nowhere", false),
            ("OPENAI_BASE_URL", "nowhere", false),
            ("telemetry.otlp.endpoint", "localhost:4318", false),
            ("network.proxy", "socks5://me:hush@host.example:1080", true),
            ("network.proxy", "ftp://host.example", false),
            ("network.proxy", "host", false),
            ("model.default", "nowhere", true),
            ("skills.url", "nowhere", true),
        ] {
            let result = check_address(key, text);
            assert_eq!(result.is_ok(), is_taken, "{key} {text}");
            assert!(result.err().is_none_or(|error| !error.to_string().contains("hush")), "{key} {text}");
        }
    }
}
