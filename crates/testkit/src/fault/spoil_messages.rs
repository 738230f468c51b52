//! Damages a reply of the Messages format before it is framed.

use super::Fault;
use super::spoil::event;
use hermes_scripted::{Rendering, ReplyScript, messages_body, messages_events};
use serde_json::{Value, json};

/// The framed events of a stream, with all faults applied.
pub(super) fn events(reply: &ReplyScript, faults: &[Fault], rendering: &Rendering<'_>) -> Vec<Vec<u8>> {
    let mut events = messages_events(reply, rendering);
    for fault in faults {
        spoil_calls(events.iter_mut().filter_map(|event| event.get_mut("content_block")), fault);
        match fault {
            Fault::NoFinishReason => events.retain(|event| event["type"] != "message_delta"),
            Fault::NoDone => events.retain(|event| event["type"] != "message_stop"),
            Fault::ReusedIndex => events.iter_mut().for_each(reuse_index),
            Fault::ErrorInStream(error) => {
                let is_end = |event: &Value| event["type"] == "message_delta";
                events.truncate(events.iter().position(is_end).unwrap_or(events.len()));
                events.push(error.clone());
            }
            _ => {}
        }
    }
    let name = |value: &Value| format!("event: {}\n", value["type"].as_str().unwrap_or("message"));
    events.iter().map(|value| event(&name(value), &value.to_string(), faults).into_bytes()).collect()
}

/// The body of a reply without streaming, with all faults applied.
pub(super) fn plain(reply: &ReplyScript, faults: &[Fault], rendering: &Rendering<'_>) -> Value {
    let mut body = messages_body(reply, rendering);
    for fault in faults {
        spoil_calls(body["content"].as_array_mut().into_iter().flatten(), fault);
        match fault {
            Fault::NoFinishReason => body["stop_reason"] = Value::Null,
            Fault::ErrorInStream(error) => body = error.clone(),
            _ => {}
        }
    }
    body
}

fn spoil_calls<'a>(blocks: impl Iterator<Item = &'a mut Value>, fault: &Fault) {
    let mut first_id = None;
    for call in blocks.filter(|block| block["type"] == "tool_use") {
        match fault {
            Fault::MissingToolIds => call["id"] = json!(""),
            Fault::DuplicateToolIds => {
                call["id"] = first_id.get_or_insert_with(|| call["id"].clone()).clone();
            }
            _ => {}
        }
    }
}

fn reuse_index(event: &mut Value) {
    if event.get("index").is_some() {
        event["index"] = json!(0);
    }
}
