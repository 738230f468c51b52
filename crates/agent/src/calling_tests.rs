use super::*;
use hermes_conversation::{Bill, FinishReason, Reasoning, events};

fn reply(text: &str, reasoning: Option<&str>) -> Box<Reply> {
    let reasoning = Reasoning { text: reasoning.map(str::to_owned), ..Reasoning::default() };
    let message = AssistantMessage { text: text.to_owned(), reasoning, ..AssistantMessage::default() };
    let (calls, finish, bill) = (Vec::new(), FinishReason::Stop, Bill::default());
    Box::new(Reply { message, calls, finish, usage: None, bill })
}

/// The events that a front end receives for these model events.
async fn told(heard: Vec<ModelEvent>) -> Vec<TurnEvent> {
    let (front, mut stream) = events();
    let coming = futures::stream::iter(heard.into_iter().map(Ok)).boxed();
    listen(coming, &front, &mut Heard::default()).await.unwrap();
    drop(front);
    let mut told = Vec::new();
    while let Some(event) = stream.next().await {
        told.push(event);
    }
    told
}

#[tokio::test]
async fn every_reply_is_shown_once_however_it_came() {
    let want = [TurnEvent::Reasoning("Hm.".into()), TurnEvent::Text("Yes.".into())];
    let whole = ModelEvent::Finished(reply("Yes.", Some("Hm.")));
    let pieces = vec![ModelEvent::Reasoning("Hm.".into()), ModelEvent::Text("Yes.".into()), whole.clone()];
    for (name, heard) in [("in one piece", vec![whole]), ("streamed", pieces)] {
        assert_eq!(told(heard).await, want, "{name}");
    }
    assert_eq!(told(vec![ModelEvent::Finished(reply("", None))]).await, []);
}
