//! The Responses format, outbound: everything before the history.
//!
//! Nothing is stored at the provider. Everything that the model must see again is part of the request, its own
//! reasoning in encrypted form. The history comes last, as in every format.

mod content;
mod dialect;
mod items;
mod tools;

use super::{Format, HeadParts, write_json};
use crate::{ModelRequest, RequestSettings};
use hermes_conversation::Message;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

pub use dialect::{ReasoningControl, ResponsesBackend, ResponsesDialect};

/// The maximum length of call ids, keys and item ids.
const LONGEST_ID: usize = 64;
/// Smaller output caps are rejected.
const SMALLEST_OUTPUT_CAP: u64 = 16;
/// The Codex backend rejects requests without instructions.
const PLAIN_INSTRUCTIONS: &str = "You are a helpful assistant.";

pub(crate) struct Responses;

impl Format for Responses {
    fn head(&self, request: &ModelRequest) -> HeadParts {
        head(request)
    }

    fn unit(&self, messages: &[Arc<Message>]) -> usize {
        items::unit(messages)
    }

    fn write(&self, unit: &[Arc<Message>], settings: &RequestSettings, bytes: &mut Vec<u8>) -> Option<usize> {
        items::write(unit, settings, bytes);
        None
    }
}

fn head(request: &ModelRequest) -> HeadParts {
    let (settings, dialect) = (&request.settings, request.settings.dialect.responses);
    let instructions = match request.system.is_empty() && dialect.needs_instructions() {
        true => PLAIN_INSTRUCTIONS,
        false => &*request.system,
    };
    let offered = tools::written(&request.tools, dialect.backend);
    let mut bytes = Vec::with_capacity(16 * 1024);
    bytes.extend_from_slice(b"{\"model\":");
    write_json(&mut bytes, &*request.model);
    if settings.stream {
        bytes.extend_from_slice(b",\"stream\":true");
    }
    bytes.extend_from_slice(b",\"store\":false,\"include\":");
    bytes.extend_from_slice(match dialect.wants_encrypted(settings) {
        true => b"[\"reasoning.encrypted_content\"]",
        false => b"[]",
    });
    if let Some(wish) = dialect.reasoning_wish(settings.effort) {
        bytes.extend_from_slice(b",\"reasoning\":");
        let effort = wish.effort.map(crate::Effort::as_str);
        write_json(&mut bytes, &WireReasoning { effort, summary: "auto" });
    }
    let output_cap = settings.max_tokens.filter(|_| dialect.takes_output_cap());
    let output_cap = output_cap.map(|cap| cap.max(SMALLEST_OUTPUT_CAP));
    if let Some(cap) = output_cap {
        bytes.extend_from_slice(format!(",\"max_output_tokens\":{cap}").as_bytes());
    }
    if dialect.takes_cache_key()
        && let Some(key) = cache_key(instructions, &offered, settings.session.as_deref())
    {
        bytes.extend_from_slice(b",\"prompt_cache_key\":");
        write_json(&mut bytes, &key);
    }
    let mut tools = bytes.len()..bytes.len();
    if !offered.is_empty() {
        bytes.extend_from_slice(b",\"tool_choice\":\"auto\",\"parallel_tool_calls\":true,\"tools\":");
        tools = bytes.len()..bytes.len() + offered.len();
        bytes.extend_from_slice(&offered);
    }
    let mut system = bytes.len()..bytes.len();
    if !instructions.is_empty() {
        bytes.extend_from_slice(b",\"instructions\":");
        let start = bytes.len();
        write_json(&mut bytes, instructions);
        system = start..bytes.len();
    }
    bytes.extend_from_slice(b",\"input\":[");
    HeadParts { bytes, tools, system, mark: None, has_items: false, output_cap }
}

#[derive(Serialize)]
struct WireReasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    summary: &'static str,
}

/// Requests with the same beginning share a key, also across sessions; a request without one is identified by
/// its session.
fn cache_key(instructions: &str, tools: &[u8], session: Option<&str>) -> Option<String> {
    if instructions.is_empty() && tools.is_empty() {
        return session.map(|session| short_id("pcs_", session).into_owned());
    }
    let mut hash = Sha256::new();
    hash.update(instructions.as_bytes());
    hash.update([0]);
    hash.update(tools);
    Some(format!("pck_{}", hex(&hash.finalize()[..12])))
}

/// The id as sent: unchanged if the format accepts it, otherwise a short hash of it, always the same.
fn short_id<'a>(prefix: &str, id: &'a str) -> Cow<'a, str> {
    match !id.is_empty() && id.chars().count() <= LONGEST_ID {
        true => Cow::Borrowed(id),
        false => Cow::Owned(format!("{prefix}{}", hex(&Sha256::digest(id)[..16]))),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
#[path = "responses_tests.rs"]
mod tests;
