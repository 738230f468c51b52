//! Which form a reply is written down in.

use super::*;
use secrecy::SecretString;

const MODE: ApiMode = ApiMode::ChatCompletions;

fn chunk(text: &str) -> Bytes {
    let piece =
        serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
    format!("data: {piece}\n\n").into()
}

fn written(pieces: &[&str], how: HowItEnded) -> Outcome {
    let mut chunks: Vec<Bytes> = pieces.iter().map(|piece| chunk(piece)).collect();
    chunks.push("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n".into());
    let mut heard = Heard::new(MODE);
    let mut events = events_of(chunks.clone(), MODE, true, None).unwrap();
    let limit = if matches!(how, HowItEnded::Dropped) { 1 } else { usize::MAX };
    let mut count = 0;
    while count < limit
        && let Some(Some(event)) = events.next().now_or_never()
    {
        heard.is_last(&event);
        count += 1;
    }
    let tape = TapeBody { head: Some((200, true)), chunks, failure: None };
    let secrets = Secrets::new([("KEY", SecretString::from("hunter2-hunter2"))]);
    outcome(tape, &heard, how, &secrets)
}

#[test]
fn a_reply_without_secrets_is_its_bytes() {
    let Outcome::Body { status: 200, streamed: true, body: Body::Text(text), end: End::Complete, chunks } =
        written(&["Good ", "day"], HowItEnded::Read)
    else {
        panic!("not the bytes");
    };
    assert!(text.contains("Good ") && text.ends_with("data: [DONE]\n\n"));
    assert!(chunks.is_empty());
}

#[test]
fn a_secret_in_pieces_is_written_in_one() {
    let Outcome::Decoded { said, end: End::Complete } =
        written(&["It is hunter2", "-hunter2"], HowItEnded::Read)
    else {
        panic!("the bytes were written");
    };
    assert_eq!(said[0], Said::Text("It is hunter2-hunter2".into()));
    let Said::Finished { message, .. } = &said[1] else { panic!("{said:?}") };
    assert_eq!(message.text, "It is hunter2-hunter2");
}

#[test]
fn a_dropped_reply_says_how_far_it_was_heard() {
    let Outcome::Body { end: End::Dropped { after: 1 }, chunks, .. } =
        written(&["a", "b"], HowItEnded::Dropped)
    else {
        panic!("not a dropped reply");
    };
    assert_eq!(chunks.len(), 3);
}

#[test]
fn without_a_reply_there_is_only_the_failure() {
    let failure = Failure::Cut { cause: "reset".into() };
    let heard = Heard::new(MODE);
    let secrets = Secrets::default();
    for (how, want) in [
        (HowItEnded::Refused(failure.clone()), Outcome::Failed(failure)),
        (HowItEnded::Dropped, Outcome::Dropped),
    ] {
        assert_eq!(outcome(TapeBody::default(), &heard, how, &secrets), want);
    }
}
