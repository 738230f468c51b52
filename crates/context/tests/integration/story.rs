//! A long conversation with facts at random places.

use hermes_context::Weights;
use hermes_conversation::{AssistantMessage, CallId, Message, ToolCall};
use hermes_testkit::Random;
use std::sync::Arc;

const WORDS: [&str; 14] = [
    "the", "build", "reads", "every", "table", "then", "joins", "rows", "by", "time", "and", "writes",
    "logs", "later",
];
/// Messages of a turn.
const TURN: usize = 4;

pub(crate) struct Story {
    pub(crate) messages: Vec<Arc<Message>>,
    /// The place of a fact, and a text that nothing else contains.
    pub(crate) needles: Vec<(usize, String)>,
    pub(crate) tokens: u64,
    paths: Vec<Vec<String>>,
}

impl Story {
    /// The files that a message names.
    pub(crate) fn paths(&self, place: usize) -> &[String] {
        &self.paths[place]
    }
}

/// The number of tokens and of facts.
pub(crate) fn numbers() -> (u64, usize) {
    let number = |name: &str, usual: u64| {
        std::env::var(name).ok().map_or(usual, |text| text.replace(['_', ','], "").parse().unwrap())
    };
    (number("HERMES_NEEDLE_TOKENS", 100_000), number("HERMES_NEEDLES", 50) as usize)
}

/// A conversation of about so many tokens.
pub(crate) fn story(tokens: u64, needles: usize) -> Story {
    let mut random = Random::new(7);
    // A turn has about this many tokens, so facts can be spread before the words are written.
    let turns = (tokens / 800).max(8) as usize;
    let mut places: Vec<usize> = Vec::new();
    while places.len() < needles.min(turns * TURN) {
        let place = random.below(turns * TURN);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let facts: Vec<String> =
        (0..places.len()).map(|n| format!("the key of vault {n} is {:08x}", n * 7_919 + 13)).collect();
    let mut story = Story { messages: vec![], needles: vec![], tokens: 0, paths: vec![] };
    for turn in 0..turns {
        for (place, (message, paths)) in (turn * TURN..).zip(make_turn(&mut random, turn, &places, &facts)) {
            if let Some(fact) = places.iter().position(|at| *at == place) {
                story.needles.push((place, facts[fact].clone()));
            }
            story.messages.push(Arc::new(message));
            story.paths.push(paths);
        }
    }
    story.tokens = Weights::of(&story.messages).tokens(0..story.messages.len());
    story
}

fn words(random: &mut Random, count: usize) -> String {
    (0..count).map(|_| *random.pick(&WORDS)).collect::<Vec<_>>().join(" ")
}

fn make_turn(
    random: &mut Random,
    turn: usize,
    places: &[usize],
    facts: &[String],
) -> [(Message, Vec<String>); TURN] {
    let path = |random: &mut Random| format!("src/area{}/part{}.rs", random.below(20), random.below(15));
    let mut told = |step: usize, most: usize| {
        let before = words(random, most / 2);
        let fact = places.iter().position(|at| *at == turn * TURN + step);
        let fact = fact.map(|fact| format!(" {} ", facts[fact])).unwrap_or_default();
        let count = random.below(most) + 1;
        format!("{before}{fact}{}", words(random, count))
    };
    let (asked, called, result, replied) = (told(0, 40), told(1, 20), told(2, 500), told(3, 60));
    let (seen, used) = (path(random), path(random));
    let id = CallId::new(format!("call_{turn}"));
    let arguments = serde_json::json!({"path": used, "note": called}).to_string();
    let calls = vec![ToolCall::new(id.clone(), "read_file", arguments)];
    let calling = AssistantMessage { calls, ..Default::default() };
    [
        (Message::user(format!("In {seen}: {asked}")), vec![seen]),
        (Message::Assistant(calling), vec![used]),
        (Message::tool(id, "read_file", result), vec![]),
        (Message::assistant(replied), vec![]),
    ]
}
