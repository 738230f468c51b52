use super::*;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(server.listener.address()).await.unwrap()
}

fn post(body: &Value) -> String {
    let body = body.to_string();
    format!("POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Sends a request and reads until the response ends with `end`.
async fn ask(stream: &mut TcpStream, request: &str, end: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(end.as_bytes()) {
        assert!(
            stream.read_buf(&mut seen).await.unwrap() > 0,
            "closed after {:?}",
            String::from_utf8_lossy(&seen)
        );
    }
    String::from_utf8(seen).unwrap()
}

#[tokio::test]
async fn connection_carries_plain_and_streamed_replies() {
    let replies = [ReplyScript::text("one"), ReplyScript::text("two")];
    let server = Server::start(Script::sequence(replies)).await.unwrap();
    let mut stream = connect(&server).await;

    let plain = ask(&mut stream, &post(&json!({"model": "m"})), "}").await;
    assert!(plain.starts_with("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"), "{plain}");
    assert!(plain.contains(r#""content":"one""#), "{plain}");

    let streamed = ask(&mut stream, &post(&json!({"model": "m", "stream": true})), "\r\n0\r\n\r\n").await;
    assert!(streamed.contains("transfer-encoding: chunked"), "{streamed}");
    assert!(streamed.contains(r#""delta":{"content":"two"}"#), "{streamed}");
    assert!(streamed.contains("data: [DONE]\n\n"), "{streamed}");
    assert!(!streamed.contains("usage"), "{streamed}");

    let over = ask(&mut stream, &post(&json!({"model": "m"})), "}}").await;
    assert!(over.starts_with("HTTP/1.1 500 "), "{over}");
    assert!(over.contains("it has 2 replies and this is request 3"), "{over}");
}

#[tokio::test]
async fn delayed_reply_has_the_same_chunks() {
    let reply = ReplyScript::text("abc").streamed_in(3);
    let slow = reply.clone().with_delay(Duration::from_millis(1));
    let server = Server::start(Script::sequence([reply, slow])).await.unwrap();
    let mut stream = connect(&server).await;
    let request = post(&json!({"model": "m", "stream": true, "stream_options": {"include_usage": true}}));
    let fast = ask(&mut stream, &request, "\r\n0\r\n\r\n").await;
    let slow = ask(&mut stream, &request, "\r\n0\r\n\r\n").await;
    assert!(fast.contains("prompt_tokens"), "{fast}");
    assert_eq!(slow, fast.replace("chatcmpl-1", "chatcmpl-2"));
}

#[tokio::test]
async fn computed_reply_depends_on_the_body_only() {
    let script = || Script::by(|body| ReplyScript::call("echo", body["messages"][0]["content"].clone()));
    let request = post(&json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}));
    let mut answers = Vec::new();
    for _ in 0..2 {
        let server = Server::start(script()).await.unwrap();
        answers.push(ask(&mut connect(&server).await, &request, "}}").await);
    }
    assert!(answers[0].contains(r#""id":"call_1_0""#), "{}", answers[0]);
    assert_eq!(answers[0], answers[1]);
}

#[tokio::test]
async fn invalid_requests_get_an_explanation() {
    let server = Server::start(Script::sequence([])).await.unwrap();
    for (request, end, want) in [
        ("GET /v1/models HTTP/1.1\r\n\r\n", "]}", "HTTP/1.1 200 "),
        ("GET /v1/nothing HTTP/1.1\r\n\r\n", "}}", "HTTP/1.1 404 "),
        ("POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 1\r\n\r\n{", "}}", "HTTP/1.1 400 "),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "}}", "HTTP/1.1 411 "),
        ("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", "}}", "HTTP/1.1 413 "),
        ("nonsense\r\n\r\n", "}}", "HTTP/1.1 400 "),
    ] {
        let answer = ask(&mut connect(&server).await, request, end).await;
        assert!(answer.starts_with(want), "{request:?} gave {answer:?}");
    }
}

#[tokio::test]
async fn dropped_server_closes_connections() {
    let server = Server::start(Script::sequence([])).await.unwrap();
    let mut stream = connect(&server).await;
    let address = server.listener.address();
    ask(&mut stream, "GET /v1/models HTTP/1.1\r\n\r\n", "]}").await;
    drop(server);
    assert_eq!(stream.read(&mut [0; 1]).await.unwrap(), 0);
    assert!(TcpStream::connect(address).await.is_err());
}
