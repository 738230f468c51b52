//! The content of a conversation survives its encoding in every format.

use hermes_conversation::{Content, History, Message};
use hermes_testkit::{issuer, transcript};
use hermes_wire::{ApiMode, ModelRequest, RequestSettings, encode};
use serde_json::{Value, json};
use std::sync::Arc;

/// The texts and calls of a conversation, by kind and in order.
#[derive(Debug, Default, PartialEq)]
struct Texts {
    asked: Vec<String>,
    answered: Vec<String>,
    calls: Vec<(String, Value)>,
    results: Vec<String>,
    images: usize,
}

impl Texts {
    fn add(&mut self, side: fn(&mut Self) -> &mut Vec<String>, text: &str) {
        // Blank text has no content, and some formats reject it.
        if !text.trim().is_empty() {
            side(self).push(text.to_owned());
        }
    }
}

fn asked(texts: &mut Texts) -> &mut Vec<String> {
    &mut texts.asked
}

fn answered(texts: &mut Texts) -> &mut Vec<String> {
    &mut texts.answered
}

fn results(texts: &mut Texts) -> &mut Vec<String> {
    &mut texts.results
}

/// Parts of any format.
fn parts(texts: &mut Texts, side: fn(&mut Texts) -> &mut Vec<String>, content: &Value) {
    match content {
        Value::String(text) => texts.add(side, text),
        Value::Array(items) => {
            for item in items {
                match item["type"].as_str().unwrap_or_default() {
                    "text" | "input_text" | "output_text" => {
                        texts.add(side, item["text"].as_str().unwrap_or_default());
                    }
                    "image_url" | "input_image" | "image" => texts.images += 1,
                    "tool_use" => {
                        let name = item["name"].as_str().unwrap().to_owned();
                        texts.calls.push((name, item["input"].clone()));
                    }
                    "tool_result" => parts(texts, results, &item["content"]),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn texts_of_history(history: &History) -> Texts {
    let mut texts = Texts::default();
    let content = |content: &Content, sent: &Option<String>| match (sent, content) {
        (Some(sent), _) => Value::from(sent.clone()),
        (None, Content::Text(text)) => Value::from(text.clone()),
        (None, Content::Parts(parts)) => serde_json::from_str(parts.as_str()).unwrap(),
    };
    for message in history.messages() {
        match message.as_ref() {
            Message::User(user) => parts(&mut texts, asked, &content(&user.content, &user.api_content)),
            Message::Assistant(reply) => {
                texts.add(answered, &reply.text);
                for call in &reply.calls {
                    let arguments = serde_json::from_str(&call.arguments).unwrap();
                    texts.calls.push((call.name.clone(), arguments));
                }
            }
            Message::Tool(tool) => parts(&mut texts, results, &content(&tool.content, &tool.api_content)),
        }
    }
    texts
}

fn written(mode: ApiMode, body: &Value) -> Texts {
    let mut texts = Texts::default();
    let items = body["messages"].as_array().or(body["input"].as_array()).unwrap();
    for item in items {
        let arguments = |text: &Value| serde_json::from_str(text.as_str().unwrap()).unwrap();
        match (item["role"].as_str(), item["type"].as_str()) {
            (Some("user"), _) => parts(&mut texts, asked, &item["content"]),
            (Some("assistant"), _) => parts(&mut texts, answered, &item["content"]),
            (Some("tool"), _) => parts(&mut texts, results, &item["content"]),
            (None, Some("function_call")) => {
                texts.calls.push((item["name"].as_str().unwrap().to_owned(), arguments(&item["arguments"])));
            }
            (None, Some("function_call_output")) => parts(&mut texts, results, &item["output"]),
            _ => {}
        }
        for call in item["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let name = function["name"].as_str().unwrap().to_owned();
            texts.calls.push((name, arguments(&function["arguments"])));
        }
    }
    assert!(mode != ApiMode::CodexResponses || body.get("instructions").is_some());
    texts
}

/// Returns true if `all` contains every element of `some`, in order. Formats that reject empty messages insert
/// placeholders, and several texts may be in one.
fn has_in_order(all: &[String], some: &[String]) -> bool {
    let mut rest = all.iter().map(String::as_str);
    let mut current = "";
    some.iter().all(|wanted| {
        loop {
            if let Some(at) = current.find(wanted.as_str()) {
                current = &current[at + wanted.len()..];
                return true;
            }
            match rest.next() {
                Some(next) => current = next,
                None => return false,
            }
        }
    })
}

#[test]
fn every_format_keeps_texts_and_calls() {
    let count = if cfg!(debug_assertions) { 1_500 } else { 20_000 };
    for seed in 0..count {
        let mut history = transcript(seed);
        if !matches!(history.last(), Some(Message::User(_) | Message::Tool(_))) {
            history.push(Message::user("Go on."));
        }
        let want = texts_of_history(&history);
        for mode in [ApiMode::ChatCompletions, ApiMode::AnthropicMessages, ApiMode::CodexResponses] {
            let request = ModelRequest {
                model: "m".into(),
                system: "Be brief.".into(),
                tools: Arc::from([]),
                messages: history.shared(),
                settings: RequestSettings {
                    issuer: Some(issuer(seed as usize)),
                    ..RequestSettings::default()
                },
            };
            let body: Value = serde_json::from_slice(&encode(mode, &request).body).unwrap();
            let got = written(mode, &body);
            let context = || format!("seed {seed}, {mode:?}\nwant {want:#?}\ngot {got:#?}");
            assert!(has_in_order(&got.asked, &want.asked), "asked: {}", context());
            assert!(has_in_order(&got.answered, &want.answered), "answered: {}", context());
            assert!(has_in_order(&got.results, &want.results), "results: {}", context());
            let names = |texts: &Texts| texts.calls.iter().map(|call| call.0.clone()).collect::<Vec<_>>();
            assert_eq!(names(&got), names(&want), "{}", context());
            for (written, said) in got.calls.iter().zip(&want.calls) {
                // Arguments that are not an object cannot be represented in one of the formats.
                let said = if said.1.is_object() || mode != ApiMode::AnthropicMessages {
                    &said.1
                } else {
                    &json!({})
                };
                assert_eq!(&written.1, said, "{}", context());
            }
            assert_eq!(got.images, want.images, "{}", context());
        }
    }
}
