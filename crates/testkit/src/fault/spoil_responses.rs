//! Damages a reply of the Responses format.

use super::Fault;
use hermes_scripted::{ReplyScript, ResponsesRendering, responses_body, responses_events};
use serde_json::Value;

/// The events of a stream, with all faults applied.
pub(super) fn events(
    reply: &ReplyScript,
    faults: &[Fault],
    rendering: &ResponsesRendering<'_>,
) -> Vec<Value> {
    let mut events = responses_events(reply, rendering);
    for fault in faults {
        spoil_calls(&mut events, fault);
        match fault {
            // The last event is the one that ends the stream.
            Fault::NoFinishReason => {
                events.pop();
            }
            Fault::ErrorInStream(error) => {
                events.pop();
                events.push(error.clone());
            }
            _ => {}
        }
    }
    events
}

/// The body of a reply without streaming, with all faults applied.
pub(super) fn plain(reply: &ReplyScript, faults: &[Fault], rendering: &ResponsesRendering<'_>) -> Value {
    let mut body = [responses_body(reply, rendering)];
    for fault in faults {
        spoil_calls(&mut body, fault);
        match fault {
            Fault::NoFinishReason => body[0]["status"] = Value::Null,
            Fault::ErrorInStream(error) => body[0] = error.clone(),
            _ => {}
        }
    }
    let [body] = body;
    body
}

fn spoil_calls(bodies: &mut [Value], fault: &Fault) {
    if *fault == Fault::ReusedIndex {
        for event in bodies.iter_mut().filter(|event| is_about_call(event)) {
            event["output_index"] = 0.into();
        }
    }
    let mut first_id = None;
    for call in bodies.iter_mut().flat_map(calls) {
        match fault {
            Fault::MissingToolIds => call["call_id"] = Value::Null,
            Fault::DuplicateToolIds => {
                call["call_id"] = first_id.get_or_insert_with(|| call["call_id"].clone()).clone();
            }
            _ => {}
        }
    }
}

fn is_about_call(event: &Value) -> bool {
    event["item"]["type"] == "function_call"
        || event["type"].as_str().is_some_and(|kind| kind.starts_with("response.function_call"))
}

/// The calls in an event, or in a response.
fn calls(body: &mut Value) -> Vec<&mut Value> {
    let Some(members) = body.as_object_mut() else { return Vec::new() };
    let mut items = Vec::new();
    for (key, member) in members {
        match (key.as_str(), member) {
            ("item", item) => items.push(item),
            ("response", response) => items.extend(calls(response)),
            ("output", Value::Array(output)) => items.extend(output),
            _ => {}
        }
    }
    items.retain(|item| item["type"] == "function_call");
    items
}
