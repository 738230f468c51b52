//! Wire types of the Messages format: events, blocks and counts.

use crate::formats::token_count::Count;
use hermes_conversation::RawJson;
use serde::Deserialize;

/// An event, or a whole message: the relevant fields of all of them.
#[derive(Deserialize)]
pub(super) struct Frame {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(default)]
    pub(super) content_block: Option<WireBlock>,
    #[serde(default)]
    pub(super) delta: Option<Delta>,
    #[serde(default)]
    pub(super) message: Option<WireMessage>,
    #[serde(default, deserialize_with = "crate::formats::bounded_list::bounded")]
    pub(super) content: Option<Vec<WireBlock>>,
    #[serde(default)]
    pub(super) stop_reason: Option<String>,
    #[serde(default)]
    pub(super) usage: Option<WireUsage>,
    #[serde(default)]
    pub(super) error: Option<RawJson>,
}

#[derive(Deserialize)]
pub(super) struct WireMessage {
    #[serde(default)]
    pub(super) usage: Option<WireUsage>,
}

#[derive(Deserialize, Default)]
pub(super) struct WireBlock {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) thinking: Option<String>,
    #[serde(default)]
    pub(super) signature: Option<String>,
    #[serde(default)]
    pub(super) data: Option<String>,
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) input: Option<RawJson>,
}

#[derive(Deserialize, Default)]
pub(super) struct Delta {
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) partial_json: Option<String>,
    #[serde(default)]
    pub(super) thinking: Option<String>,
    #[serde(default)]
    pub(super) signature: Option<String>,
    #[serde(default)]
    pub(super) stop_reason: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct WireUsage {
    #[serde(default)]
    pub(super) input_tokens: Option<Count>,
    #[serde(default)]
    pub(super) output_tokens: Option<Count>,
    #[serde(default)]
    pub(super) cache_read_input_tokens: Option<Count>,
    #[serde(default)]
    pub(super) cache_creation_input_tokens: Option<Count>,
}
