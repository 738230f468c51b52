//! Damaged streams: flipped bits, lost, doubled and foreign bytes, events out of order.

use super::memory::{self, Held};
use super::random::chunks;
use super::reading::{Outcome, Reader, read};
use super::recorded::Stream;
use hermes_conversation::RawJson;
use hermes_testkit::Random;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// One kind of damage. Positions are taken modulo the length, so that every number is valid.
#[derive(Debug, Clone)]
enum Harm {
    Flip {
        at: usize,
        bit: u8,
    },
    Delete {
        at: usize,
        len: usize,
    },
    Double {
        at: usize,
        len: usize,
    },
    Insert {
        at: usize,
        bytes: Vec<u8>,
    },
    /// Bytes with a meaning to one of the parsers.
    InsertWord {
        at: usize,
        word: usize,
    },
    /// Replaces a number or a keyword of the stream by another one.
    ReplaceWord {
        at: usize,
        word: usize,
    },
    SwapEvents {
        first: usize,
        second: usize,
    },
    RepeatEvent {
        from: usize,
        to: usize,
    },
    Cut {
        at: usize,
    },
}

const WORDS: &[&str] = &[
    "\n",
    "\r",
    "\n\n",
    "\r\n\r\n",
    "data: ",
    "data: {}\n\n",
    "data: [DONE]\n\n",
    "\"",
    "\\",
    "\\ud800",
    "\\udc00",
    "null",
    "{}",
    "[]",
    "[[[[[[[[",
    "0",
    "-1",
    "1e999",
    "18446744073709551615",
    "99999999999999999999",
    "\"\"",
    "\"error\":{\"message\":\"x\"},",
    "\"id\":\"call_7_0\",",
    "\"index\":5,",
    "\"output_index\":1,",
    "\"type\":\"tool_use\",",
    "\"type\":\"message_stop\",",
    "\"text\":\"to=functions.run \",",
    "\u{feff}",
    "é",
];

fn harm() -> impl Strategy<Value = Harm> {
    let (at, len, word) = (any::<usize>(), 1usize..200, 0..WORDS.len());
    prop_oneof![
        (at, 0u8..8).prop_map(|(at, bit)| Harm::Flip { at, bit }),
        (at, len.clone()).prop_map(|(at, len)| Harm::Delete { at, len }),
        (at, len).prop_map(|(at, len)| Harm::Double { at, len }),
        (at, prop::collection::vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Harm::Insert { at, bytes }),
        (at, word.clone()).prop_map(|(at, word)| Harm::InsertWord { at, word }),
        (at, word).prop_map(|(at, word)| Harm::ReplaceWord { at, word }),
        (at, at).prop_map(|(first, second)| Harm::SwapEvents { first, second }),
        (at, at).prop_map(|(from, to)| Harm::RepeatEvent { from, to }),
        at.prop_map(|at| Harm::Cut { at }),
    ]
}

impl Harm {
    fn befall(&self, bytes: &mut Vec<u8>) {
        let place = |at: &usize| at % (bytes.len() + 1);
        let span = |at: &usize, len: &usize| place(at)..(place(at) + len).min(bytes.len());
        match self {
            Self::Flip { at, bit } => {
                let at = place(at);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
            Self::Delete { at, len } => drop(bytes.drain(span(at, len))),
            Self::Double { at, len } => {
                let span = span(at, len);
                let copy = bytes[span.clone()].to_vec();
                drop(bytes.splice(span.end..span.end, copy));
            }
            Self::Insert { at, bytes: new } => insert(bytes, place(at), new),
            Self::InsertWord { at, word } => insert(bytes, place(at), WORDS[*word].as_bytes()),
            Self::ReplaceWord { at, word } => {
                let start = place(at);
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'"' | b'.');
                let len = bytes[start..].iter().take_while(|byte| is_word(byte)).count();
                drop(bytes.splice(start..start + len, WORDS[*word].bytes()));
            }
            Self::SwapEvents { first, second } => on_events(bytes, |events| {
                let count = events.len();
                events.swap(first % count, second % count);
            }),
            Self::RepeatEvent { from, to } => on_events(bytes, |events| {
                let copy = events[from % events.len()].clone();
                events.insert(to % (events.len() + 1), copy);
            }),
            Self::Cut { at } => bytes.truncate(place(at)),
        }
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    drop(bytes.splice(at..at, new.iter().copied()));
}

fn on_events(bytes: &mut Vec<u8>, change: impl FnOnce(&mut Vec<Vec<u8>>)) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut events: Vec<Vec<u8>> =
        text.split_inclusive("\n\n").map(|event| event.as_bytes().to_vec()).collect();
    if !events.is_empty() {
        change(&mut events);
        *bytes = events.concat();
    }
}

/// The invariants of every stream.
fn judge(stream: &Stream, cut_seed: u64) -> Result<Outcome, TestCaseError> {
    let (outcome, held) = memory::held(|| {
        let mut reader = Reader::new(stream.mode);
        reader.take(Some(&stream.bytes));
        reader
    });
    check_memory(stream, held)?;
    let outcome = outcome.finish();
    let mut random = Random::new(cut_seed);
    let most = [2, 40, 1_000][random.below(3)];
    let chunked = read(stream.mode, chunks(&mut random, &stream.bytes, most));
    prop_assert_eq!(&chunked, &outcome, "{} cut by {}", &stream.name, cut_seed);
    if let Ok(reply) = &outcome.end {
        check_reply(reply)?;
    }
    Ok(outcome)
}

fn check_memory(stream: &Stream, held: Held) -> Result<(), TestCaseError> {
    let fed = stream.bytes.len();
    // Spare capacity of a vector, a slot for an incomplete call, an incomplete line.
    prop_assert!(held.kept <= 6 * fed + 8_192, "kept {} of {fed} bytes", held.kept);
    prop_assert!(held.peak <= 12 * fed + 16_384, "took {} for {fed} bytes", held.peak);
    Ok(())
}

fn check_reply(reply: &hermes_wire::Reply) -> Result<(), TestCaseError> {
    let calls = &reply.message.calls;
    prop_assert_eq!(calls.len(), reply.calls.len());
    for (place, (call, state)) in calls.iter().zip(&reply.calls).enumerate() {
        prop_assert!(!call.id.as_str().is_empty() && !call.name.is_empty());
        prop_assert!(calls[..place].iter().all(|earlier| earlier.id != call.id), "two calls of one id");
        if state.may_run() {
            let is_json = RawJson::parse(&call.arguments).is_some();
            prop_assert!(is_json, "{:?} may run with {:?}", state, &call.arguments);
        }
    }
    Ok(())
}

#[derive(Default)]
struct Tally {
    cases: Cell<u64>,
    replies: Cell<u64>,
}

fn run(cases: u32, streams: &[Stream], tally: &Tally) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let given = (0..streams.len(), prop::collection::vec(harm(), 1..10), any::<u64>());
    let done = TestRunner::new(config).run(&given, |(place, harms, seed)| {
        let mut stream = streams[place].clone();
        harms.iter().for_each(|harm| harm.befall(&mut stream.bytes));
        let outcome = judge(&stream, seed)?;
        tally.cases.set(tally.cases.get() + 1);
        tally.replies.set(tally.replies.get() + u64::from(outcome.end.is_ok()));
        Ok(())
    });
    if let Err(error) = done {
        panic!("{error}");
    }
}

#[test]
fn broken_streams_are_read_or_refused() {
    let streams = super::all();
    let tally = Tally::default();
    let seconds = std::env::var("HERMES_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    match seconds.map(Duration::from_secs) {
        None => run(2_000, &streams, &tally),
        Some(time) => {
            let start = Instant::now();
            while start.elapsed() < time {
                run(2_000, &streams, &tally);
            }
        }
    }
    // Damage that always ends the stream would test nothing.
    let (cases, replies) = (tally.cases.get(), tally.replies.get());
    assert!(replies * 20 > cases, "only {replies} of {cases} broken streams were still replies");
    if seconds.is_some() {
        println!("{cases} broken streams, {replies} of them still replies");
    }
}
