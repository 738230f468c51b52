//! The stored form of a reply's blocks.

use super::{Block, Kind};
use hermes_conversation::{RawJson, ToolCall};
use serde::Serialize;

/// A stored block. The arguments of a call are stored with the call.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StoredBlock<'a> {
    Thinking {
        thinking: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    Text {
        text: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
    },
}

/// The blocks in their order, if it matters: with thinking among them, or with text after a call. Otherwise
/// text and calls are sufficient.
pub(super) fn stored(blocks: &[Block], calls: &[ToolCall]) -> Option<RawJson> {
    let is_call = |block: &Block| matches!(block.kind, Kind::Call { .. });
    let thinks = |block: &Block| matches!(block.kind, Kind::Thinking { .. } | Kind::Redacted { .. });
    let speaks = |block: &Block| matches!(&block.kind, Kind::Text(text) if !text.is_empty());
    let first_call = blocks.iter().position(is_call).unwrap_or(blocks.len());
    if !blocks.iter().any(thinks) && !blocks[first_call..].iter().any(speaks) {
        return None;
    }
    let mut calls = calls.iter();
    let list: Vec<_> = blocks
        .iter()
        .filter_map(|block| match &block.kind {
            Kind::Text(text) => (!text.is_empty()).then_some(StoredBlock::Text { text }),
            Kind::Thinking { text, signature } => Some(StoredBlock::Thinking { thinking: text, signature }),
            Kind::Redacted { data } => Some(StoredBlock::RedactedThinking { data }),
            Kind::Call { .. } => {
                calls.next().map(|call| StoredBlock::ToolUse { id: call.id.as_str(), name: &call.name })
            }
            Kind::Ignored => None,
        })
        .collect();
    RawJson::of(&list)
}
