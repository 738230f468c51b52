//! Rules about `reasoning_content`: some vendors reject a history without it, all others one with it.

use super::{Rejection, Rule};
use serde_json::Value;

/// Vendors whose models in thinking mode require it at every endpoint.
const DEMANDING: [&str; 2] = ["deepseek", "mimo"];
/// Required at the vendor's own address and rejected by routers; a server on loopback cannot tell which one it
/// simulates, but it never gets a mixture.
const EITHER: &str = "kimi";

pub(super) fn check(model: &str, messages: &[Value]) -> Result<(), Rejection> {
    let model = model.to_ascii_lowercase();
    let replies: Vec<_> =
        messages.iter().enumerate().filter(|(_, message)| message["role"] == "assistant").collect();
    let has_any = replies.iter().any(|(_, reply)| !reply["reasoning_content"].is_null());
    let demanded = DEMANDING.iter().any(|part| model.contains(part)) || (model.contains(EITHER) && has_any);
    for (place, reply) in replies {
        let at = || format!("messages[{place}].reasoning_content");
        match &reply["reasoning_content"] {
            Value::String(text) if demanded && !text.is_empty() => {}
            Value::Null if !demanded => {}
            _ if demanded => return Err(Rejection::new(Rule::MissingEcho, at())),
            _ => return Err(Rejection::new(Rule::UnwantedEcho, at())),
        }
    }
    Ok(())
}
