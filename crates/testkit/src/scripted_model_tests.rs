use super::*;
use bytes::Bytes;
use futures::FutureExt;
use hermes_conversation::Usage;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn request(body: &'static str) -> EncodedRequest {
    EncodedRequest {
        mode: ApiMode::ChatCompletions,
        body: Bytes::from_static(body.as_bytes()),
        segments: Vec::new(),
        stream: true,
        output_cap: None,
        session: None,
    }
}

fn cut_off() -> Failure {
    Failure::Cut { cause: "reset".into() }
}

async fn events(model: &ScriptedModel) -> Result<Vec<Result<ModelEvent, Failure>>, Failure> {
    Ok(model.reply(request("{}")).await?.collect().await)
}

#[tokio::test]
async fn reply_is_streamed_before_it_is_complete() {
    let usage = Usage { input: 1, output: 2, ..Usage::default() };
    let script = ReplyScript::call("terminal", json!({"a": 1}))
        .with_text("ab")
        .with_reasoning("hm")
        .with_usage(usage)
        .streamed_in(2);
    let model = ScriptedModel::new([Ok(script)]);
    let call = ToolCall::new(CallId::new("call_1_0"), "terminal", r#"{"a":1}"#);
    let whole = Reply {
        message: AssistantMessage {
            text: "ab".into(),
            calls: vec![call],
            reasoning: Reasoning { text: Some("hm".into()), ..Reasoning::default() },
            finish: Some(FinishReason::ToolCalls),
            issuer: Some(model.profile().issuer.clone()),
        },
        calls: vec![CallState::Complete],
        finish: FinishReason::ToolCalls,
        usage: Some(usage),
        bill: Bill::default(),
    };
    let want = [
        ModelEvent::Reasoning("h".into()),
        ModelEvent::Reasoning("m".into()),
        ModelEvent::Text("a".into()),
        ModelEvent::Text("b".into()),
        ModelEvent::ToolPreparing("terminal".into()),
        ModelEvent::Finished(Box::new(whole)),
    ];
    assert_eq!(events(&model).await.unwrap(), want.map(Ok));
}

#[tokio::test]
async fn failures_occur_before_or_within_a_reply() {
    let model =
        ScriptedModel::of([ModelStep::Fail(cut_off()), ModelStep::Cut(ReplyScript::text("a"), cut_off())]);
    assert_eq!(events(&model).await, Err(cut_off()));
    assert_eq!(events(&model).await.unwrap(), [Ok(ModelEvent::Text("a".into())), Err(cut_off())]);
    assert!(matches!(events(&model).await, Err(Failure::Http { status: 400, .. })), "past the end");
    assert_eq!(model.left(), 0);
}

#[tokio::test]
async fn pending_steps_never_end() {
    let model = ScriptedModel::of([ModelStep::Pend]);
    model.push(ModelStep::StreamThenPend(ReplyScript::text("a")));
    assert!(model.reply(request("{}")).now_or_never().is_none());
    let mut stream = model.reply(request("{}")).await.ok().unwrap();
    assert_eq!(stream.next().await, Some(Ok(ModelEvent::Text("a".into()))));
    assert!(stream.next().now_or_never().is_none());
}

#[tokio::test]
async fn requests_are_watched_and_recorded() {
    let watched = Arc::new(AtomicUsize::new(0));
    let counting = watched.clone();
    let model = ScriptedModel::new([Ok(ReplyScript::text("a"))]).on_request(move |request| {
        counting.fetch_add(request.body.len(), Ordering::Relaxed);
    });
    drop(model.reply(request(r#"{"a":1}"#)).await.ok().unwrap());
    assert_eq!(watched.load(Ordering::Relaxed), 7);
    assert_eq!(model.bodies(), [json!({"a": 1})]);
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn unreadable_arguments_may_not_run() {
    for (arguments, finish, want) in [
        ("{}", FinishReason::ToolCalls, CallState::Complete),
        ("{\"a", FinishReason::Length, CallState::Truncated),
        ("{\"a", FinishReason::ToolCalls, CallState::Malformed),
    ] {
        let call = CallScript { id: None, name: "t".into(), arguments: arguments.into() };
        assert_eq!(call_state(&call, finish), want, "{arguments} {finish:?}");
    }
}
