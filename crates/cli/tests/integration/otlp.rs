//! Traces as a collector sees them, with the whole program and a collector on loopback.

use crate::process::{code, custom_model, run, stderr, stdout};
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

const KEY: &str = "opaque-key-of-this-test-4711";
const PASS: &str = "opaque-pass-of-this-test-0815";

/// A request to the collector: head and body.
type Heard = (String, String);

/// Listens on loopback; every connection is one request, which is answered with `answer`. Without an
/// answer the request is read and the line is kept open.
fn collector(answer: Option<String>) -> (String, Receiver<Heard>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (tell, heard) = channel();
    std::thread::spawn(move || {
        let mut kept_open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            if tell.send(request(&stream)).is_err() {
                return;
            }
            match &answer {
                Some(answer) => stream.write_all(answer.as_bytes()).unwrap(),
                None => kept_open.push(stream),
            }
        }
    });
    (address, heard)
}

fn request(stream: &TcpStream) -> Heard {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "the request ends within its head: {head}");
    }
    let head = head.to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

fn taken() -> Option<String> {
    Some("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}".to_owned())
}

async fn world(endpoint: &str) -> (TempHome, FakeProvider) {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let model = custom_model(&provider.base_url());
    let otlp = format!("endpoint: '{endpoint}', headers: {{Authorization: 'Bearer ${{PASS_OF_TEST}}'}}");
    home.write(".env", &format!("PASS_OF_TEST={PASS}\n"));
    home.write_config(&format!("{model}telemetry: {{otlp: {{{otlp}}}}}\n"));
    let settings =
        home.read("config.yaml").replacen("  default: m\n", &format!("  default: m\n  api_key: {KEY}\n"), 1);
    home.write_config(&settings);
    (home, provider)
}

fn spans(body: &str) -> Vec<Value> {
    let body: Value = serde_json::from_str(body).unwrap();
    body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
}

fn named<'a>(spans: &'a [Value], name: &str) -> Vec<&'a Value> {
    spans.iter().filter(|span| span["name"] == name).collect()
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let all = span["attributes"].as_array().unwrap();
    all.iter().find(|one| one["key"] == key).map_or(&Value::Null, |one| &one["value"])
}

fn time(span: &Value, key: &str) -> u64 {
    span[key].as_str().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_is_one_span_tree_without_message_texts() {
    let (endpoint, heard) = collector(taken());
    let (home, provider) = world(&endpoint).await;
    // How spans end is told also where little is logged.
    let settings = home.read("config.yaml");
    home.write_config(&format!("{settings}logging: {{level: ERROR}}\n"));
    let body =
        json!({ "error": { "message": format!("{KEY} wants the plan"), "type": "error", "code": null } });
    let headers = vec![("retry-after".into(), "0".into())];
    provider.fault(Fault::Status { code: 503, headers, body: body.to_string() });
    provider.reply(
        ReplyScript::call("read_file", json!({ "path": "secret-plan.txt" })).and_call("todo", json!({})),
    );
    provider.reply(ReplyScript::text("The plan is hidden."));
    let out = run(home.path(), &["-z", "What is the plan?"]).await;
    assert_eq!((code(&out), stdout(&out).as_str()), (0, "The plan is hidden.\n"), "{}", stderr(&out));

    let (head, body) = heard.recv().unwrap();
    assert!(heard.try_recv().is_err(), "a turn is one delivery");
    assert!(head.starts_with("post /v1/traces http/1.1\r\n"), "{head}");
    assert!(head.contains("content-type: application/json\r\n"), "{head}");
    assert!(head.contains(&format!("authorization: bearer {PASS}\r\n")), "{head}");
    for said in [KEY, PASS, "What is the plan", "wants the plan", "secret-plan", "hidden"] {
        assert!(!body.contains(said), "{said} is in the traces:\n{body}");
    }
    let whole: Value = serde_json::from_str(&body).unwrap();
    let service = &whole["resourceSpans"][0]["resource"]["attributes"][0];
    assert_eq!(service, &json!({ "key": "service.name", "value": { "stringValue": "hermes" } }));

    let spans = spans(&body);
    let (turns, models, tools) =
        (named(&spans, "turn"), named(&spans, "model_call"), named(&spans, "tool_call"));
    assert_eq!((spans.len(), turns.len(), models.len(), tools.len()), (6, 1, 3, 2), "{body}");
    let turn = turns[0];
    assert_eq!((turn.get("parentSpanId"), turn.get("status")), (None, None), "{turn}");
    assert_eq!(turn["traceId"].as_str().unwrap().len(), 32);
    assert_eq!(attribute(turn, "calls"), &json!({ "intValue": "3" }), "{turn}");
    assert!(attribute(turn, "session")["stringValue"].is_string(), "{turn}");
    for child in models.iter().chain(&tools) {
        assert_eq!(child["parentSpanId"], turn["spanId"], "{child}");
        assert_eq!(child["traceId"], turn["traceId"], "{child}");
        let (begun, ended) = (time(child, "startTimeUnixNano"), time(child, "endTimeUnixNano"));
        let is_within =
            time(turn, "startTimeUnixNano") <= begun && ended <= time(turn, "endTimeUnixNano") + 1_000_000;
        assert!(begun <= ended && is_within, "{child}\n{turn}");
    }
    let ids: std::collections::BTreeSet<_> = spans.iter().map(|span| span["spanId"].to_string()).collect();
    assert_eq!(ids.len(), spans.len());

    assert_eq!(models[0]["status"], json!({ "code": 2, "message": "overloaded" }), "{}", models[0]);
    assert_eq!(attribute(models[0], "status"), &json!({ "intValue": "503" }));
    assert_eq!((models[1].get("status"), models[1]["kind"].as_u64()), (None, Some(3)));
    assert_eq!(attribute(models[1], "attempt"), &json!({ "intValue": "2" }));
    assert_eq!(attribute(models[1], "model"), &json!({ "stringValue": "m" }));
    assert!(attribute(models[1], "tokens_in")["intValue"].is_string(), "{}", models[1]);
    let tool = |name: &str| {
        let wanted = json!({ "stringValue": name });
        *tools.iter().find(|span| attribute(span, "tool") == &wanted).unwrap()
    };
    // There is no such file.
    assert_eq!(tool("read_file")["status"]["code"], 2, "{}", tool("read_file"));
    assert_eq!(tool("todo").get("status"), None, "{}", tool("todo"));
    assert_eq!(attribute(tool("todo"), "outcome"), &json!({ "stringValue": "done" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn redirecting_collector_is_not_followed() {
    let (elsewhere, heard_elsewhere) = collector(taken());
    let answer = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {elsewhere}/v1/traces\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    let (endpoint, heard) = collector(Some(answer));
    let (home, provider) = world(&endpoint).await;
    provider.reply(ReplyScript::text("Done."));
    let out = run(home.path(), &["-z", "go"]).await;
    assert_eq!((code(&out), stdout(&out).as_str(), stderr(&out).as_str()), (0, "Done.\n", ""));
    assert_eq!(spans(&heard.recv().unwrap().1).len(), 2);
    assert!(heard_elsewhere.try_recv().is_err());
    let log = home.read("logs/agent.log");
    assert_eq!(log.matches("traces cannot be sent").count(), 1, "{log}");
    assert!(log.contains("not all traces were sent lost=2"), "{log}");
    assert!(!log.contains(PASS), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_collector_does_not_delay_the_exit() {
    let (endpoint, heard) = collector(None);
    let (home, provider) = world(&endpoint).await;
    provider.reply(ReplyScript::text("Done."));
    let out = run(home.path(), &["-z", "go"]).await;
    assert_eq!((code(&out), stdout(&out).as_str(), stderr(&out).as_str()), (0, "Done.\n", ""));
    heard.recv().unwrap();
    let log = home.read("logs/agent.log");
    assert!(log.contains("the last traces were not sent in time ms=2000"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_otlp_settings_are_reported_and_the_turn_runs() {
    for (endpoint, want) in [
        ("ftp://127.0.0.1", "telemetry.otlp: `ftp://127.0.0.1` is not an http or https address"),
        ("http://me:hush@127.0.0.1", "telemetry.otlp: the address carries a user name or password"),
    ] {
        let (home, provider) = world(endpoint).await;
        provider.reply(ReplyScript::text("Done."));
        let out = run(home.path(), &["-z", "go"]).await;
        assert_eq!((code(&out), stdout(&out).as_str()), (0, "Done.\n"), "{endpoint}");
        assert!(stderr(&out).contains(want) && !stderr(&out).contains("hush"), "{}", stderr(&out));
        let doctor = run(home.path(), &["doctor"]).await;
        assert!(code(&doctor) == 1 && stdout(&doctor).contains(want), "{}", stdout(&doctor));
    }
}
