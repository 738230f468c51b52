//! The Messages format, outbound.
//!
//! Content is always a list of blocks and the system prompt a list of one, with or without cache marks: a mark
//! is then only an addition and never changes the structure.

mod assistant;
mod calls;
mod dialect;
mod item;
mod messages;
mod parts;
mod schema;
mod units;

pub use dialect::{AnthropicDialect, MessagesServer, ModelDots, ThinkingReplay, ThinkingStyle};

use super::{Format, HeadParts, write_json};
use crate::{Effort, ModelRequest, RequestSettings};
use hermes_conversation::{Message, ToolDefinition, max_output};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Tokens left for the answer beside a thinking budget.
const ANSWER_ROOM: u64 = 4_096;

pub(crate) struct Anthropic;

impl Format for Anthropic {
    fn head(&self, request: &ModelRequest) -> HeadParts {
        head(request)
    }

    fn unit(&self, messages: &[Arc<Message>]) -> usize {
        units::count(messages)
    }

    fn write(&self, unit: &[Arc<Message>], settings: &RequestSettings, bytes: &mut Vec<u8>) -> Option<usize> {
        messages::write(unit, settings, bytes)
    }
}

fn head(request: &ModelRequest) -> HeadParts {
    let settings = &request.settings;
    let thinking = Thinking::of(&request.model, settings);
    let mut bytes = Vec::with_capacity(16 * 1024);
    bytes.extend_from_slice(b"{\"model\":");
    write_json(&mut bytes, &*settings.dialect.anthropic.model_name(&request.model));
    let cap = thinking.max_tokens(&request.model, settings.max_tokens);
    bytes.extend_from_slice(format!(",\"max_tokens\":{cap}").as_bytes());
    if settings.stream {
        bytes.extend_from_slice(b",\"stream\":true");
    }
    thinking.write(&mut bytes);
    let tools = write_tools(&mut bytes, &request.tools);
    let (system, mark) = write_system(&mut bytes, &request.system);
    bytes.extend_from_slice(b",\"messages\":[");
    HeadParts { bytes, tools, system, mark, has_items: false, output_cap: Some(cap) }
}

/// The thinking settings of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thinking {
    /// None: the default of the endpoint.
    Unsaid,
    Budget(u64),
    Adaptive(&'static str),
}

impl Thinking {
    fn of(model: &str, settings: &RequestSettings) -> Self {
        let Some(effort) = settings.effort.filter(|effort| *effort != Effort::None) else {
            return Self::Unsaid;
        };
        let dialect = settings.dialect.anthropic;
        match dialect.thinking {
            ThinkingStyle::None => Self::Unsaid,
            ThinkingStyle::Adaptive => Self::Adaptive(effort_word(effort, dialect.xhigh)),
            // The budget is part of the output limit.
            ThinkingStyle::Budget => {
                Self::Budget(budget(effort).min(max_output(model).saturating_sub(ANSWER_ROOM).max(1_024)))
            }
        }
    }

    fn max_tokens(self, model: &str, wanted: Option<u64>) -> u64 {
        let cap = wanted.unwrap_or_else(|| max_output(model)).max(1);
        match self {
            Self::Budget(budget) => cap.max(budget + ANSWER_ROOM),
            Self::Unsaid | Self::Adaptive(_) => cap,
        }
    }

    fn write(self, bytes: &mut Vec<u8>) {
        let text = match self {
            Self::Unsaid => return,
            Self::Budget(budget) => format!(r#","thinking":{{"type":"enabled","budget_tokens":{budget}}}"#),
            Self::Adaptive(word) => format!(
                r#","thinking":{{"type":"adaptive","display":"summarized"}},"output_config":{{"effort":"{word}"}}"#
            ),
        };
        bytes.extend_from_slice(text.as_bytes());
    }
}

fn effort_word(effort: Effort, xhigh: &'static str) -> &'static str {
    match effort {
        Effort::None | Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Xhigh => xhigh,
        // An endpoint without `xhigh` may not know `max` either.
        Effort::Max | Effort::Ultra => {
            if xhigh == "high" {
                "high"
            } else {
                "max"
            }
        }
    }
}

fn budget(effort: Effort) -> u64 {
    match effort {
        Effort::None | Effort::Minimal | Effort::Low => 4_000,
        Effort::Medium => 8_000,
        Effort::High => 16_000,
        Effort::Xhigh | Effort::Max | Effort::Ultra => 32_000,
    }
}

fn write_tools(bytes: &mut Vec<u8>, tools: &[ToolDefinition]) -> Range<usize> {
    if tools.is_empty() {
        return bytes.len()..bytes.len();
    }
    bytes.extend_from_slice(b",\"tools\":");
    let start = bytes.len();
    let mut names = HashSet::new();
    let tools: Vec<_> =
        tools.iter().filter(|tool| names.insert(tool.name.as_str())).map(WireTool::from).collect();
    write_json(bytes, &tools);
    let end = bytes.len();
    bytes.extend_from_slice(br#","tool_choice":{"type":"auto"}"#);
    start..end
}

#[derive(Serialize)]
struct WireTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: Value,
}

impl<'a> From<&'a ToolDefinition> for WireTool<'a> {
    fn from(tool: &'a ToolDefinition) -> Self {
        let input_schema = schema::cleaned(&tool.parameters);
        Self { name: &tool.name, description: &tool.description, input_schema }
    }
}

#[derive(Serialize)]
struct WireSystem<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

fn write_system(bytes: &mut Vec<u8>, system: &str) -> (Range<usize>, Option<usize>) {
    if system.trim().is_empty() {
        return (bytes.len()..bytes.len(), None);
    }
    bytes.extend_from_slice(b",\"system\":");
    let start = bytes.len();
    write_json(bytes, &[WireSystem { kind: "text", text: system }]);
    (start..bytes.len(), Some(bytes.len() - 2))
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
