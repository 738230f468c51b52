//! Rules about the fields of the request.

use super::{Rejection, Rule};
use serde_json::Value;

pub(super) fn check(body: &Value) -> Result<(), Rejection> {
    let broken = |rule, at: &str| Err(Rejection::new(rule, at));
    if !body.is_object() {
        return broken(Rule::NotJson, "body");
    }
    if body["model"].as_str().is_none_or(str::is_empty) {
        return broken(Rule::MissingModel, "model");
    }
    match body["messages"].as_array() {
        None => return broken(Rule::MissingMessages, "messages"),
        Some(messages) if messages.is_empty() => return broken(Rule::EmptyMessages, "messages"),
        Some(_) => {}
    }
    if !body["stream_options"].is_null() && body["stream"] != true {
        return broken(Rule::StreamOptionsWithoutStream, "stream_options");
    }
    if !body["max_tokens"].is_null() && !body["max_completion_tokens"].is_null() {
        return broken(Rule::TwoOutputCaps, "max_tokens");
    }
    Ok(())
}
