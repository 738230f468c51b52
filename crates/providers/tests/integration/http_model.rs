//! The HTTP model against a strict provider on loopback, with every fault it can inject.

use futures::StreamExt;
use hermes_conversation::{FinishReason, Message, RawJson, ToolDefinition};
use hermes_guard::Secrets;
use hermes_providers::{Deadlines, HttpClients, HttpModel, SharedLimit, Wanted, resolve};
use hermes_testkit::{FakeProvider, Fault, ReplyScript, refused_base_url};
use hermes_wire::{
    ApiMode, CallState, Failure, FaultClass, Model, ModelEvent, ModelRequest, Reply, RequestSettings,
    TimeoutPhase, classify, encode,
};
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const KEY: &str = "sk-test-0123456789abcdef";

fn model(base_url: &str) -> HttpModel {
    let wanted = Wanted {
        provider: Some("custom".into()),
        model: Some("m".into()),
        base_url: Some(base_url.into()),
        api_key: Some(SecretString::from(KEY)),
        ..Wanted::default()
    };
    let endpoint = resolve(&wanted, &|_| None).unwrap();
    let secrets = Secrets::new([("model.api_key".to_owned(), SecretString::from(KEY))]);
    let short = Deadlines {
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(5),
        gap: Duration::from_millis(300),
        total: Duration::from_secs(20),
    };
    HttpModel::new(&endpoint, HttpClients::default(), secrets).with_deadlines(short)
}

fn request(model: &HttpModel, stream: bool) -> hermes_wire::EncodedRequest {
    let tools = [ToolDefinition {
        name: "terminal".into(),
        description: "d".into(),
        parameters: RawJson::parse(r#"{"type":"object","properties":{}}"#).unwrap(),
    }];
    let request = ModelRequest {
        model: model.profile().model.clone(),
        system: "s".into(),
        tools: Arc::from(tools),
        messages: Arc::new(vec![Arc::new(Message::user("hi"))]),
        settings: RequestSettings { stream, ..RequestSettings::default() },
    };
    encode(ApiMode::ChatCompletions, &request)
}

/// Makes one call, and returns the streamed text and how it ended.
async fn ask(model: &HttpModel) -> (String, Result<Reply, Failure>) {
    let mut text = String::new();
    let mut events = match model.reply(request(model, true)).await {
        Ok(events) => events,
        Err(failure) => return (text, Err(failure)),
    };
    while let Some(event) = events.next().await {
        match event {
            Ok(ModelEvent::Text(piece)) => text.push_str(&piece),
            Ok(ModelEvent::Finished(reply)) => return (text, Ok(*reply)),
            Ok(ModelEvent::Reasoning(_) | ModelEvent::ToolPreparing(_) | ModelEvent::Usage(_)) => {}
            Err(failure) => return (text, Err(failure)),
        }
    }
    panic!("the stream ended without a reply");
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_come_over_one_connection_with_the_key_in_the_header_only() {
    let provider = FakeProvider::start().await;
    let model = model(&provider.base_url());
    for number in 0..5 {
        let text = format!("größe {number} 中");
        provider.reply(ReplyScript::text(text.clone()).streamed_in(4));
        let (streamed, reply) = ask(&model).await;
        assert_eq!(streamed, text);
        assert_eq!(reply.unwrap().message.text, text);
    }
    assert_eq!(provider.connections(), 1);
    for recorded in provider.requests() {
        assert_eq!(recorded.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert_eq!(recorded.header("accept-encoding"), None);
        assert!(!String::from_utf8_lossy(&recorded.body).contains(KEY));
    }
}

#[tokio::test]
async fn odd_streams_give_the_same_reply() {
    for fault in [
        Fault::SplitUtf8,
        Fault::Crlf,
        Fault::Comments,
        Fault::NoDone,
        Fault::NoFinishReason,
        Fault::JsonInsteadOfStream,
    ] {
        let provider = FakeProvider::start().await;
        let name = format!("{fault:?}");
        provider.fault(fault).reply(ReplyScript::text("héllo 中文").streamed_in(5));
        let (_, reply) = ask(&model(&provider.base_url())).await;
        assert_eq!(
            reply.unwrap_or_else(|failure| panic!("{name}: {failure}")).message.text,
            "héllo 中文",
            "{name}"
        );
    }
}

#[tokio::test]
async fn odd_tool_calls_are_assembled() {
    for fault in [Fault::DuplicateToolIds, Fault::MissingToolIds, Fault::ReusedIndex] {
        let provider = FakeProvider::start().await;
        let name = format!("{fault:?}");
        let script = ReplyScript::call("terminal", json!({"command": "a"}))
            .and_call("terminal", json!({"command": "b"}));
        provider.fault(fault).reply(script);
        let reply = ask(&model(&provider.base_url())).await.1.unwrap();
        let commands: Vec<_> = reply.message.calls.iter().map(|call| call.arguments.as_str()).collect();
        assert_eq!(commands, [r#"{"command":"a"}"#, r#"{"command":"b"}"#], "{name}");
        assert_ne!(reply.message.calls[0].id, reply.message.calls[1].id, "{name}");
    }
}

#[tokio::test]
async fn a_cut_call_is_marked() {
    let provider = FakeProvider::start().await;
    provider.fault(Fault::CutArguments(5)).reply(ReplyScript::call("terminal", json!({"command": "ls"})));
    let reply = ask(&model(&provider.base_url())).await.1.unwrap();
    assert_eq!((reply.finish, reply.calls), (FinishReason::Length, vec![CallState::Truncated]));
}

#[tokio::test]
async fn faults_have_names() {
    use FaultClass::*;
    let status = |code: u16| Fault::status(code, "no");
    for (fault, spoils, want) in [
        (status(401), false, Auth),
        (status(429), false, RateLimited),
        (status(500), false, Server),
        (status(503), false, Overloaded),
        (Fault::HangUp, false, StreamCut),
        (Fault::Redirect("http://127.0.0.1:1/v1/chat/completions".into()), false, Format),
        (Fault::Garbage("data: <html>oops\n\n".into()), false, Garbled),
        (Fault::DropAtByte(40), true, StreamCut),
        (Fault::StallAfterByte(40), true, Timeout),
        (Fault::ErrorInStream(json!({"error": {"message": "boom", "code": 503}})), true, Overloaded),
    ] {
        let provider = FakeProvider::start().await;
        let name = format!("{fault:?}");
        provider.fault(fault);
        if spoils {
            provider.reply(ReplyScript::text("some text that takes a while").streamed_in(6));
        }
        let failure = ask(&model(&provider.base_url())).await.1.expect_err(&name);
        assert_eq!(classify(&failure).class, want, "{name}: {failure}");
    }
}

#[tokio::test]
async fn a_silent_server_runs_into_the_first_byte_limit() {
    let provider = FakeProvider::start().await;
    provider.fault(Fault::NoAnswer);
    let limits = Deadlines { first_byte: Duration::from_millis(100), ..Deadlines::default() };
    let model = model(&provider.base_url()).with_deadlines(limits);
    let failure = ask(&model).await.1.unwrap_err();
    assert!(matches!(failure, Failure::TimedOut { phase: TimeoutPhase::FirstByte, .. }), "{failure}");
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    let failure = ask(&model(&refused_base_url())).await.1.unwrap_err();
    assert_eq!(classify(&failure).class, FaultClass::Unreachable);
    assert!(failure.to_string().contains("127.0.0.1"), "{failure}");
}

#[tokio::test]
async fn a_wait_that_was_asked_for_is_read_and_an_echoed_key_is_not_shown() {
    let provider = FakeProvider::start().await;
    let headers = vec![("retry-after".to_owned(), "7".to_owned())];
    let body = json!({"error": {"message": format!("key {KEY} is over its limit")}}).to_string();
    provider.fault(Fault::Status { code: 429, headers, body });
    let fault = classify(&ask(&model(&provider.base_url())).await.1.unwrap_err());
    assert_eq!(fault.retry_after, Some(Duration::from_secs(7)));
    assert!(!fault.detail.contains(KEY), "{}", fault.detail);
}

#[tokio::test]
async fn a_plain_reply_is_read() {
    let provider = FakeProvider::start().await;
    provider.reply(ReplyScript::text("whole"));
    let model = model(&provider.base_url());
    let mut events = model.reply(request(&model, false)).await.unwrap();
    let Some(Ok(ModelEvent::Finished(reply))) = events.next().await else { panic!("no reply") };
    assert_eq!(reply.message.text, "whole");
}

#[tokio::test]
async fn text_before_an_error_is_delivered_first() {
    let provider = FakeProvider::start().await;
    let piece = r#"data: {"choices":[{"delta":{"content":"Half an"}}]}"#;
    provider
        .fault(Fault::Garbage(format!("{piece}\n\ndata: {{\"error\":{{\"message\":\"boom\"}}}}\n\n").into()));
    let (text, end) = ask(&model(&provider.base_url())).await;
    assert_eq!(text, "Half an");
    assert!(matches!(end, Err(Failure::Reported { .. })), "{end:?}");
}

#[tokio::test]
async fn sessions_share_an_exhausted_rate_limit() {
    let home = tempfile::tempdir().unwrap();
    let provider = FakeProvider::start().await;
    let limited = |seconds: &str| Fault::Status {
        code: 429,
        headers: vec![
            ("x-ratelimit-remaining-requests-1h".into(), "0".into()),
            ("x-ratelimit-reset-requests-1h".into(), seconds.into()),
        ],
        body: "slow down".into(),
    };
    let session = || model(&provider.base_url()).with_shared_limit(SharedLimit::of(home.path(), "nous"));
    // A short wait is not shared.
    provider.fault(limited("20")).reply(ReplyScript::text("ok")).fault(limited("900"));
    assert!(ask(&session()).await.1.is_err());
    assert!(ask(&session()).await.1.is_ok());
    assert!(ask(&session()).await.1.is_err());
    assert_eq!(provider.requests().len(), 3);
    let Failure::Http { status, retry_after, body } = ask(&session()).await.1.unwrap_err() else {
        panic!("refused")
    };
    assert_eq!((status, provider.requests().len()), (429, 3), "nothing is sent");
    assert!(retry_after.is_some_and(|wait| wait > Duration::from_secs(800)), "{retry_after:?}");
    assert!(body.contains("nothing was sent"), "{body}");
    // Its time is over.
    std::fs::write(
        home.path().join("rate_limits/nous.json"),
        r#"{"reset_at":1,"recorded_at":0,"reset_seconds":1}"#,
    )
    .unwrap();
    provider.reply(ReplyScript::text("ok"));
    assert!(ask(&session()).await.1.is_ok());
    assert!(!home.path().join("rate_limits/nous.json").exists(), "an answer clears it");
}
