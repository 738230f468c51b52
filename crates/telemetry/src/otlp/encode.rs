//! Spans as OTLP/JSON, and the response of a collector.
//!
//! The JSON mapping of OTLP is that of protobuf with one exception: ids are hexadecimal. Numbers of 64
//! bits are strings, kinds and status codes are numbers.

use super::span::{EndedSpan, Told};
use serde_json::{Value, json};

const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

/// The body of one request.
pub(super) fn encode(service: &str, spans: &[EndedSpan]) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let text = |text: &str| json!({ "stringValue": text });
    let body = json!({
        "resourceSpans": [{
            "resource": {
                "attributes": [
                    { "key": "service.name", "value": text(service) },
                    { "key": "service.version", "value": text(version) },
                ],
            },
            "scopeSpans": [{
                "scope": { "name": "hermes", "version": version },
                "spans": spans.iter().map(span).collect::<Vec<_>>(),
            }],
        }],
    });
    body.to_string().into_bytes()
}

fn span(span: &EndedSpan) -> Value {
    let kind = if span.name == "model_call" { CLIENT } else { INTERNAL };
    let mut value = json!({
        "traceId": format!("{:032x}", span.trace),
        "spanId": format!("{:016x}", span.id),
        "name": span.name,
        "kind": kind,
        "startTimeUnixNano": span.begun.to_string(),
        "endTimeUnixNano": span.ended.to_string(),
        "attributes": span.attributes.0.iter().map(attribute).collect::<Vec<_>>(),
    });
    if let Some(parent) = span.parent {
        value["parentSpanId"] = format!("{parent:016x}").into();
    }
    if let Some(error) = &span.error {
        value["status"] = json!({ "code": ERROR, "message": error });
    }
    value
}

fn attribute((name, value): &(&'static str, Told)) -> Value {
    let value = match value {
        Told::Text(text) => json!({ "stringValue": text }),
        Told::Integer(number) => json!({ "intValue": number.to_string() }),
        Told::Number(number) => json!({ "doubleValue": number }),
        Told::Boolean(is_so) => json!({ "boolValue": is_so }),
    };
    json!({ "key": name, "value": value })
}

/// The number of spans that a collector rejected, according to its response; 0 without one.
pub(super) fn rejected(answer: &[u8]) -> u64 {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    match &answer["partialSuccess"]["rejectedSpans"] {
        Value::String(number) => number.parse().unwrap_or(0),
        number => number.as_u64().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::span::Attributed;
    use super::*;

    #[test]
    fn a_span_with_everything_and_one_with_little() {
        let full = EndedSpan {
            name: "model_call",
            trace: 0x0102,
            id: 0xab,
            parent: Some(0xcd),
            begun: 1_763_224_403_123_456_789,
            ended: 1_763_224_404_000_000_000,
            attributes: Attributed(vec![
                ("model", Told::Text("m \"x\"".into())),
                ("tokens_in", Told::Integer(10)),
                ("cost_usd", Told::Number(0.25)),
                ("failed", Told::Boolean(true)),
            ]),
            error: Some("overloaded".into()),
        };
        let plain = EndedSpan {
            name: "turn",
            parent: None,
            attributes: Attributed::default(),
            error: None,
            ..full.clone()
        };
        let body: Value = serde_json::from_slice(&encode("me", &[full, plain])).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        let want = json!({"resourceSpans": [{
            "resource": {"attributes": [
                {"key": "service.name", "value": {"stringValue": "me"}},
                {"key": "service.version", "value": {"stringValue": version}},
            ]},
            "scopeSpans": [{
                "scope": {"name": "hermes", "version": version},
                "spans": [
                    {
                        "traceId": "00000000000000000000000000000102",
                        "spanId": "00000000000000ab",
                        "parentSpanId": "00000000000000cd",
                        "name": "model_call",
                        "kind": 3,
                        "startTimeUnixNano": "1763224403123456789",
                        "endTimeUnixNano": "1763224404000000000",
                        "attributes": [
                            {"key": "model", "value": {"stringValue": "m \"x\""}},
                            {"key": "tokens_in", "value": {"intValue": "10"}},
                            {"key": "cost_usd", "value": {"doubleValue": 0.25}},
                            {"key": "failed", "value": {"boolValue": true}},
                        ],
                        "status": {"code": 2, "message": "overloaded"},
                    },
                    {
                        "traceId": "00000000000000000000000000000102",
                        "spanId": "00000000000000ab",
                        "name": "turn",
                        "kind": 1,
                        "startTimeUnixNano": "1763224403123456789",
                        "endTimeUnixNano": "1763224404000000000",
                        "attributes": [],
                    },
                ],
            }],
        }]});
        assert_eq!(body, want);
    }

    #[test]
    fn what_a_collector_did_not_want_is_counted() {
        for (answer, want) in [
            ("", 0),
            ("{}", 0),
            ("taken, thanks", 0),
            (r#"{"partialSuccess":{}}"#, 0),
            (r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}}"#, 3),
            (r#"{"partialSuccess":{"rejectedSpans":2}}"#, 2),
        ] {
            assert_eq!(rejected(answer.as_bytes()), want, "{answer}");
        }
    }
}
