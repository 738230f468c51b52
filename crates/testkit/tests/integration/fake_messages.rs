//! The fake provider with the Messages format and our decoder.

use hermes_conversation::{FinishReason, Message, Usage};
use hermes_testkit::{FakeProvider, Fault, ReplyScript, Rule};
use hermes_wire::{
    ApiMode, CallState, DecodeError, Decoder, ModelRequest, Reply, RequestSettings, SseParser, encode,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const MODE: ApiMode = ApiMode::AnthropicMessages;

fn question(stream: bool) -> Vec<u8> {
    let request = ModelRequest {
        model: "m".into(),
        system: "Be brief.".into(),
        tools: Arc::from([]),
        messages: Arc::new(vec![Arc::new(Message::user("hi"))]),
        settings: RequestSettings { stream, ..RequestSettings::default() },
    };
    encode(MODE, &request).body.to_vec()
}

/// Sends a body and reads the whole response: its head, and its body without chunks.
async fn post(provider: &FakeProvider, body: &[u8]) -> (String, Vec<u8>) {
    let address = provider.base_url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head =
        format!("POST /v1/messages HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), body].concat()).await.unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut rest = &bytes[end + 4..];
    if !head.contains("transfer-encoding: chunked") {
        return (head, rest.to_vec());
    }
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 4 + size..];
    }
    (head, body)
}

async fn reply(provider: &FakeProvider, stream: bool) -> Result<Reply, DecodeError> {
    let (head, body) = post(provider, &question(stream)).await;
    if !head.contains("text/event-stream") {
        return Decoder::plain(MODE, std::str::from_utf8(&body).unwrap());
    }
    let mut decoder = Decoder::new(MODE);
    let mut datas = Vec::new();
    SseParser::default().feed(&body, |data| datas.push(data.to_owned())).unwrap();
    for data in datas {
        decoder.feed(&data, |_| ())?;
    }
    decoder.finish()
}

fn script() -> ReplyScript {
    ReplyScript::call("one", json!({"a": "ä"}))
        .and_call("two", json!({}))
        .with_text("looking")
        .with_reasoning("hm")
        .with_usage(Usage { input: 1, output: 2, cache_read: 3, cache_write: 4, reasoning: 0 })
        .streamed_in(3)
}

#[tokio::test]
async fn streamed_and_plain_replies_are_equal() {
    let provider = FakeProvider::start().await;
    let mut replies = Vec::new();
    for stream in [true, false] {
        provider.reply(script());
        replies.push(reply(&provider, stream).await.unwrap());
    }
    let [streamed, whole] = &replies[..] else { unreachable!("two replies") };
    assert_eq!(streamed.message.text, "looking");
    assert_eq!(streamed.message.calls[0].arguments, "{\"a\":\"ä\"}");
    assert_eq!(streamed.finish, FinishReason::ToolCalls);
    assert_eq!(
        streamed.usage,
        Some(Usage { input: 1, output: 2, cache_read: 3, cache_write: 4, reasoning: 0 })
    );
    assert_eq!(streamed.message.reasoning.text.as_deref(), Some("hm"));
    let blocks = |reply: &Reply| reply.message.reasoning.anthropic_blocks.clone().unwrap();
    assert!(blocks(streamed).as_str().contains("\"signature\":\"signature-1\""));
    // The second reply has its own number in ids and signature; the rest is equal.
    let renumbered = blocks(whole).as_str().replace("-2\"", "-1\"").replace("call_2_", "call_1_");
    assert_eq!(renumbered, blocks(streamed).as_str());
    assert_eq!((&whole.calls, whole.usage), (&streamed.calls, streamed.usage));
    provider.finish();
}

#[tokio::test]
async fn faults_reach_the_decoder() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let reported = Err(DecodeError::Reported { body: error.to_string() });
    for (fault, want) in [
        (Fault::Crlf, Ok(vec![CallState::Complete, CallState::Complete])),
        (Fault::Comments, Ok(vec![CallState::Complete, CallState::Complete])),
        (Fault::SplitUtf8, Ok(vec![CallState::Complete, CallState::Complete])),
        (Fault::ReusedIndex, Ok(vec![CallState::Complete, CallState::Complete])),
        (Fault::DuplicateToolIds, Ok(vec![CallState::Complete, CallState::Complete])),
        (Fault::MissingToolIds, Ok(vec![CallState::Complete, CallState::Complete])),
        (Fault::NoFinishReason, Ok(vec![CallState::Complete, CallState::Complete])),
        (Fault::JsonInsteadOfStream, Ok(vec![CallState::Complete, CallState::Complete])),
        (Fault::CutArguments(1), Ok(vec![CallState::Complete, CallState::Truncated])),
        (Fault::NoDone, Err(DecodeError::Unfinished)),
        (Fault::ErrorInStream(error), reported),
    ] {
        let provider = FakeProvider::start().await;
        provider.fault(fault.clone()).reply(script());
        let got = reply(&provider, true).await;
        let ids = got
            .as_ref()
            .map(|reply| reply.message.calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>());
        assert!(ids.is_err() || ids.is_ok_and(|ids| ids[0] != ids[1]), "{fault:?}");
        assert_eq!(got.map(|reply| reply.calls), want, "{fault:?}");
    }
}

#[tokio::test]
async fn invalid_request_is_rejected_in_the_format() {
    let provider = FakeProvider::start().await;
    provider.expect_rejection();
    let (head, body) = post(&provider, br#"{"model":"m","messages":[]}"#).await;
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
    assert_eq!((&body["type"], &body["error"]["type"]), (&json!("error"), &json!("invalid_request_error")));
    assert_eq!(provider.rejections()[0].rule, Rule::MissingMaxTokens);
}
