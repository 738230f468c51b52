//! Tool calls in the Messages format.

use hermes_conversation::{Message, ToolCall, parse_lenient};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// The calls of one unit and the ids under which they are sent. A call with an id that was used before in the
/// unit is omitted.
pub(super) struct Calls<'a>(Vec<(&'a ToolCall, String)>);

impl<'a> Calls<'a> {
    pub(super) fn of(unit: &'a [Arc<Message>]) -> Self {
        let mut calls: Vec<(&ToolCall, String)> = Vec::new();
        for call in unit.iter().flat_map(|message| message.calls()) {
            if calls.iter().all(|(seen, _)| seen.id != call.id) {
                let id = free_id(call.id.as_str(), |id| calls.iter().any(|(_, taken)| taken == id));
                calls.push((call, id));
            }
        }
        Self(calls)
    }

    /// The id under which a call is sent; `None` if it is omitted.
    pub(super) fn id_of(&self, call: &ToolCall) -> Option<&str> {
        self.0.iter().find(|(known, _)| std::ptr::eq(*known, call)).map(|(_, id)| id.as_str())
    }

    /// The id of the call that a result refers to, possibly by its second id.
    pub(super) fn answered_by(&self, call_id: &str) -> Option<&str> {
        let named = |call: &ToolCall| call.id.as_str() == call_id || call.call_id.as_deref() == Some(call_id);
        self.0.iter().find(|(call, _)| named(call)).map(|(_, id)| id.as_str())
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, id)| id.as_str())
    }
}

/// The id in allowed characters, and different from those already used.
fn free_id(id: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut spelled = spelled(id);
    if spelled.is_empty() {
        spelled.push_str("call");
    }
    if !is_taken(&spelled) {
        return spelled;
    }
    let numbered = (2u64..).map(|number| format!("{spelled}_{number}")).find(|id| !is_taken(id));
    numbered.unwrap_or(spelled)
}

fn spelled(text: &str) -> String {
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    text.chars().map(|character| if allowed(character) { character } else { '_' }).collect()
}

/// Arguments as an object: byte for byte if they are one that the server can parse, else empty.
pub(super) fn input(arguments: &str) -> Cow<'_, str> {
    if serde_json::from_str::<Map<String, Value>>(arguments).is_ok() {
        return Cow::Borrowed(arguments.trim());
    }
    match parse_lenient::<Map<String, Value>>(arguments) {
        Ok(mended) => Cow::Owned(Value::Object(mended).to_string()),
        Err(_) => Cow::Borrowed("{}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::{AssistantMessage, CallId};

    #[test]
    fn ids_are_spelled_the_same_way_for_call_and_result() {
        let ids = ["a.b", "a:b", "a_b", "", "toolu_01", "a.b", "é"];
        let calls = ids.iter().map(|id| ToolCall::new(CallId::new(*id), "t", "{}")).collect();
        let unit = [Arc::new(Message::Assistant(AssistantMessage { calls, ..Default::default() }))];
        let calls = Calls::of(&unit);
        assert_eq!(calls.ids().collect::<Vec<_>>(), ["a_b", "a_b_2", "a_b_3", "call", "toolu_01", "_"]);
        assert_eq!(calls.answered_by("a:b"), Some("a_b_2"));
        assert_eq!(calls.id_of(&unit[0].calls()[2]), Some("a_b_3"));
        assert_eq!(calls.id_of(&unit[0].calls()[5]), None);
        assert_eq!(calls.answered_by("z"), None);
    }

    #[test]
    fn arguments_become_an_object() {
        for (given, want) in [
            (r#"{ "a" : 1.0 }"#, r#"{ "a" : 1.0 }"#),
            (" {} ", "{}"),
            ("", "{}"),
            ("null", "{}"),
            ("[1]", "{}"),
            (r#"{"a":"#, "{}"),
            (r#"{"a":"\ud800"}"#, "{\"a\":\"\u{fffd}\"}"),
        ] {
            assert_eq!(input(given), want, "{given}");
        }
    }
}
