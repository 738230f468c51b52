use super::*;
use serde_json::json;

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn assistant(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "terminal", "input": {"a": 1}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

fn thinking() -> Value {
    json!({"type": "thinking", "thinking": "hm", "signature": "s"})
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": "d", "input_schema": {"type": "object", "properties": {}}})
}

fn talk(messages: Value) -> Value {
    json!({"model": "m", "max_tokens": 9000, "messages": messages})
}

fn hi() -> Value {
    user(json!("hi"))
}

/// `value` with the member or element at `pointer` replaced or added.
fn with(mut value: Value, pointer: &str, member: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = member,
        parent => parent[key] = member,
    }
    value
}

fn good() -> Value {
    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}});
    let shot = json!({"type": "tool_result", "tool_use_id": "b", "content": [text("see"), image]});
    let mut body = talk(json!([
        user(json!([text("hi"), image])),
        assistant(
            json!([thinking(), {"type": "redacted_thinking", "data": "x"}, text("so"), call("a"), call("b")])
        ),
        user(json!([shot, with(result("a"), "/cache_control", mark.clone()), text("and")])),
        assistant(json!([thinking(), call("c")])),
        user(json!([with(result("c"), "/cache_control", json!({"type": "ephemeral"}))])),
    ]));
    body["stream"] = json!(true);
    body["thinking"] = json!({"type": "enabled", "budget_tokens": 4000});
    body["tools"] = json!([tool("terminal"), tool("todo")]);
    body["tool_choice"] = json!({"type": "auto"});
    body["system"] = json!([with(text("be good"), "/cache_control", mark)]);
    body
}

#[test]
fn valid_request_is_accepted() {
    assert_eq!(check_anthropic(&good()), Ok(()));
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let body = with(talk(json!([hi()])), "/thinking", adaptive);
    assert_eq!(check_anthropic(&with(body, "/output_config", json!({"effort": "max"}))), Ok(()));
    // Without a budget, thinking is not required.
    let calls = json!([hi(), assistant(json!([call("a")])), user(json!([result("a")]))]);
    assert_eq!(check_anthropic(&talk(calls)), Ok(()));
}

/// Bodies that each violate one rule, with the path.
pub(in crate::rules) fn broken() -> Vec<(Rule, &'static str, Value)> {
    let change = |pointer: &str, value: Value| with(good(), pointer, value);
    let block = |block: Value| talk(json!([user(json!([block]))]));
    let said = |block: Value| talk(json!([hi(), assistant(json!([block, text("x")])), hi()]));
    let calling = |block: Value| talk(json!([hi(), assistant(json!([block])), user(json!([result("a")]))]));
    let answering =
        |blocks: Value| talk(json!([hi(), assistant(json!([call("a"), call("b")])), user(blocks)]));
    let marked = |block: Value| with(block, "/cache_control", json!({"type": "ephemeral"}));
    let source = |kind: &str, source: Value| block(json!({"type": kind, "source": source}));
    let first = "/messages/1/content/0";
    let long = json!({"type": "ephemeral", "ttl": "1h"});
    let without = |key: &str| {
        let mut body = good();
        body.as_object_mut().unwrap().remove(key);
        body
    };
    vec![
        (Rule::NotJson, "body", json!([])),
        (Rule::UnknownKey, "body.top_logprobs", change("/top_logprobs", json!(1))),
        (Rule::UnknownKey, "messages[0].name", change("/messages/0/name", json!("x"))),
        (Rule::UnknownKey, "messages[0].content[0]._x", change("/messages/0/content/0/_x", json!(1))),
        (Rule::UnknownKey, "tools[0].type", change("/tools/0/type", json!("function"))),
        (Rule::UnknownKey, "messages[1].content[3].extra", change("/messages/1/content/3/extra", json!(1))),
        (Rule::MissingModel, "model", without("model")),
        (Rule::MissingMaxTokens, "max_tokens", without("max_tokens")),
        (Rule::MissingMaxTokens, "max_tokens", change("/max_tokens", json!(0))),
        (Rule::MissingMessages, "messages", without("messages")),
        (Rule::EmptyMessages, "messages", talk(json!([]))),
        (Rule::InvalidSystem, "system", change("/system", json!([]))),
        (Rule::InvalidSystem, "system[0]", change("/system/0", json!({"type": "image"}))),
        (Rule::EmptyText, "system[0].text", change("/system/0", text(" "))),
        (Rule::InvalidThinking, "thinking", change("/thinking", json!({"type": "enabled"}))),
        (Rule::InvalidThinking, "thinking", change("/thinking/budget_tokens", json!(9000))),
        (Rule::InvalidThinking, "thinking", change("/thinking", json!({"type": "auto"}))),
        (Rule::InvalidEffort, "output_config.effort", change("/output_config", json!({"effort": "minimal"}))),
        (Rule::EmptyTools, "tools", change("/tools", json!([]))),
        (Rule::ToolChoiceWithoutTools, "tool_choice", without("tools")),
        (Rule::InvalidToolChoice, "tool_choice", change("/tool_choice", json!("auto"))),
        (
            Rule::InvalidToolChoice,
            "tool_choice",
            change("/tool_choice", json!({"type": "tool", "name": "z"})),
        ),
        (Rule::InvalidTool, "tools[0]", change("/tools/0", json!("x"))),
        (Rule::DuplicateTool, "tools[1]", change("/tools/1", tool("terminal"))),
        (Rule::EmptyName, "tools[0].name", change("/tools/0/name", json!(""))),
        (Rule::InvalidName, "tools[0].name", change("/tools/0/name", json!("a.b"))),
        (Rule::InvalidName, "messages[1].content[0].name", calling(with(call("a"), "/name", json!("a b")))),
        (Rule::InvalidSchema, "tools[0].input_schema", change("/tools/0/input_schema", json!({}))),
        (Rule::InvalidSchema, "tools[0].input_schema", change("/tools/0/input_schema/anyOf", json!([]))),
        (Rule::InvalidMessage, "messages[0]", talk(json!(["hi"]))),
        (Rule::UnknownRole, "messages[0].role", talk(json!([{"role": "tool", "content": "x"}]))),
        (Rule::InvalidContent, "messages[0].content", talk(json!([user(json!([]))]))),
        (Rule::InvalidContent, "messages[0].content", talk(json!([user(json!(null))]))),
        (Rule::EmptyText, "messages[0].content", talk(json!([user(json!(""))]))),
        (Rule::EmptyText, "messages[0].content[0].text", block(text("\n"))),
        (Rule::UnknownBlock, "messages[0].content[0]", block(json!({"type": "image_url"}))),
        (Rule::UnknownBlock, "messages[0].content[0]", block(call("a"))),
        (Rule::UnknownBlock, "messages[1].content[0]", said(result("a"))),
        (
            Rule::InvalidSource,
            "messages[0].content[0].source",
            source("image", json!({"type": "base64", "media_type": "image/svg+xml", "data": "A"})),
        ),
        (
            Rule::InvalidSource,
            "messages[0].content[0].source",
            source("image", json!({"type": "url", "url": "file:///x"})),
        ),
        (
            Rule::InvalidSource,
            "messages[0].content[0].source",
            source("document", json!({"type": "base64", "media_type": "image/png", "data": "A"})),
        ),
        (Rule::MissingCallId, "messages[1].content[0].id", calling(call(""))),
        (Rule::InvalidCallId, "messages[1].content[0].id", calling(call("a.b"))),
        (Rule::InvalidCallId, "messages[2].content[0].tool_use_id", answering(json!([result("a:")]))),
        (Rule::InvalidInput, "messages[1].content[0].input", calling(with(call("a"), "/input", json!("{}")))),
        (Rule::DuplicateCallId, "messages[1].content[4].id", change("/messages/1/content/4/id", json!("a"))),
        (
            Rule::UnsignedThinking,
            "messages[1].content[0].signature",
            said(json!({"type": "thinking", "thinking": "x"})),
        ),
        (
            Rule::UnsignedThinking,
            "messages[1].content[0].data",
            said(json!({"type": "redacted_thinking", "data": ""})),
        ),
        (
            Rule::ThinkingLast,
            "messages[1].content[0]",
            talk(json!([hi(), assistant(json!([thinking()])), hi()])),
        ),
        (Rule::FirstNotUser, "messages[0]", talk(json!([assistant(json!("x")), hi()]))),
        (Rule::ConsecutiveUsers, "messages[1]", talk(json!([hi(), hi()]))),
        (
            Rule::ConsecutiveAssistants,
            "messages[2]",
            talk(json!([hi(), assistant(json!("x")), assistant(json!("y"))])),
        ),
        (Rule::LastNotUser, "messages", talk(json!([hi(), assistant(json!("x"))]))),
        (Rule::UnansweredCall, "messages[2]", answering(json!([result("a")]))),
        (Rule::UnansweredCall, "messages[2]", answering(json!("later"))),
        (
            Rule::ResultNotFirst,
            "messages[2].content[2]",
            answering(json!([result("a"), text("x"), result("b")])),
        ),
        (Rule::AnsweredTwice, "messages[2].content[1]", answering(json!([result("a"), result("a")]))),
        (Rule::UnknownCallId, "messages[2].content[0]", answering(json!([result("z")]))),
        (Rule::UnknownCallId, "messages[0].content[0]", block(result("a"))),
        (Rule::ThinkingMissing, "messages[3]", change("/messages/3", assistant(json!([call("c")])))),
        (
            Rule::InvalidMark,
            "messages[0].content[0].cache_control",
            block(with(text("x"), "/cache_control", json!({"type": "ephemeral", "ttl": "2h"}))),
        ),
        (
            Rule::MisplacedMark,
            "messages[1].content[0].cache_control",
            with(good(), first, marked(thinking())),
        ),
        (
            Rule::TooManyMarks,
            "messages[0].content[4].cache_control",
            talk(json!([user(json!([
                marked(text("1")),
                marked(text("2")),
                marked(text("3")),
                marked(text("4")),
                marked(text("5"))
            ]))])),
        ),
        (
            Rule::MarkOrder,
            "messages[0].content[1].cache_control",
            talk(json!([user(json!([marked(text("1")), with(text("2"), "/cache_control", long)]))])),
        ),
    ]
}

#[test]
fn every_rule_is_enforced_with_its_path() {
    for (rule, at, body) in broken() {
        let found = check_anthropic(&body).map_err(|rejection| (rejection.rule, rejection.at));
        assert_eq!(found, Err((rule, at.to_owned())), "{body}");
    }
}

#[test]
fn error_body_has_anthropic_format() {
    let rejection = check_anthropic(&talk(json!([hi(), hi()]))).unwrap_err();
    assert_eq!(
        rejection.anthropic_body(),
        json!({"type": "error", "error": {
            "type": "invalid_request_error",
            "message": "consecutive_users at messages[1]: two user messages must not follow each other",
        }})
    );
}
