//! The recorded form of a reply.

use super::*;
use secrecy::SecretString;

const MODE: ApiMode = ApiMode::ChatCompletions;

fn chunk(text: &str) -> Bytes {
    let piece =
        serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
    format!("data: {piece}\n\n").into()
}

fn written(pieces: &[&str], how: CallEnd) -> Outcome {
    let mut chunks: Vec<Bytes> = pieces.iter().map(|piece| chunk(piece)).collect();
    chunks.push("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n".into());
    let mut decoded = DecodedReply::new(MODE);
    let mut events = events_of(chunks.clone(), MODE, true, None).unwrap();
    let limit = if matches!(how, CallEnd::Dropped) { 1 } else { usize::MAX };
    let mut count = 0;
    while count < limit
        && let Some(Some(event)) = events.next().now_or_never()
    {
        decoded.is_last(&event);
        count += 1;
    }
    let received = ReplyBytes { head: Some((200, true)), chunks, failure: None };
    let secrets = Secrets::new([("KEY", SecretString::from("hunter2-hunter2"))]);
    outcome(received, &decoded, how, &secrets)
}

#[test]
fn reply_without_secrets_is_recorded_as_bytes() {
    let Outcome::Body { status: 200, streamed: true, body: Body::Text(text), end: End::Complete, chunks } =
        written(&["Good ", "day"], CallEnd::Read)
    else {
        panic!("not the bytes");
    };
    assert!(text.contains("Good ") && text.ends_with("data: [DONE]\n\n"));
    assert!(chunks.is_empty());
}

#[test]
fn split_secret_is_replaced_by_placeholder() {
    let Outcome::Decoded { said, end: End::Complete } =
        written(&["It is hunter2", "-hunter2"], CallEnd::Read)
    else {
        panic!("the bytes were written");
    };
    assert_eq!(said[0], Said::Text("It is hunter2-hunter2".into()));
    let Said::Finished { message, .. } = &said[1] else { panic!("{said:?}") };
    assert_eq!(message.text, "It is hunter2-hunter2");
}

#[test]
fn dropped_reply_has_number_of_decoded_events() {
    let Outcome::Body { end: End::Dropped { after: 1 }, chunks, .. } = written(&["a", "b"], CallEnd::Dropped)
    else {
        panic!("not a dropped reply");
    };
    assert_eq!(chunks.len(), 3);
}

#[test]
fn failed_request_is_recorded_as_failure() {
    let failure = Failure::Cut { cause: "reset".into() };
    let decoded = DecodedReply::new(MODE);
    let secrets = Secrets::default();
    for (how, want) in
        [(CallEnd::Refused(failure.clone()), Outcome::Failed(failure)), (CallEnd::Dropped, Outcome::Dropped)]
    {
        assert_eq!(outcome(ReplyBytes::default(), &decoded, how, &secrets), want);
    }
}
