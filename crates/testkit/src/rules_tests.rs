use super::*;
use std::collections::HashSet;

fn user() -> Value {
    json!({"role": "user", "content": "hi"})
}

fn said() -> Value {
    json!({"role": "assistant", "content": "yes"})
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "terminal", "arguments": "{\"a\":1}"}})
}

fn calling(ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "ok"})
}

fn request(messages: Value) -> Value {
    json!({"model": "m", "messages": messages})
}

fn tool(name: &str) -> Value {
    let parameters = json!({"type": "object"});
    json!({"type": "function", "function": {"name": name, "description": "d", "parameters": parameters}})
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
    let system = json!({"role": "system", "content": "be good"});
    let parts = json!({"role": "user", "content": [{"type": "text", "text": "hi"}]});
    let messages = json!([
        system,
        parts,
        calling(&["a", "b"]),
        result("b"),
        result("a"),
        calling(&["a"]),
        result("a"),
        user(),
        said(),
        user(),
    ]);
    let mut body = request(messages);
    body["tools"] = json!([tool("terminal"), tool("read_file")]);
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    body["max_tokens"] = json!(100);
    body
}

#[test]
fn valid_request_is_accepted() {
    assert_eq!(check(&good()), Ok(()));
    assert_eq!(check(&request(json!([user()]))), Ok(()));
    let developer = json!({"role": "developer", "content": "be good"});
    assert_eq!(check(&request(json!([developer, user()]))), Ok(()));
    let echoed = with(said(), "/reasoning_content", json!(" "));
    for model in ["deepseek-v4", "kimi-k2.5"] {
        let body = with(request(json!([user(), echoed, user()])), "/model", json!(model));
        assert_eq!(check(&body), Ok(()), "{model}");
    }
}

/// Bodies that each violate one rule.
fn broken() -> Vec<(Rule, Value)> {
    let talk = |messages: Value| request(messages);
    let tools = |tools: Value| with(request(json!([user()])), "/tools", tools);
    let one = |message: Value| talk(json!([user(), message, result("a")]));
    let in_call = |pointer: &str, value: Value| one(with(calling(&["a"]), pointer, value));
    let echoed = |text: &str| with(said(), "/reasoning_content", json!(text));
    let of = |model: &str, messages: Value| with(request(messages), "/model", json!(model));
    let name = "/tool_calls/0/function/name";
    let arguments = "/tool_calls/0/function/arguments";
    vec![
        (Rule::NotJson, json!([])),
        (Rule::MissingModel, json!({"messages": [user()]})),
        (Rule::MissingModel, json!({"model": "", "messages": [user()]})),
        (Rule::MissingMessages, json!({"model": "m"})),
        (Rule::EmptyMessages, talk(json!([]))),
        (Rule::StreamOptionsWithoutStream, with(talk(json!([user()])), "/stream_options", json!({}))),
        (Rule::TwoOutputCaps, with(good(), "/max_completion_tokens", json!(1))),
        (Rule::EmptyTools, tools(json!([]))),
        (Rule::EmptyTools, tools(json!(null))),
        (Rule::ToolChoiceWithoutTools, with(talk(json!([user()])), "/tool_choice", json!("auto"))),
        (Rule::InvalidTool, tools(json!([with(tool("t"), "/type", json!("x"))]))),
        (Rule::InvalidTool, tools(json!([{"type": "function", "function": {"parameters": {}}}]))),
        (Rule::InvalidTool, tools(json!([with(tool("t"), "/function/parameters", json!("x"))]))),
        (Rule::DuplicateTool, tools(json!([tool("t"), tool("t")]))),
        (Rule::EmptyName, tools(json!([tool("")]))),
        (Rule::EmptyName, in_call(name, json!(""))),
        (Rule::InvalidName, tools(json!([tool("a b")]))),
        (Rule::InvalidName, tools(json!([tool(&"a".repeat(65))]))),
        (Rule::InvalidName, in_call(name, json!("naïve"))),
        (Rule::InvalidMessage, talk(json!(["hi"]))),
        (Rule::UnknownRole, talk(json!([{"role": "function", "content": "x"}]))),
        (Rule::UnknownRole, talk(json!([{"content": "x"}]))),
        (Rule::InternalKey, talk(json!([with(user(), "/_db_persisted", json!(true))]))),
        (Rule::InternalKey, in_call("/tool_calls/0/_note", json!(1))),
        (Rule::UnknownKey, talk(json!([with(user(), "/timestamp", json!(1))]))),
        (Rule::UnknownKey, in_call("/tool_calls/0/call_id", json!("a"))),
        (Rule::UnknownKey, in_call("/tool_calls/0/function/x", json!("a"))),
        (Rule::MisplacedKey, talk(json!([with(user(), "/tool_calls", json!([call("a")]))]))),
        (Rule::MisplacedKey, talk(json!([with(user(), "/tool_call_id", json!("a"))]))),
        (Rule::NullContent, talk(json!([{"role": "user", "content": null}]))),
        (Rule::NullContent, talk(json!([user(), {"role": "assistant"}]))),
        (Rule::NullContent, talk(json!([user(), calling(&["a"]), {"role": "tool", "tool_call_id": "a"}]))),
        (Rule::InvalidContent, talk(json!([{"role": "user", "content": []}]))),
        (Rule::InvalidContent, talk(json!([{"role": "user", "content": ["x"]}]))),
        (Rule::InvalidCalls, talk(json!([user(), calling(&[])]))),
        (Rule::InvalidCalls, in_call("/tool_calls/0/type", json!("x"))),
        (Rule::MissingCallId, in_call("/tool_calls/0/id", json!(""))),
        (Rule::MissingCallId, talk(json!([user(), calling(&["a"]), {"role": "tool", "content": "x"}]))),
        (Rule::DuplicateCallId, talk(json!([user(), calling(&["a", "a"]), result("a")]))),
        (Rule::InvalidArguments, in_call(arguments, json!("{\"a\":"))),
        (Rule::InvalidArguments, in_call(arguments, json!(""))),
        (Rule::InvalidArguments, in_call(arguments, json!({"a": 1}))),
        (Rule::SystemNotFirst, talk(json!([user(), {"role": "system", "content": "x"}]))),
        (Rule::FirstNotUser, talk(json!([said()]))),
        (Rule::FirstNotUser, talk(json!([{"role": "system", "content": "x"}, said()]))),
        (Rule::FirstNotUser, talk(json!([{"role": "system", "content": "x"}]))),
        (Rule::ConsecutiveUsers, talk(json!([user(), user()]))),
        (Rule::ConsecutiveAssistants, talk(json!([user(), said(), said()]))),
        (Rule::MisplacedResult, talk(json!([user(), result("a")]))),
        (Rule::MisplacedResult, talk(json!([user(), calling(&["a"]), result("a"), user(), result("a")]))),
        (Rule::UnknownCallId, talk(json!([user(), calling(&["a"]), result("z")]))),
        (Rule::AnsweredTwice, talk(json!([user(), calling(&["a", "b"]), result("a"), result("a")]))),
        (Rule::UnansweredCall, talk(json!([user(), calling(&["a"])]))),
        (Rule::UnansweredCall, talk(json!([user(), calling(&["a", "b"]), result("a"), user()]))),
        (Rule::UnansweredCall, talk(json!([user(), calling(&["a"]), said()]))),
        (Rule::UnwantedEcho, talk(json!([user(), echoed("hm"), user()]))),
        (Rule::UnwantedEcho, talk(json!([user(), echoed(" "), user()]))),
        (Rule::MissingEcho, of("deepseek-v4", json!([user(), said(), user()]))),
        (Rule::MissingEcho, of("xiaomi/mimo-v2", json!([user(), echoed(""), user()]))),
        (Rule::MissingEcho, of("kimi-k2.5", json!([user(), echoed("hm"), user(), said(), user()]))),
    ]
}

#[test]
fn every_rule_is_enforced() {
    let rows = broken();
    for (rule, body) in &rows {
        let found = check(body).map_err(|rejection| rejection.rule.name());
        assert_eq!(found, Err(rule.name()), "{body}");
    }
    let anthropic = super::anthropic::tests::broken().into_iter().map(|(rule, _, _)| rule);
    let covered: HashSet<Rule> = rows.into_iter().map(|(rule, _)| rule).chain(anthropic).collect();
    for rule in Rule::ALL.iter().filter(|rule| !responses::RULES.contains(rule)) {
        assert!(covered.contains(rule), "no row for {rule:?}");
    }
}

#[test]
fn error_body_contains_rule_and_path() {
    let rejection = check(&request(json!([user(), user()]))).unwrap_err();
    assert_eq!(
        rejection.body(),
        json!({"error": {
            "message": "consecutive_users at messages[1]: two user messages must not follow each other",
            "type": "invalid_request_error",
            "param": "messages[1]",
            "code": "consecutive_users",
        }})
    );
}
