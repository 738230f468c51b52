use super::*;
use crate::{CallScript, Rule, refused_base_url};
use bytes::Bytes;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn question(stream: bool) -> Value {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "hi"}]})
}

async fn connect(provider: &FakeProvider) -> TcpStream {
    TcpStream::connect(provider.listener.address()).await.unwrap()
}

async fn send(stream: &mut TcpStream, body: &Value, connection: &str) {
    let body = body.to_string();
    let head = "POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer key\r\n";
    let request = format!("{head}Connection: {connection}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).await.unwrap();
}

/// Sends a request on a new connection and reads until it is closed.
async fn ask(provider: &FakeProvider, body: &Value) -> (String, Vec<u8>) {
    let mut stream = connect(provider).await;
    send(&mut stream, body, "close").await;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    split(&bytes)
}

/// The head of a response and its bare body.
fn split(bytes: &[u8]) -> (String, Vec<u8>) {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return (String::new(), bytes.to_vec());
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let body = &bytes[end + 4..];
    match head.contains("transfer-encoding: chunked") {
        true => (head, unchunked(body)),
        false => (head, body.to_vec()),
    }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 4 + size..];
    }
    body
}

fn two_calls() -> ReplyScript {
    ReplyScript::call("one", json!({"a": "ä"})).and_call("two", json!({"b": 2}))
}

/// The stream of a reply with this fault.
async fn spoiled(fault: Fault, reply: ReplyScript) -> String {
    let provider = FakeProvider::start().await;
    provider.fault(fault).reply(reply);
    let (_, body) = ask(&provider, &question(true)).await;
    String::from_utf8(body).unwrap()
}

/// The values of `key` in the call deltas of a stream.
fn in_calls(stream: &str, key: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: {"));
    let chunks = data.map(|text| serde_json::from_str::<Value>(&format!("{{{text}")).unwrap());
    chunks.filter_map(|chunk| chunk.pointer("/choices/0/delta/tool_calls/0")?.get(key).cloned()).collect()
}

async fn good_stream(reply: ReplyScript) -> String {
    spoiled(Fault::SplitUtf8, reply).await
}

#[tokio::test]
async fn requests_are_recorded_with_their_connection() {
    let provider = FakeProvider::start().await;
    provider.replies([ReplyScript::text("one"), ReplyScript::text("two")]).reply(ReplyScript::text("three"));
    let mut first = connect(&provider).await;
    for _ in 0..2 {
        send(&mut first, &question(false), "keep-alive").await;
        let mut seen = Vec::new();
        while !seen.ends_with(b"\r\n0\r\n\r\n") {
            assert!(first.read_buf(&mut seen).await.unwrap() > 0);
        }
    }
    let (head, body) = ask(&provider, &question(false)).await;
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["choices"][0]["message"]["content"], "three");

    let requests = provider.requests();
    assert_eq!(requests.iter().map(|request| request.connection).collect::<Vec<_>>(), [1, 1, 2]);
    assert_eq!(requests[0].header("authorization"), Some("Bearer key"));
    assert_eq!(requests[0].body, question(false).to_string());
    assert_eq!(requests[0].messages().len(), 1);
    assert_eq!(provider.bodies(), vec![question(false); 3]);
    assert_eq!((provider.connections(), provider.hang_ups()), (2, 0));
    provider.finish();
}

#[tokio::test]
async fn closure_answers_when_the_queue_is_empty() {
    let provider = FakeProvider::start().await;
    provider
        .answer_with(|body| ReplyScript::text(body["model"].as_str().unwrap()))
        .reply(ReplyScript::text("q"));
    for want in ["q", "m"] {
        let (_, body) = ask(&provider, &question(false)).await;
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["choices"][0]["message"]["content"], want);
    }
}

#[tokio::test]
async fn announced_rejection_does_not_consume_the_queue() {
    let provider = FakeProvider::start().await;
    provider.expect_rejection().reply(ReplyScript::text("x")).strict_end();
    let (head, body) = ask(&provider, &json!({"model": "m", "messages": []})).await;
    assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["error"]["code"], "empty_messages");
    assert_eq!(provider.rejections()[0].rule, Rule::EmptyMessages);
    let (head, _) = ask(&provider, &question(true)).await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
}

#[tokio::test]
#[should_panic(expected = "1 requests were refused, 0 announced")]
async fn unannounced_rejection_fails_the_test() {
    let provider = FakeProvider::start().await;
    ask(&provider, &json!({"model": "m", "messages": []})).await;
}

#[tokio::test]
#[should_panic(expected = "0 requests were refused, 1 announced")]
async fn missing_rejection_fails_the_test() {
    FakeProvider::start().await.expect_rejection();
}

#[tokio::test]
#[should_panic(expected = "request 1 was not scripted")]
async fn unscripted_request_fails_the_test() {
    let provider = FakeProvider::start().await;
    ask(&provider, &question(true)).await;
}

#[tokio::test]
#[should_panic(expected = "1 queued answers are left over")]
async fn leftover_replies_fail_the_test_on_request() {
    FakeProvider::start().await.reply(ReplyScript::text("x")).strict_end();
}

#[tokio::test]
#[should_panic(expected = "no reply follows [Crlf]")]
async fn fault_without_its_reply_fails_the_test() {
    FakeProvider::start().await.fault(Fault::Crlf);
}

#[tokio::test]
#[should_panic(expected = "`answer_with` panicked: no")]
async fn panic_in_the_closure_fails_the_test() {
    let provider = FakeProvider::start().await;
    provider.answer_with(|_| panic!("no"));
    ask(&provider, &question(true)).await;
}

#[tokio::test]
async fn faults_replace_the_response() {
    let provider = FakeProvider::start().await;
    let header = ("retry-after".to_owned(), "7".to_owned());
    let rows: [(Fault, &str, &str, &[u8]); 4] = [
        (
            Fault::Status { code: 429, headers: vec![header], body: "slow".into() },
            "HTTP/1.1 429 ",
            "retry-after: 7",
            b"slow",
        ),
        (Fault::Redirect("http://x/".into()), "HTTP/1.1 307 ", "location: http://x/", b""),
        (Fault::Garbage(Bytes::from_static(b"\xff\x00")), "HTTP/1.1 200 ", "text/event-stream", b"\xff\x00"),
        (Fault::HangUp, "", "", b""),
    ];
    for (fault, status, header, want) in rows {
        provider.fault(fault.clone());
        let (head, body) = ask(&provider, &question(true)).await;
        assert!(head.starts_with(status) && head.contains(header), "{fault:?} gave {head}");
        assert_eq!(body, want, "{fault:?}");
    }
    provider.fault(Fault::status(401, "bad key"));
    let (head, body) = ask(&provider, &question(true)).await;
    assert!(head.starts_with("HTTP/1.1 401 "), "{head}");
    assert!(String::from_utf8(body).unwrap().contains("bad key"));
}

#[tokio::test]
async fn dropped_reply_ends_after_that_byte() {
    let whole = good_stream(ReplyScript::text("grüße")).await;
    for count in [0, 1, 150, whole.len() - 1] {
        let provider = FakeProvider::start().await;
        provider.fault(Fault::DropAtByte(count)).reply(ReplyScript::text("grüße"));
        let mut stream = connect(&provider).await;
        send(&mut stream, &question(true), "keep-alive").await;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        assert!(!bytes.ends_with(b"0\r\n\r\n"), "after {count}");
        let (_, body) = split(&bytes);
        assert_eq!(body, &whole.as_bytes()[..count], "after {count}");
    }
}

#[tokio::test]
async fn stalled_reply_waits_for_the_client_to_disconnect() {
    let provider = FakeProvider::start().await;
    provider.fault(Fault::StallAfterByte(10)).reply(ReplyScript::text("x")).fault(Fault::NoAnswer);
    for (sent, hang_ups) in [("a\r\ndata: {\"id\r\n", 1), ("", 2)] {
        let mut stream = connect(&provider).await;
        send(&mut stream, &question(true), "keep-alive").await;
        let mut bytes = Vec::new();
        while !bytes.ends_with(sent.as_bytes()) {
            assert!(stream.read_buf(&mut bytes).await.unwrap() > 0);
        }
        provider.wait_for_requests(hang_ups).await;
        assert_eq!(stream.try_read(&mut [0; 1]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        drop(stream);
        provider.wait_for_hang_ups(hang_ups).await;
    }
}

#[tokio::test]
async fn split_reply_has_one_byte_per_chunk() {
    let provider = FakeProvider::start().await;
    provider.fault(Fault::SplitUtf8).reply(ReplyScript::text("ß"));
    let mut stream = connect(&provider).await;
    send(&mut stream, &question(true), "close").await;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let eszett = b"1\r\n\xc3\r\n1\r\n\x9f\r\n";
    assert!(bytes.windows(eszett.len()).any(|window| window == eszett));
}

#[tokio::test]
async fn line_faults_change_only_the_framing() {
    let good = good_stream(two_calls()).await;
    let crlf = spoiled(Fault::Crlf, two_calls()).await;
    assert_eq!(crlf, good.replace('\n', "\r\n"));
    let comments = spoiled(Fault::Comments, two_calls()).await;
    let extras = ": keep-alive\n\nevent: message\nid: 7\nretry: 3000\n";
    assert_eq!(comments, good.replace("data: ", &format!("{extras}data: ")));
    let open = spoiled(Fault::NoDone, two_calls()).await;
    assert_eq!(open, good.replace("data: [DONE]\n\n", ""));
}

#[tokio::test]
async fn end_events_can_be_missing_or_wrong() {
    let endless = spoiled(Fault::NoFinishReason, two_calls()).await;
    assert!(!endless.contains(r#""finish_reason":""#) && endless.contains("[DONE]"), "{endless}");

    let error = json!({"error": {"message": "overloaded"}});
    let failed = spoiled(Fault::ErrorInStream(error), ReplyScript::text("part")).await;
    assert!(failed.contains(r#""content":"part""#), "{failed}");
    assert!(failed.ends_with("data: {\"error\":{\"message\":\"overloaded\"}}\n\n"), "{failed}");
    assert!(!failed.contains(r#""finish_reason":""#), "{failed}");

    let plain = spoiled(Fault::JsonInsteadOfStream, ReplyScript::text("all")).await;
    let plain: Value = serde_json::from_str(&plain).unwrap();
    assert_eq!(plain["choices"][0]["message"]["content"], "all");
}

#[tokio::test]
async fn calls_can_be_damaged() {
    let named = |id: &str| CallScript { id: Some(id.into()), name: "t".into(), arguments: "{}".into() };
    let reply = || ReplyScript::default().and_raw_call(named("a")).and_raw_call(named("b"));
    for (fault, ids, indexes) in [
        (Fault::SplitUtf8, vec!["a", "b"], [0, 0, 1, 1]),
        (Fault::DuplicateToolIds, vec!["a", "a"], [0, 0, 1, 1]),
        (Fault::MissingToolIds, vec![], [0, 0, 1, 1]),
        (Fault::ReusedIndex, vec!["a", "b"], [0, 0, 0, 0]),
    ] {
        let stream = spoiled(fault.clone(), reply()).await;
        assert_eq!(in_calls(&stream, "id"), ids, "{fault:?}");
        assert_eq!(in_calls(&stream, "index"), indexes, "{fault:?}");
    }
}

#[tokio::test]
async fn truncated_arguments_end_with_length() {
    let cut = spoiled(Fault::CutArguments(3), two_calls()).await;
    let functions = in_calls(&cut, "function");
    let arguments: Vec<&str> =
        functions.iter().filter_map(|function| function["arguments"].as_str()).collect();
    assert_eq!(arguments, ["", r#"{"a":"ä"}"#, "", r#"{"b"#]);
    assert!(cut.contains(r#""finish_reason":"length""#), "{cut}");
}

#[tokio::test]
async fn faults_also_damage_replies_without_streaming() {
    let error = json!({"error": {"message": "no"}});
    for (fault, pointer, want) in [
        (Fault::MissingToolIds, "/choices/0/message/tool_calls/0/id", None),
        (Fault::DuplicateToolIds, "/choices/0/message/tool_calls/1/id", Some(json!("call_1_0"))),
        (Fault::NoFinishReason, "/choices/0/finish_reason", Some(Value::Null)),
        (Fault::CutArguments(1), "/choices/0/message/tool_calls/1/function/arguments", Some(json!("{"))),
        (Fault::ErrorInStream(error), "/error/message", Some(json!("no"))),
    ] {
        let provider = FakeProvider::start().await;
        provider.fault(fault.clone()).reply(two_calls());
        let (_, body) = ask(&provider, &question(false)).await;
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body.pointer(pointer), want.as_ref(), "{fault:?}");
    }
}

#[tokio::test]
async fn disconnect_between_slow_pieces_is_counted() {
    let provider = FakeProvider::start().await;
    provider.reply(ReplyScript::text("x").with_delay(Duration::from_secs(3600)));
    let mut stream = connect(&provider).await;
    send(&mut stream, &question(true), "keep-alive").await;
    assert!(stream.read(&mut [0; 64]).await.unwrap() > 0);
    drop(stream);
    provider.wait_for_hang_ups(1).await;
}

#[tokio::test]
async fn refused_base_url_refuses_connections() {
    let url = refused_base_url();
    let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/v1")).unwrap();
    let error = TcpStream::connect(address).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
}
