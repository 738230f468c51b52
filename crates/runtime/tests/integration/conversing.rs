//! Hermes as a library: one call, one answer.

use crate::opened::opened;
use hermes_conversation::{Message, TurnEvent, events};
use hermes_runtime::{ConversationRequest, Runtime, RuntimeError, chat, run_conversation};
use hermes_store::Include;
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome};

async fn world() -> (TempHome, FakeProvider, Runtime) {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&format!(
        "model: {{provider: custom, base_url: '{}', default: m}}\nagent: {{api_max_retries: 1}}\n",
        provider.base_url()
    ));
    let runtime = opened(home.path(), home.path());
    (home, provider, runtime)
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_returns_the_answer_or_a_reason() {
    let (_home, provider, runtime) = world().await;
    provider.reply(ReplyScript::text("Four."));
    assert_eq!(chat(&runtime, "What is 2+2?").await.unwrap(), "Four.");
    provider.fault(Fault::Status {
        code: 401,
        headers: vec![],
        body: r#"{"error":{"message":"no"}}"#.into(),
    });
    let error = chat(&runtime, "And 3+3?").await.unwrap_err();
    assert!(matches!(&error, RuntimeError::NoAnswer(why) if why.contains("401")), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn conversation_takes_history_and_options() {
    let (_home, provider, runtime) = world().await;
    provider.reply(ReplyScript::text("As I said: four.").with_reasoning("It was four."));
    let (sink, mut stream) = events();
    let asked = ConversationRequest {
        system_message: Some("Be brief.".to_owned()),
        conversation_history: vec![Message::user("What is 2+2?"), Message::assistant("Four.")],
        persist_user_message: Some("And again?".to_owned()),
        persist_user_timestamp: Some(1_000_000.5),
        events: Some(sink),
        ..ConversationRequest::from("[by voice] And again?")
    };
    let conversed = run_conversation(&runtime, asked).await.unwrap();
    let report = &conversed.report;
    assert_eq!(report.final_response.as_deref(), Some("As I said: four."));
    assert_eq!(report.last_reasoning.as_deref(), Some("It was four."));
    assert_eq!((conversed.model.as_str(), conversed.messages.len()), ("m", 4));
    let mut thinking = Vec::new();
    while let Some(event) = stream.next().await {
        if let TurnEvent::Thinking { active } = event {
            thinking.push(active);
        }
    }
    assert_eq!(thinking, [true, false]);
    // The request has everything; the record has the stored text.
    let request = provider.requests().pop().unwrap();
    let sent = request.messages();
    assert!(sent[0]["content"].as_str().unwrap().contains("Be brief."));
    let said: Vec<_> = sent[1..].iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["What is 2+2?", "Four.", "[by voice] And again?"]);
    let stored = runtime.store().unwrap().load(&conversed.session_id).await.unwrap();
    assert!(matches!(&stored.messages[2], Message::User(said) if said.content.as_text() == "And again?"));
    let rows = runtime.store().unwrap().messages(&conversed.session_id, Include::default()).await.unwrap();
    assert_eq!(rows[2].at, 1_000_000.5);
}
