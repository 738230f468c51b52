//! Variations between chat-completions endpoints.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The requirements of one chat-completions endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ChatDialect {
    /// Every assistant message must have a non-empty `reasoning_content`. All other endpoints get none: strict
    /// ones reject the field.
    pub echoes_reasoning: bool,
    /// The body has the session id in `session_id`.
    pub names_session: bool,
}

/// Members that are added to the body of every request, in order.
///
/// They are written before the tools and the messages, so they never move the cached prefix.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExtraFields(Map<String, Value>);

impl ExtraFields {
    /// Members that Hermes writes itself. A duplicate would make the body ambiguous.
    pub const RESERVED: [&'static str; 8] = [
        "model",
        "messages",
        "tools",
        "stream",
        "stream_options",
        "max_tokens",
        "max_completion_tokens",
        "session_id",
    ];

    /// The fields of a JSON object, without reserved ones.
    pub fn new(mut fields: Map<String, Value>) -> Self {
        fields.retain(|name, _| !Self::RESERVED.contains(&name.as_str()));
        Self(fields)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Appends `,"name":value` for each field.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        for (name, value) in &self.0 {
            bytes.push(b',');
            super::super::write_json(bytes, name);
            bytes.push(b':');
            super::super::write_json(bytes, value);
        }
    }
}
