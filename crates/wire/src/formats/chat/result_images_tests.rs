use crate::{ApiMode, CacheTtl, Encoder, ModelRequest, RequestSettings, encode};
use hermes_conversation::{
    AssistantMessage, CallId, Content, Message, RawJson, ToolCall, ToolMessage, UserMessage,
};
use std::sync::Arc;

fn request(messages: &[Arc<Message>], settings: RequestSettings) -> ModelRequest {
    let (model, system, tools) = ("m".into(), "".into(), Arc::from([]));
    ModelRequest { model, system, tools, messages: Arc::new(messages.to_vec()), settings }
}

fn items(messages: &[Arc<Message>]) -> String {
    let settings = RequestSettings { stream: false, ..RequestSettings::default() };
    let encoded = encode(ApiMode::ChatCompletions, &request(messages, settings));
    let body = String::from_utf8(encoded.body.to_vec()).unwrap();
    body.split_once(r#""messages":"#).unwrap().1.to_owned()
}

fn result(id: &str, parts: &str) -> Message {
    let content = Content::Parts(RawJson::parse(parts).unwrap());
    Message::Tool(ToolMessage { content, ..ToolMessage::new(CallId::new(id), "look", "") })
}

/// A reply with two calls, the results of both with an image, and a message.
fn talk(last: Message) -> Vec<Arc<Message>> {
    let call = |id| ToolCall::new(CallId::new(id), "look", "{}");
    let calls = vec![call("a"), call("b")];
    let image = r#"[{"type":"text","text":"one"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]"#;
    let source = r#"[{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"BB=="}},{"type":"video"}]"#;
    let messages = [
        Message::user("hi"),
        Message::Assistant(AssistantMessage { calls, ..Default::default() }),
        result("a", image),
        result("b", source),
        last,
    ];
    messages.into_iter().map(Arc::new).collect()
}

#[test]
fn golden_images_of_results_follow_the_results() {
    insta::assert_snapshot!(items(&talk(Message::assistant("I see."))), @r#"[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"one\n[The image is in the next message.]"},{"role":"tool","tool_call_id":"b","content":"[The image is in the next message.]\n[A part of type `video` cannot be sent to this model in a result.]"},{"role":"user","content":[{"type":"text","text":"[Images of the tool results above]"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},{"type":"image_url","image_url":{"url":"data:image/gif;base64,BB=="}}]},{"role":"assistant","content":"I see."}]}"#);
}

#[test]
fn golden_images_of_results_join_the_next_message_of_the_user() {
    insta::assert_snapshot!(items(&talk(Message::user("and?"))), @r#"[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"one\n[The image is in the next message.]"},{"role":"tool","tool_call_id":"b","content":"[The image is in the next message.]\n[A part of type `video` cannot be sent to this model in a result.]"},{"role":"user","content":[{"type":"text","text":"[Images of the tool results above]"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},{"type":"image_url","image_url":{"url":"data:image/gif;base64,BB=="}},{"type":"text","text":"and?"}]}]}"#);
    let image = r#"[{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}]"#;
    let content = Content::Parts(RawJson::parse(image).unwrap());
    let with_image = talk(Message::User(UserMessage { content, api_content: None }));
    assert!(
        items(&with_image)
            .contains(r#"BB=="}},{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}]"#)
    );
}

#[test]
fn incremental_encoding_gives_the_same_bytes_and_requests_continue_each_other() {
    let all = talk(Message::assistant("I see."));
    for cache in [None, Some(CacheTtl::FiveMinutes)] {
        let settings = RequestSettings { cache, ..RequestSettings::default() };
        let mut encoder = Encoder::new(ApiMode::ChatCompletions);
        let mut before = Vec::new();
        for end in 1..=all.len() {
            let request = request(&all[..end], settings.clone());
            let remembered = encoder.encode(&request);
            let fresh = encode(ApiMode::ChatCompletions, &request);
            assert_eq!((&remembered.body, &remembered.segments), (&fresh.body, &fresh.segments), "{end}");
            serde_json::from_slice::<serde_json::Value>(&fresh.body).unwrap();
            // The results of one reply are sent together.
            if end != 3 {
                assert!(remembered.segments.starts_with(&before), "{end}");
                before = remembered.segments;
            }
        }
    }
}
