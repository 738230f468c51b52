//! The fields in which providers differ, for every effort.

use super::{CUSTOM, EFFORTS, PAIRS, body, endpoint, history, profile};
use hermes_conversation::Message;
use serde_json::{Map, Value};
use std::fmt::Write;

/// The body without its messages and model, and the echo fields of its assistant messages.
fn peculiar(mut body: Value) -> (Map<String, Value>, Vec<Value>) {
    let messages = body["messages"].take();
    let replies = messages.as_array().unwrap().iter().filter(|message| message["role"] == "assistant");
    let echoes = replies.map(|reply| reply["reasoning_content"].clone()).collect();
    let fields = body.as_object().unwrap().clone();
    let fields = fields.into_iter().filter(|(name, _)| !["model", "messages"].contains(&name.as_str()));
    (fields.collect(), echoes)
}

#[test]
fn golden_reasoning_fields_of_every_provider() {
    let mut page = String::new();
    let rows = PAIRS.iter().map(|(provider, model)| (*provider, None, *model));
    let custom = CUSTOM.iter().map(|(address, model)| ("custom", Some(*address), *model));
    for (provider, address, model) in rows.chain(custom) {
        let endpoint = endpoint(provider, address, model);
        let (_, echoes) = peculiar(body(&profile(&endpoint, ""), history()));
        writeln!(page, "{provider} {model} {}", address.unwrap_or_default()).unwrap();
        writeln!(page, "  echo {}", Value::from(echoes)).unwrap();
        for effort in EFFORTS {
            let (fields, _) = peculiar(body(&profile(&endpoint, effort), vec![Message::user("hi")]));
            writeln!(page, "  {effort:8}{}", Value::from(fields)).unwrap();
        }
    }
    insta::assert_snapshot!(page);
}

#[test]
fn golden_body_of_a_provider_that_wants_its_reasoning_back() {
    let endpoint = endpoint("deepseek", None, "deepseek-v4-pro");
    let messages = history().into_iter().take(3).collect();
    insta::assert_snapshot!(body(&profile(&endpoint, "high"), messages), @r#"{"model":"deepseek-v4-pro","thinking":{"type":"enabled"},"reasoning_effort":"high","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"},{"role":"assistant","content":null,"reasoning_content":" ","tool_calls":[{"id":"a","type":"function","function":{"name":"terminal","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"{}"}]}"#);
}
