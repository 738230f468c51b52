//! Damages a reply before it is framed.

use super::{Fault, ReplyFormat, spoil_messages, spoil_responses};
use hermes_conversation::FinishReason;
use hermes_scripted::{Rendering, ReplyScript, chunks, json_body};
use serde_json::Value;

/// The body of a reply in the pieces in which it is sent: the events of a stream, or one JSON text.
pub(super) fn pieces(
    reply: &ReplyScript,
    faults: &[Fault],
    speech: &ReplyFormat<'_>,
    stream: bool,
) -> Vec<Vec<u8>> {
    let reply = cut_arguments(reply, faults);
    let stream = stream && !faults.contains(&Fault::JsonInsteadOfStream);
    match (speech, stream) {
        (ReplyFormat::Chat(rendering), true) => events(&reply, faults, rendering),
        (ReplyFormat::Chat(rendering), false) => vec![plain(&reply, faults, rendering)],
        (ReplyFormat::Messages(rendering), true) => spoil_messages::events(&reply, faults, rendering),
        (ReplyFormat::Messages(rendering), false) => {
            vec![spoil_messages::plain(&reply, faults, rendering).to_string().into_bytes()]
        }
        (ReplyFormat::Responses(rendering), true) => {
            let values = spoil_responses::events(&reply, faults, rendering);
            values.iter().map(|value| event("", &value.to_string(), faults).into_bytes()).collect()
        }
        (ReplyFormat::Responses(rendering), false) => {
            vec![spoil_responses::plain(&reply, faults, rendering).to_string().into_bytes()]
        }
    }
}

fn events(reply: &ReplyScript, faults: &[Fault], rendering: &Rendering<'_>) -> Vec<Vec<u8>> {
    let parse = |text: String| serde_json::from_str(&text).unwrap();
    let mut values: Vec<Value> = chunks(reply, rendering).into_iter().map(parse).collect();
    let mut done = !faults.contains(&Fault::NoDone);
    for fault in faults {
        spoil_calls(&mut values, fault);
        match fault {
            Fault::NoFinishReason => values.retain(|chunk| !has_finish(chunk)),
            Fault::ErrorInStream(error) => {
                values.truncate(values.iter().position(has_finish).unwrap_or(values.len()));
                values.push(error.clone());
                done = false;
            }
            _ => {}
        }
    }
    let mut texts: Vec<String> = values.iter().map(Value::to_string).collect();
    texts.extend(done.then(|| "[DONE]".to_owned()));
    texts.iter().map(|text| event("", text, faults).into_bytes()).collect()
}

fn plain(reply: &ReplyScript, faults: &[Fault], rendering: &Rendering<'_>) -> Vec<u8> {
    let mut body = [serde_json::from_slice(&json_body(reply, rendering)).unwrap()];
    for fault in faults {
        spoil_calls(&mut body, fault);
        match fault {
            Fault::NoFinishReason => body[0]["choices"][0]["finish_reason"] = Value::Null,
            Fault::ErrorInStream(error) => body[0] = error.clone(),
            _ => {}
        }
    }
    body[0].to_string().into_bytes()
}

/// One event of a stream, with the lines before its data. JSON text has no line breaks of its own, so all of
/// them are framing.
pub(super) fn event(lines: &str, data: &str, faults: &[Fault]) -> String {
    let extras = match faults.contains(&Fault::Comments) {
        true => ": keep-alive\n\nevent: message\nid: 7\nretry: 3000\n",
        false => "",
    };
    let text = format!("{extras}{lines}data: {data}\n\n");
    match faults.contains(&Fault::Crlf) {
        true => text.replace('\n', "\r\n"),
        false => text,
    }
}

pub(super) fn cut_arguments(reply: &ReplyScript, faults: &[Fault]) -> ReplyScript {
    let mut reply = reply.clone();
    for fault in faults {
        if let (Fault::CutArguments(bytes), Some(call)) = (fault, reply.calls.last_mut()) {
            call.arguments.truncate(call.arguments.floor_char_boundary(*bytes));
            reply.finish = Some(FinishReason::Length);
        }
    }
    reply
}

fn spoil_calls(bodies: &mut [Value], fault: &Fault) {
    let mut first_id = None;
    for call in bodies.iter_mut().flat_map(calls) {
        match fault {
            Fault::ReusedIndex if call.contains_key("index") => {
                call.insert("index".into(), 0.into());
            }
            Fault::MissingToolIds => {
                call.shift_remove("id");
            }
            Fault::DuplicateToolIds => {
                if let Some(id) = call.get_mut("id") {
                    *id = first_id.get_or_insert_with(|| id.clone()).clone();
                }
            }
            _ => {}
        }
    }
}

/// The calls in a chunk or a whole body.
fn calls(body: &mut Value) -> impl Iterator<Item = &mut serde_json::Map<String, Value>> {
    let choice = body.pointer_mut("/choices/0").and_then(Value::as_object_mut);
    let holders = choice.into_iter().flat_map(|choice| choice.values_mut());
    let lists = holders.filter_map(|holder| holder.get_mut("tool_calls")?.as_array_mut());
    lists.flatten().filter_map(Value::as_object_mut)
}

fn has_finish(chunk: &Value) -> bool {
    !chunk["choices"][0]["finish_reason"].is_null()
}
