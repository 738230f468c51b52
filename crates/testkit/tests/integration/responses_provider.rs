//! The fake provider with the Responses format, valid and faulty.

use hermes_conversation::FinishReason;
use hermes_testkit::{FakeProvider, Fault, ReplyScript, Rule};
use hermes_wire::{ApiMode, CallState, DecodeError, Decoder, Reply, SseParser};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn question(stream: bool) -> Value {
    let include = ["reasoning.encrypted_content"];
    json!({"model": "m", "stream": stream, "store": false, "include": include,
        "input": [{"role": "user", "content": "hi"}]})
}

/// Status line and body of the answer.
async fn ask(provider: &FakeProvider, body: &Value) -> (String, String) {
    let address = provider.base_url();
    let address = address.strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = body.to_string();
    let head =
        format!("POST /v1/responses HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let body = match head.contains("transfer-encoding: chunked") {
        true => unchunked(body),
        false => body.to_owned(),
    };
    (head.lines().next().unwrap().to_owned(), body)
}

fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        body.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    body
}

fn read(stream: &str) -> Result<Reply, DecodeError> {
    let (mut parser, mut decoder) = (SseParser::default(), Decoder::new(ApiMode::CodexResponses));
    let mut failed = None;
    let mut each = |data: &str| {
        if let Err(error) = decoder.feed(data, |_| ()) {
            failed.get_or_insert(error);
        }
    };
    parser.feed(stream.as_bytes(), &mut each).unwrap();
    parser.finish(&mut each).unwrap();
    failed.map_or_else(|| decoder.finish(), Err)
}

fn two_calls() -> ReplyScript {
    let calls = ReplyScript::call("one", json!({"a": "ä"})).and_call("two", json!({"b": 2}));
    calls.with_reasoning("hm").with_text("Both.").streamed_in(3)
}

#[tokio::test]
async fn streamed_and_plain_replies_are_equal() {
    let provider = FakeProvider::start().await;
    provider.replies([two_calls(), two_calls()]);
    let streamed = read(&ask(&provider, &question(true)).await.1).unwrap();
    let plain = Decoder::plain(ApiMode::CodexResponses, &ask(&provider, &question(false)).await.1).unwrap();
    assert_eq!(streamed.message.calls[1].arguments, plain.message.calls[1].arguments);
    for (number, reply) in [(1, streamed), (2, plain)] {
        assert_eq!(reply.message.text, "Both.");
        assert_eq!(reply.finish, FinishReason::ToolCalls);
        assert_eq!(reply.message.calls[0].id.as_str(), format!("call_{number}_0"));
        let items = reply.message.reasoning.codex_items.unwrap();
        assert!(items.as_str().contains(&format!("encrypted_{number}")), "{}", items.as_str());
    }
    assert_eq!(provider.requests()[0].input().len(), 1);
    provider.finish();
}

#[tokio::test]
async fn request_in_the_wrong_format_is_rejected() {
    let provider = FakeProvider::start().await;
    provider.expect_rejection();
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let (status, body) = ask(&provider, &chat).await;
    assert!(status.contains("400") && body.contains("unknown_key"), "{status} {body}");
    assert_eq!(provider.rejections()[0].rule, Rule::UnknownKey);
    provider.finish();
}

#[tokio::test]
async fn faults_damage_replies() {
    let ids = |reply: &Reply| reply.message.calls.iter().map(|call| call.id.to_string()).collect::<Vec<_>>();
    let error = json!({"type": "error", "code": "server_error", "message": "boom"});
    let ask_with = async |fault: Fault| {
        let provider = FakeProvider::start().await;
        provider.fault(fault).reply(two_calls());
        read(&ask(&provider, &question(true)).await.1)
    };
    assert_eq!(ask_with(Fault::NoFinishReason).await, Err(DecodeError::Unfinished));
    assert!(matches!(ask_with(Fault::ErrorInStream(error)).await, Err(DecodeError::Reported { .. })));
    assert_eq!(ids(&ask_with(Fault::ReusedIndex).await.unwrap()), ["call_1_0", "call_1_1"]);
    for fault in [Fault::MissingToolIds, Fault::DuplicateToolIds] {
        let reply = ask_with(fault.clone()).await.unwrap();
        assert_eq!(reply.message.calls.len(), 2, "{fault:?}");
        let ids = ids(&reply);
        assert!(ids[0] != ids[1] && ids.iter().all(|id| !id.is_empty()), "{fault:?} {ids:?}");
    }
    let cut = ask_with(Fault::CutArguments(3)).await.unwrap();
    assert_eq!(cut.calls, [CallState::Complete, CallState::Truncated]);
    for fault in [Fault::Crlf, Fault::Comments] {
        assert_eq!(ask_with(fault.clone()).await.unwrap().message.text, "Both.", "{fault:?}");
    }
}
