//! Streams of every mode, well formed, odd and broken: however the bytes are cut, the same reply
//! or the same error comes out, and nothing that a server sends makes the reader panic or hoard.
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
fn every_stream_says_what_it_should() {
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
fn what_is_shown_on_the_way_is_the_reply() {
    for stream in recorded::ordinary() {
        let outcome = whole(&stream);
        assert_eq!(outcome.shown_text(), outcome.end.as_ref().unwrap().message.text, "{}", stream.name);
    }
}

#[test]
fn the_way_the_bytes_are_cut_does_not_matter() {
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
