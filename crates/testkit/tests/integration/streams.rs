//! Streams of every format, valid, odd and damaged: the reply or error does not depend on the chunks, and no
//! stream causes a panic or high memory use.
//!
//! `HERMES_FUZZ_SECONDS=120 cargo test --release -p hermes-testkit --test integration streams::broken` breaks
//! streams at random for that long.

mod broken;
mod hostile;
mod memory;
mod odd;
mod random;
mod reading;
mod recorded;

use hermes_testkit::Random;
use random::chunks;
use reading::{Outcome, read};
use recorded::Stream;

fn all() -> Vec<Stream> {
    [recorded::ordinary(), recorded::reframed(), odd::odd()].concat()
}

fn whole(stream: &Stream) -> Outcome {
    read(stream.mode, [&stream.bytes[..]])
}

#[test]
fn every_stream_gives_its_expected_reply() {
    let mut wrong = Vec::new();
    for stream in all() {
        let said = whole(&stream).in_short();
        if said != stream.want {
            wrong.push(format!("{}:\n   said {said}\n wanted {}", stream.name, stream.want));
        }
    }
    assert!(wrong.is_empty(), "{} streams are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn streamed_text_equals_the_reply() {
    for stream in recorded::ordinary() {
        let outcome = whole(&stream);
        assert_eq!(outcome.shown_text(), outcome.end.as_ref().unwrap().message.text, "{}", stream.name);
    }
}

#[test]
fn result_does_not_depend_on_chunks() {
    let cuttings = if cfg!(debug_assertions) { 200 } else { 1_000 };
    for stream in all() {
        let want = whole(&stream);
        assert_eq!(read(stream.mode, stream.bytes.chunks(1)), want, "{}, byte by byte", stream.name);
        for seed in 0..cuttings {
            let mut random = Random::new(seed);
            let most = [3, 16, 100, 1_000, stream.bytes.len()][random.below(5)];
            let chunks = chunks(&mut random, &stream.bytes, most);
            assert_eq!(read(stream.mode, chunks), want, "{}, cut by seed {seed}", stream.name);
        }
    }
}
