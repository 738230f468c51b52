use super::*;
use serde_json::json;
use std::collections::HashSet;

fn user() -> Value {
    json!({"role": "user", "content": "hi"})
}

fn said() -> Value {
    json!({"role": "assistant", "content": "yes"})
}

fn stored() -> Value {
    json!({"type": "message", "role": "assistant", "status": "completed", "id": "msg_1",
        "phase": "final_answer", "content": [{"type": "output_text", "text": "yes"}]})
}

fn thought() -> Value {
    json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "g"})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "terminal", "arguments": "{}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "ok"})
}

fn tool(name: &str) -> Value {
    json!({"type": "function", "name": name, "description": "d", "strict": false, "parameters": {}})
}

fn talk(input: Value) -> Value {
    json!({"model": "m", "store": false, "include": ["reasoning.encrypted_content"], "input": input})
}

fn with(mut value: Value, key: &str, member: Value) -> Value {
    value[key] = member;
    value
}

/// A conversation with one invalid item.
fn one(item: Value) -> Value {
    talk(json!([user(), item]))
}

fn in_head(key: &str, member: Value) -> Value {
    with(talk(json!([user()])), key, member)
}

fn good() -> Value {
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"});
    let parts = json!([{"type": "input_text", "text": "hi"}, image]);
    let mut body = talk(json!([
        with(user(), "content", parts.clone()),
        thought(),
        call("a"),
        thought(),
        call("b"),
        output("b"),
        with(output("a"), "output", parts),
        thought(),
        thought(),
        stored(),
        user(),
        user(),
        call("a"),
        output("a"),
        said(),
    ]));
    body["stream"] = json!(true);
    body["reasoning"] = json!({"effort": "high", "summary": "auto"});
    body["instructions"] = json!("be good");
    body["max_output_tokens"] = json!(16);
    body["prompt_cache_key"] = json!("pck_1");
    body["tools"] = json!([tool("terminal"), {"type": "web_search"}]);
    body["tool_choice"] = json!("auto");
    body["parallel_tool_calls"] = json!(true);
    body
}

fn broken() -> Vec<(Rule, &'static str, Value)> {
    let part = |part: Value| one(json!({"role": "user", "content": [part]}));
    let tools = |tools: Value| in_head("tools", tools);
    vec![
        (Rule::NotJson, "body", json!([])),
        (Rule::MissingModel, "model", in_head("model", json!(""))),
        (Rule::MissingInput, "input", talk(json!([]))),
        (Rule::MissingInput, "input", talk(json!("hi"))),
        (Rule::UnknownKey, "body.messages", in_head("messages", json!([]))),
        (Rule::UnknownKey, "body.previous_response_id", in_head("previous_response_id", json!("r"))),
        (Rule::InternalKey, "input[1]._kind", one(with(thought(), "_kind", json!("x")))),
        (Rule::StoredResponse, "store", in_head("store", json!(true))),
        (Rule::StoredResponse, "store", in_head("store", Value::Null)),
        (Rule::InvalidContent, "instructions", in_head("instructions", json!(""))),
        (Rule::InvalidInclude, "include", in_head("include", json!(["everything"]))),
        (Rule::InvalidInclude, "include", in_head("include", Value::Null)),
        (Rule::InvalidReasoning, "reasoning", in_head("reasoning", json!({"effort": "ultra"}))),
        (Rule::InvalidReasoning, "reasoning", in_head("reasoning", json!({"enabled": true}))),
        (Rule::InvalidReasoning, "reasoning", in_head("reasoning", Value::Null)),
        (Rule::SmallOutputCap, "max_output_tokens", in_head("max_output_tokens", json!(15))),
        (Rule::LongCacheKey, "prompt_cache_key", in_head("prompt_cache_key", json!("k".repeat(65)))),
        (Rule::LongCacheKey, "prompt_cache_key", in_head("prompt_cache_key", json!(""))),
        (Rule::EmptyTools, "tools", tools(json!([]))),
        (Rule::ToolChoiceWithoutTools, "tool_choice", in_head("tool_choice", json!("auto"))),
        (Rule::InvalidTool, "tools[0]", tools(json!([with(tool("t"), "strict", json!(true))]))),
        (Rule::InvalidTool, "tools[0]", tools(json!([with(tool("t"), "parameters", json!("x"))]))),
        (Rule::InvalidTool, "tools[0]", tools(json!([{"type": "custom"}]))),
        (Rule::UnknownKey, "tools[0].function", tools(json!([{"type": "function", "function": {}}]))),
        (Rule::UnknownKey, "tools[0].name", tools(json!([{"type": "web_search", "name": "x"}]))),
        (Rule::DuplicateTool, "tools[1]", tools(json!([tool("t"), tool("t")]))),
        (Rule::EmptyName, "tools[0].name", tools(json!([tool("")]))),
        (Rule::InvalidName, "tools[0].name", tools(json!([tool("a b")]))),
        (Rule::InvalidItem, "input[1]", one(json!("hi"))),
        (Rule::InvalidItem, "input[1]", one(json!({"type": "item_reference", "id": "x"}))),
        (Rule::InvalidItem, "input[1]", one(json!({"content": "x"}))),
        (Rule::UnknownRole, "input[1].role", one(json!({"role": "tool", "content": "x"}))),
        (Rule::UnknownKey, "input[1].tool_calls", one(with(said(), "tool_calls", json!([])))),
        (Rule::InvalidContent, "input[1].content", one(json!({"role": "user", "content": []}))),
        (Rule::InvalidContent, "input[1].content", one(json!({"role": "assistant", "content": null}))),
        (Rule::InvalidContent, "input[1].content[0]", part(json!("x"))),
        (Rule::InvalidContent, "input[1].content[0]", part(json!({"type": "input_text"}))),
        (
            Rule::InvalidContent,
            "input[1].content[0]",
            part(json!({"type": "input_image", "image_url": {"url": "https://x"}})),
        ),
        (
            Rule::InvalidContent,
            "input[1].content[0]",
            part(json!({"type": "input_image", "image_url": "file:///x"})),
        ),
        (Rule::UnknownKey, "input[1].content[0].x", part(json!({"type": "input_text", "text": "", "x": 1}))),
        (Rule::WrongPart, "input[1].content[0].type", part(json!({"type": "text", "text": "x"}))),
        (Rule::WrongPart, "input[1].content[0].type", part(json!({"type": "output_text", "text": "x"}))),
        (
            Rule::WrongPart,
            "input[1].content[0].type",
            one(with(stored(), "content", json!([{"type": "input_text", "text": "x"}]))),
        ),
        (Rule::MissingCallId, "input[1].call_id", one(call(""))),
        (Rule::MissingCallId, "input[1].call_id", one(output(""))),
        (Rule::LongCallId, "input[1].call_id", one(call(&"c".repeat(65)))),
        (Rule::EmptyName, "input[1].name", one(with(call("a"), "name", json!("")))),
        (Rule::InvalidName, "input[1].name", one(with(call("a"), "name", json!("a.b")))),
        (Rule::InvalidArguments, "input[1].arguments", one(with(call("a"), "arguments", json!("{")))),
        (Rule::InvalidArguments, "input[1].arguments", one(with(call("a"), "arguments", json!({})))),
        (Rule::UnknownKey, "input[1].status", one(with(thought(), "status", Value::Null))),
        (Rule::StaleItemId, "input[1].id", one(with(thought(), "id", json!("rs_1")))),
        (Rule::StaleItemId, "input[1].id", one(with(call("a"), "id", json!("fc_1")))),
        (Rule::StaleItemId, "input[1].id", one(with(stored(), "id", json!("m".repeat(65))))),
        (Rule::StaleItemId, "input[1].id", one(stored())),
        (Rule::UnencryptedReasoning, "input[1]", one(with(thought(), "encrypted_content", Value::Null))),
        (Rule::UnencryptedReasoning, "input[1]", one(with(thought(), "encrypted_content", json!("")))),
        (Rule::InvalidContent, "input[1].summary", one(with(thought(), "summary", Value::Null))),
        (Rule::LoneReasoning, "input[1]", one(thought())),
        (Rule::LoneReasoning, "input[1]", talk(json!([user(), thought(), thought(), user()]))),
        (Rule::LoneReasoning, "input[2]", talk(json!([user(), call("a"), thought(), output("a")]))),
        (Rule::UnknownCallId, "input[1]", one(output("a"))),
        (Rule::AnsweredTwice, "input[3]", talk(json!([user(), call("a"), output("a"), output("a")]))),
        (Rule::DuplicateCallId, "input[2]", talk(json!([user(), call("a"), call("a"), output("a")]))),
        (Rule::UnansweredCall, "input", one(call("a"))),
        (Rule::UnansweredCall, "input[2]", talk(json!([user(), call("a"), user()]))),
        (Rule::UnansweredCall, "input[2]", talk(json!([user(), call("a"), said()]))),
        (
            Rule::UnansweredCall,
            "input[4]",
            talk(json!([user(), call("a"), call("b"), output("a"), call("c")])),
        ),
    ]
}

#[test]
fn valid_requests_are_accepted() {
    assert_eq!(check_responses(&good()), Ok(()));
    let bare = json!({"model": "m", "store": false, "include": [], "input": [user()]});
    assert_eq!(check_responses(&bare), Ok(()));
}

#[test]
fn every_rule_is_enforced_with_its_path() {
    let rows = broken();
    for (rule, at, body) in &rows {
        assert_eq!(check_responses(body), Err(Rejection::new(*rule, *at)), "{body}");
    }
    let covered: HashSet<Rule> = rows.into_iter().map(|(rule, ..)| rule).collect();
    for rule in RULES {
        assert!(covered.contains(rule), "no row for {rule:?}");
    }
}
