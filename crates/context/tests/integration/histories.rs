//! Invariants of every history, tested on many that come from a seed.
//!
//! `HERMES_HISTORIES` says on how many; `HERMES_HISTORY_SEED` repeats one.

mod made;
mod unseen;
mod wire;

use crate::record::Record;
use hermes_context::{
    Answer, Assembled, Compressor, CompressorSettings, ContextEngine, Decision, Keep, Last, Lossless,
    LosslessSettings, Past, Plan, View, Weights, Window, digest,
};
use hermes_conversation::{Content, Message, Node, SummaryBy, Trigger, UserMessage, repair};
use hermes_testkit::Random;
use made::{answer, grown};
use std::sync::Arc;

const THREADS: u64 = 2;

#[derive(Default, Debug, Clone, Copy)]
struct Seen {
    /// Each is planned once or, after a refusal, up to three times.
    histories: u64,
    shrunk: u64,
    by_model: u64,
    cut_in_a_turn: u64,
    /// Results that the model had not seen stayed although the end became heavy by them.
    unseen: u64,
    /// Summaries of summaries.
    parents: u64,
    left: u64,
    stuck: u64,
    /// Shrunk where the provider had counted some of it.
    measured: u64,
    /// Shrunk although compactions had been in vain.
    refused_in_trouble: u64,
    /// Compacted without a summary, with a count of the summarised messages.
    counted: u64,
}

#[test]
fn every_history_stays_whole_with_the_compressor() {
    println!("{}", try_many(Which::Compressor));
}

#[test]
fn every_history_stays_whole_with_the_lossless_engine() {
    println!("{}", try_many(Which::Lossless));
}

#[test]
fn every_history_stays_whole_when_engines_take_over_from_each_other() {
    println!("{}", try_many(Which::InTurn));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Compressor,
    Lossless,
    InTurn,
}

/// The counts of the run.
fn try_many(which: Which) -> String {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    if let Some(seed) = number("HERMES_HISTORY_SEED") {
        let mut seen = Seen::default();
        session(which, seed, &mut seen);
        return format!("{which:?}: {seen:?}");
    }
    let count = number("HERMES_HISTORIES").unwrap_or(400);
    let run = |part: u64| {
        let mut seen = Seen::default();
        let mut seeds = (0..).filter(|seed| seed % THREADS == part);
        while seen.histories * THREADS < count {
            session(which, seeds.next().unwrap(), &mut seen);
        }
        seen
    };
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|part| scope.spawn(move || run(part))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let sum = |of: fn(&Seen) -> u64| seen.iter().map(of).sum::<u64>();
    // The cases must really occur, or this test says nothing.
    assert!(sum(|seen| seen.shrunk) > count / 3, "{seen:?}");
    assert!(sum(|seen| seen.by_model) > count / 10, "{seen:?}");
    assert!(sum(|seen| seen.cut_in_a_turn) > count / 50, "{seen:?}");
    assert!(sum(|seen| seen.left) > 0 && sum(|seen| seen.stuck) > 0, "{seen:?}");
    assert!(sum(|seen| seen.unseen) > 0, "{seen:?}");
    assert!(sum(|seen| seen.counted) > 0, "{seen:?}");
    assert!(sum(|seen| seen.measured) > 0 && sum(|seen| seen.refused_in_trouble) > 0, "{seen:?}");
    assert_eq!(sum(|seen| seen.parents) > 0, which != Which::Compressor, "{seen:?}");
    format!("{which:?}: {seen:?}")
}

/// The parameters of a session around a history.
struct Around {
    compressor: Compressor,
    lossless: Lossless,
    which: Which,
    record: Record,
    keep: Keep,
    window: Window,
    scale: f64,
    fixed: u64,
    past: Past,
    /// The provider's count for the beginning of the history.
    last: Option<Last>,
    focus: Option<String>,
}

impl Around {
    fn engine(&self) -> &dyn ContextEngine {
        let is_lossless = match self.which {
            Which::Compressor => false,
            Which::Lossless => true,
            Which::InTurn => self.past.count % 2 == 1,
        };
        if is_lossless { &self.lossless } else { &self.compressor }
    }

    fn nodes(&self) -> &[Node] {
        &self.record.nodes
    }

    fn view<'a>(&'a self, history: &'a [Arc<Message>], weights: &'a Weights, trigger: Trigger) -> View<'a> {
        View {
            history,
            weights,
            fixed: self.fixed,
            last: self.last,
            scale: self.scale,
            window: self.window,
            trigger,
            focus: self.focus.as_deref(),
            past: &self.past,
            keep: &self.keep,
            nodes: self.nodes(),
            tools: &hermes_tools::KnownTools,
        }
    }
}

fn around(which: Which, random: &mut Random) -> Around {
    let written = |random: &mut Random| random.once_in(2).then(|| random.fraction());
    let items = |random: &mut Random, what: &str| {
        (0..random.below(3)).map(|n| format!("{what} {n}: {}", made::words(random, 8))).collect()
    };
    let settings = CompressorSettings {
        threshold: written(random),
        protect_last_n: random.once_in(3).then(|| random.below(20)),
        target_ratio: random.fraction(),
        protect_first_n: random.below(5),
        hygiene_hard_message_limit: random.below(60),
        ..Default::default()
    };
    Around {
        lossless: Lossless::new(LosslessSettings {
            compression: settings.clone(),
            fan_out: settings.protect_first_n,
            summary_tokens: (settings.protect_first_n == 2).then_some(300),
            extractive: settings.protect_first_n == 3,
        }),
        compressor: Compressor::new(settings),
        which,
        record: Record::default(),
        keep: Keep {
            todos: items(random, "todo"),
            pins: items(random, "pin"),
            memory: random.once_in(4).then(|| made::words(random, 20)),
        },
        window: Window {
            tokens: Some(1_000 + random.below(12_000) as u64),
            output: random.once_in(3).then(|| random.below(2_000) as u64),
            summariser: (!random.once_in(5)).then(|| random.below(20_000) as u64),
        },
        scale: 0.5 + random.fraction() * 1.5,
        fixed: random.below(2_000) as u64,
        past: Past::default(),
        last: None,
        focus: random.once_in(4).then(|| made::words(random, 5)),
    }
}

/// A possible count of the provider: never quite the estimate.
fn counted(random: &mut Random, around: &Around, history: &[Arc<Message>]) -> Option<Last> {
    let messages = random.below(history.len() + 1);
    let estimate = around.fixed + Weights::of(history).tokens(0..messages);
    let prompt_tokens = (estimate as f64 * around.scale * (0.7 + random.fraction() * 0.6)) as u64;
    random.once_in(2).then_some(Last { prompt_tokens, messages })
}

/// Compactions that did not help, or had no model; now and then so many that none is made by itself.
fn troubled(random: &mut Random, past: &mut Past) {
    past.ineffective = if random.once_in(6) { random.below(3) as u32 } else { 0 };
    past.fallbacks = if random.once_in(6) { random.below(3) as u32 } else { 0 };
    past.resting = random.once_in(12).then(|| "the last summary failed; wait".to_owned());
}

fn session(which: Which, seed: u64, seen: &mut Seen) {
    let mut random = Random::new(seed);
    let mut around = around(which, &mut random);
    let mut history = Vec::new();
    for epoch in 0..if seed.is_multiple_of(50) { 12 } else { 3 } {
        let turns = random.below(7) + 1;
        history = grown(&mut random, &history, turns);
        around.record.follow(&history);
        seen.histories += 1;
        let triggers =
            [Trigger::Preflight, Trigger::Loop, Trigger::Overflow, Trigger::Manual, Trigger::Hygiene];
        let trigger = *random.pick(&triggers);
        around.past.in_this_turn = 0;
        around.last = counted(&mut random, &around, &history);
        troubled(&mut random, &mut around.past);
        let mut rounds = 0;
        while let Some(assembled) = compact(&mut random, &around, &history, trigger, seen, seed) {
            around.record.compact(&assembled);
            around.record.check();
            around.past = Past {
                count: around.past.count + 1,
                in_this_turn: around.past.in_this_turn + 1,
                digest: Some(digest(&assembled.messages)),
                left: Some(assembled.after.value()),
                said_since: 0,
                ..Past::default()
            };
            around.last = None;
            history = assembled.messages;
            rounds += 1;
            let is_done = trigger != Trigger::Overflow || rounds == 3;
            if is_done {
                let weights = Weights::of(&history);
                let again = around.engine().plan(&around.view(&history, &weights, trigger));
                assert!(!matches!(again, Decision::Shrink(_)), "seed {seed}, epoch {epoch}: {again:?}");
                break;
            }
        }
        around.past.said_since = 100;
    }
    seen.parents += around.nodes().iter().filter(|node| node.level > 0).count() as u64;
}

fn compact(
    random: &mut Random,
    around: &Around,
    history: &[Arc<Message>],
    trigger: Trigger,
    seen: &mut Seen,
    seed: u64,
) -> Option<Assembled> {
    let weights = Weights::of(history);
    let view = around.view(history, &weights, trigger);
    let plan = match around.engine().plan(&view) {
        Decision::Leave => {
            seen.left += 1;
            return None;
        }
        Decision::Stuck(why) => {
            assert!(why.contains(';') && !why.ends_with('.'), "{why}");
            seen.stuck += 1;
            return None;
        }
        Decision::Shrink(plan) => plan,
    };
    seen.shrunk += 1;
    let said;
    let answer = match &plan.question {
        None => Answer::NotAsked,
        Some(_) if random.once_in(10) => Answer::Failed("nobody answered"),
        Some(question) => {
            if let Some(window) = around.window.summariser {
                let asked =
                    Weights::of(&[Arc::new(Message::user(format!("{}{}", question.system, question.text)))]);
                let tokens = (asked.tokens(0..1) as f64 * around.scale) as u64;
                assert!(tokens <= window, "seed {seed}: {tokens} do not fit into {window}");
            }
            said = self::answer(random, question.max_output_tokens);
            Answer::Said { model: "m", text: &said }
        }
    };
    let assembled = around.engine().assemble(&view, &plan, answer);
    let assembled = assembled.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    if view.last.is_none() {
        seen.unseen += u64::from(unseen::check(around, &view, &plan, seed));
    }
    seen.measured += u64::from(view.last.is_some());
    seen.refused_in_trouble += u64::from(around.past.fallbacks > 1);
    seen.by_model += u64::from(matches!(assembled.by, SummaryBy::Model(_)));
    check(around, history, &plan, &assembled, seen, seed);
    Some(assembled)
}

fn check(
    around: &Around,
    history: &[Arc<Message>],
    plan: &Plan,
    assembled: &Assembled,
    seen: &mut Seen,
    seed: u64,
) {
    let messages = &assembled.messages;
    let weight = |messages: &[Arc<Message>]| Weights::of(messages).tokens(0..messages.len());
    assert!(weight(messages) < weight(history), "seed {seed}: not smaller");
    assert!(
        assembled.after.value() < plan.before.value(),
        "seed {seed}: {:?} {:?}",
        assembled.after,
        plan.before
    );
    let plain: Vec<Message> = messages.iter().map(|message| (**message).clone()).collect();
    assert_eq!(repair(plain.clone()), plain, "seed {seed}: needs repair");
    // Repair would hide a call that lost its results, so the cut itself is looked at.
    for place in [plan.replace.start, plan.replace.end] {
        let is_result = history.get(place).is_some_and(|message| matches!(**message, Message::Tool(_)));
        assert!(!is_result, "seed {seed}: a result is cut off at {place}");
    }
    let tail = assembled.tail;
    if matches!(history.last().map(|last| &**last), Some(Message::Assistant(last)) if last.calls.is_empty()) {
        assert_eq!(messages.last(), history.last(), "seed {seed}: a request that was answered looks open");
    }
    assert_eq!(messages[messages.len() - tail..], history[history.len() - tail..], "seed {seed}");
    // Where nobody wrote a summary more may stay, and is cut as carefully.
    let is_fallback = matches!(assembled.by, SummaryBy::Fallback { .. });
    assert!(tail <= history.len() - plan.replace.end || is_fallback, "seed {seed}");
    assert_eq!(assembled.nodes.iter().filter(|node| node.children.is_empty()).count(), 1);
    let text: String = messages.iter().map(|message| plain_text(message)).collect();
    // Nobody planned that cut, and repair hides a result that lost its call: each is put away or there.
    if let Some(put_away) = results_put_away(&text) {
        assert_eq!(put_away + results(messages), results(history), "seed {seed}: a result is cut off");
        seen.counted += u64::from(is_fallback);
    }
    for kept in around.keep.pins.iter() {
        assert!(text.contains(kept), "seed {seed}: {kept} is lost");
    }
    for todo in around.keep.todos.iter() {
        let line = todo.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("\n- {line}")), "seed {seed}: {line} is lost");
    }
    assert_eq!(assembled.kept.todos, around.keep.todos.len() as u64);
    if let Some(newest) = newest_user(history) {
        let place = messages.iter().rposition(|message| matches!(**message, Message::User(_))).unwrap();
        assert!(is_verbatim(&messages[place], newest), "seed {seed}: {newest:?}\n{:?}", messages[place]);
        seen.cut_in_a_turn += u64::from(plan.replace.end > history.len() - 1 - after_newest(history));
    }
    if seed.is_multiple_of(8) {
        wire::accepted(history, messages, seed);
    }
}

fn results(messages: &[Arc<Message>]) -> usize {
    messages.iter().filter(|message| matches!(***message, Message::Tool(_))).count()
}

/// The number of results that excerpts say they cover.
fn results_put_away(text: &str) -> Option<usize> {
    let (_, index) = text.split_once("No model wrote this summary; it consists of excerpts. ")?;
    let (before, _) = index.split_once(" results of tools.")?;
    before.rsplit(' ').next()?.parse().ok()
}

fn newest_user(history: &[Arc<Message>]) -> Option<&UserMessage> {
    history.iter().rev().find_map(|message| match &**message {
        Message::User(user) => Some(user),
        _ => None,
    })
}

fn after_newest(history: &[Arc<Message>]) -> usize {
    history.iter().rev().take_while(|message| !matches!(***message, Message::User(_))).count()
}

fn plain_text(message: &Message) -> String {
    match message {
        Message::User(UserMessage { content: Content::Parts(raw), .. }) => {
            let parts: Vec<serde_json::Value> = serde_json::from_str(raw.as_str()).unwrap();
            parts.iter().filter_map(|part| part["text"].as_str()).collect()
        }
        other => other.text().to_owned(),
    }
}

/// Returns true if the message is the given one, or ends with it. It may itself follow a summary.
fn is_verbatim(message: &Message, said: &UserMessage) -> bool {
    let Message::User(user) = message else { return false };
    let own = |text: &str| -> String {
        let end = text.rfind(": what follows is newer ---\n\n");
        end.map_or(text, |end| &text[end + ": what follows is newer ---\n\n".len()..]).to_owned()
    };
    let sent = match (&user.api_content, &said.api_content) {
        (Some(user), Some(said)) => user.ends_with(&own(said)),
        (user, said) => user.is_none() && said.is_none(),
    };
    sent && match (&user.content, &said.content) {
        (Content::Text(text), Content::Text(said)) => text.ends_with(&own(said)),
        (Content::Parts(parts), Content::Parts(said)) => {
            let list = |raw: &str| serde_json::from_str::<Vec<serde_json::Value>>(raw).unwrap();
            parts == said || list(parts.as_str()).ends_with(&list(said.as_str())[1..])
        }
        _ => false,
    }
}
