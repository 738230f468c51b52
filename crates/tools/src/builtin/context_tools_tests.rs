use super::*;
use crate::record_reader::RecordHit;
use crate::testing::Bench;
use crate::{ToolContext, ToolSetup};
use hermes_conversation::{AssistantMessage, BoxFuture, CallId, Node, ToolCall};
use std::sync::Arc;

/// Messages with the ids 10, 20, 30 ...
struct Past(Vec<Message>);

impl RecordReader for Past {
    fn summaries(&self) -> BoxFuture<'_, Result<Vec<Node>, String>> {
        let node = |number, first, last, level, children| Node {
            number,
            level,
            children,
            first: MessageId(first),
            last: MessageId(last),
            messages: 2,
            text: "word ".repeat(100),
        };
        Box::pin(async move { Ok(vec![node(1, 10, 20, 0, vec![]), node(2, 10, 40, 1, vec![1])]) })
    }

    fn messages(
        &self,
        first: MessageId,
        last: MessageId,
        after: Option<MessageId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RecordMessage>, String>> {
        let all = self.0.iter().enumerate().map(|(place, message)| RecordMessage {
            id: MessageId(place as i64 * 10 + 10),
            message: message.clone(),
        });
        let wanted =
            all.filter(|one| one.id >= first && one.id <= last && after.is_none_or(|id| one.id > id));
        let found = wanted.take(limit).collect();
        Box::pin(async move { Ok(found) })
    }

    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<RecordHit>, String>> {
        let all = self.0.iter().enumerate().filter(|(_, message)| message.text().contains(query));
        let hits = all.take(limit).map(|(place, message)| RecordHit {
            id: MessageId(place as i64 * 10 + 10),
            role: message.role().to_owned(),
            snippet: query.to_owned(),
        });
        let hits = hits.collect();
        Box::pin(async move { Ok(hits) })
    }
}

fn bench(messages: Vec<Message>) -> Bench {
    let mut bench = Bench::new();
    let setup = Bench::setup(&bench.root());
    bench.cx = ToolContext::new(ToolSetup { record: Some(Arc::new(Past(messages))), ..setup });
    bench.registry = bench.registry.with_context_tools();
    bench
}

/// Reads everything from an id on, page by page, as a model would.
async fn read_all(bench: &Bench, mut arguments: Value) -> Vec<(i64, String)> {
    let mut read: Vec<(i64, String)> = Vec::new();
    for _ in 0..10_000 {
        let page = bench.call("context_expand", &arguments).await;
        for message in page["messages"].as_array().unwrap_or_else(|| panic!("{page}")) {
            let (id, text) = (message["id"].as_i64().unwrap(), message["text"].as_str().unwrap());
            match read.last_mut() {
                Some((newest, so_far)) if *newest == id => so_far.push_str(text),
                _ => read.push((id, text.to_owned())),
            }
        }
        match &page["next"] {
            Value::Null => return read,
            next if next.get("message").is_some() => arguments = next.clone(),
            next => arguments = next.clone(),
        }
        if arguments.get("message").is_none() {
            continue;
        }
    }
    panic!("it does not end");
}

#[tokio::test]
async fn every_character_can_be_read_again() {
    let long = "\"quoted\"\n中文 \u{1} and so on; ".repeat(12_000);
    let call = ToolCall::new(CallId::new("c"), "write_file", json!({"content": long}).to_string());
    let calls =
        AssistantMessage { text: "I write.".into(), calls: vec![call], ..AssistantMessage::default() };
    let messages = vec![
        Message::user("begin"),
        Message::Assistant(calls),
        Message::tool(CallId::new("c"), "write_file", long),
        Message::user("end"),
    ];
    let want: Vec<String> = messages.iter().map(words).collect();
    let bench = bench(messages);
    // One by one, since a cut message is gone on with alone.
    for (place, want) in want.iter().enumerate() {
        let id = place as i64 * 10 + 10;
        let read = read_all(&bench, json!({ "message": id })).await;
        assert_eq!(read, [(id, want.clone())]);
    }
    let many = bench.call("context_expand", json!({ "from": 10 })).await;
    assert_eq!(many["messages"][0]["text"], "begin");
    assert_eq!(many["next"]["from"], 20, "{}", many["next"]);
}

/// The bytes of an image are nothing to read; they would fill page after page.
#[tokio::test]
async fn images_are_named() {
    let parts = json!([
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{}", "A".repeat(200_000))}},
    ]);
    let content = hermes_conversation::Content::Parts(hermes_conversation::RawJson::of(&parts).unwrap());
    let said = hermes_conversation::UserMessage { content, api_content: None };
    let bench = bench(vec![Message::User(said), Message::user("end")]);
    let page = bench.call("context_expand", json!({ "from": 10 })).await;
    assert_eq!(page["messages"][0]["text"], "look\n[image]", "{page}");
    assert_eq!(page["messages"][1]["text"], "end");
}

#[tokio::test]
async fn pages_follow_each_other() {
    let bench = bench((0..120).map(|n| Message::user(format!("message {n}"))).collect());
    let read = read_all(&bench, json!({ "from": 10 })).await;
    assert_eq!(read.len(), 120);
    assert!(
        read.iter()
            .enumerate()
            .all(|(n, (id, text))| *id == n as i64 * 10 + 10 && *text == format!("message {n}"))
    );
    let some = read_all(&bench, json!({ "summary": 2 })).await;
    assert_eq!(some.len(), 4);
}

#[tokio::test]
async fn summaries_are_listed_and_messages_found() {
    let bench = bench(vec![Message::user("the key is under the mat")]);
    let all = bench.call("context_outline", json!({})).await;
    assert_eq!(all["summaries"][1]["of"], json!([1]), "{all}");
    assert_eq!(all["summaries"][0]["text"].as_str().unwrap().len(), 200);
    let one = bench.call("context_outline", json!({ "summary": 1 })).await;
    assert_eq!(one["summaries"][0]["text"].as_str().unwrap().len(), 500);
    let hits = bench.call("context_search", json!({ "query": "mat" })).await;
    assert_eq!(hits["hits"][0]["message"], 10, "{hits}");
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let bench = bench(vec![Message::user("hi")]);
    for (name, arguments, want) in [
        ("context_expand", json!({}), "say what to read"),
        ("context_expand", json!({ "message": 77 }), "no such message"),
        ("context_expand", json!({ "summary": 9 }), "no summary 9"),
        ("context_outline", json!({ "summary": 9 }), "there are 2"),
    ] {
        let answer = bench.call(name, &arguments).await;
        assert!(answer["error"].as_str().unwrap().contains(want), "{arguments}: {answer}");
    }
    let bare = Bench::new();
    assert!(!bare.registry.names().contains(&"context_expand"), "only where there is something to look at");
}

#[test]
fn they_are_small() {
    let definitions = crate::Registry::builtin().only::<&str>(&[]).with_context_tools().definitions();
    let bytes: usize = definitions
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.parameters.as_str().len())
        .sum();
    assert!(bytes < 1_500, "{bytes}");
}
