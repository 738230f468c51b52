//! Facts at random places of long conversations, looked for after 1, 5 and 20 compactions.
//!
//! `HERMES_NEEDLE_TOKENS` and `HERMES_NEEDLES` say how long and how many.

use crate::record::Record;
use crate::story::{Story, numbers, story};
use hermes_context::{
    Answer, Assembled, Compressor, ContextEngine, Decision, Keep, Lossless, LosslessSettings, Past,
    SUMMARY_HEADING, SUMMARY_SECTIONS, View, Weights, Window, digest,
};
use hermes_conversation::{Message, MessageId, Trigger};
use std::sync::Arc;

const WINDOW: Window = Window { tokens: Some(200_000), output: None, summariser: Some(200_000) };

/// A conversation that goes on.
struct Session {
    record: Record,
    past: Past,
    keep: Keep,
    window: Window,
}

impl Session {
    fn new(window: Window) -> Self {
        let keep = Keep {
            todos: vec!["[3] write the migration (pending)".into()],
            pins: vec!["never touch\n  the `legacy/` folder".into(), "answer in Latin".into()],
            memory: None,
        };
        Self { record: Record::default(), past: Past::default(), keep, window }
    }

    fn look<T>(&self, history: &[Arc<Message>], with: impl FnOnce(&View<'_>) -> T) -> T {
        let weights = Weights::of(history);
        with(&View {
            history,
            weights: &weights,
            fixed: 2_000,
            last: None,
            scale: 1.0,
            window: self.window,
            trigger: Trigger::Manual,
            focus: None,
            past: &self.past,
            keep: &self.keep,
            nodes: &self.record.nodes,
            tools: &hermes_tools::KnownTools,
        })
    }

    fn compact(&mut self, engine: &dyn ContextEngine, said: Option<&str>) -> Assembled {
        let history = self.record.history();
        let assembled = self.look(&history, |view| {
            let Decision::Shrink(plan) = engine.plan(view) else { panic!("{:?}", engine.plan(view)) };
            let answer = match (said, &plan.question) {
                (Some(text), Some(_)) => Answer::Said { model: "m", text },
                _ => Answer::NotAsked,
            };
            engine.assemble(view, &plan, answer).unwrap()
        });
        self.record.compact(&assembled);
        self.record.check();
        let digest = Some(digest(&assembled.messages));
        self.past = Past { count: self.past.count + 1, digest, ..Past::default() };
        assembled
    }

    /// Plays the story with so many compactions in it, the last one at its end; returns the messages since
    /// the one before.
    fn live(&mut self, engine: &dyn ContextEngine, story: &Story, compactions: usize) -> Vec<MessageId> {
        let mut epoch = Vec::new();
        for part in 0..compactions {
            let end = |part: usize| story.messages.len() * part / compactions;
            let said = story.messages[end(part)..end(part + 1)].iter();
            epoch = said.map(|message| self.record.say(message.clone())).collect();
            // A model that forgets everything must not matter.
            let forgetful = forgetful();
            self.compact(engine, (part % 2 == 0).then_some(&forgetful));
        }
        epoch
    }

    /// Everything that is sent, as text.
    fn sent(&self) -> String {
        self.record.history().iter().map(|message| format!("{message:?}\n{}\n", message.text())).collect()
    }

    fn summary(&self) -> String {
        let history = self.record.history();
        let found = history.iter().filter(|message| message.text().starts_with(SUMMARY_HEADING));
        let texts: Vec<&str> = found.map(|message| message.text()).collect();
        assert_eq!(texts.len(), 1);
        texts[0].split_once(": what follows is newer ---").unwrap().0.to_owned()
    }
}

fn forgetful() -> String {
    let section = |name: &&str| format!("## {name}\nSomething was talked about.");
    SUMMARY_SECTIONS.iter().map(section).collect::<Vec<_>>().join("\n\n")
}

/// The contents of a summary message: numbers of summaries, and the messages they cover.
#[derive(Debug, Default)]
struct Named {
    /// Number, first and last message.
    alone: Vec<(u32, i64, i64)>,
    /// First and last number, first and last message.
    ranges: Vec<(u32, u32, i64, i64)>,
    newest: u32,
}

fn named(summary: &str) -> Named {
    let mut named = Named::default();
    for line in summary.lines() {
        let Some((name, rest)) = line.split_once(" (").filter(|_| line.starts_with("- Summar")) else {
            if let Some(rest) = line.strip_prefix("### Summary ") {
                named.newest = rest.split_once(',').unwrap().0.parse().unwrap();
            }
            continue;
        };
        let ids = rest.split_once("messages ").unwrap().1.split_once(')').unwrap().0;
        let (first, last) = ids.split_once(" to ").unwrap();
        let (first, last) = (first.parse().unwrap(), last.parse().unwrap());
        match name.strip_prefix("- Summaries ").map(|numbers| numbers.split_once(" to ").unwrap()) {
            Some((from, to)) => {
                named.ranges.push((from.parse().unwrap(), to.parse().unwrap(), first, last));
            }
            None => {
                let number = name.strip_prefix("- Summary ").unwrap().parse().unwrap();
                named.alone.push((number, first, last));
            }
        }
    }
    named
}

/// The leaf that a model finds which starts from what it is shown and follows the outline.
fn located(record: &Record, named: &Named, id: MessageId) -> Option<u32> {
    let covers = |number: u32| (record.node(number).first..=record.node(number).last).contains(&id);
    if covers(named.newest) {
        return Some(named.newest);
    }
    let shown = named.alone.iter().find(|(_, first, last)| (*first..=*last).contains(&id.0));
    let mut number = match shown {
        Some((number, first, last)) => {
            let node = record.node(*number);
            assert_eq!((node.first.0, node.last.0), (*first, *last), "what is shown is what is recorded");
            *number
        }
        None => {
            let (from, to, ..) =
                named.ranges.iter().find(|(_, _, first, last)| (*first..=*last).contains(&id.0))?;
            let in_range = record.nodes.iter().filter(|node| (*from..=*to).contains(&node.number));
            in_range.filter(|node| covers(node.number)).max_by_key(|node| node.level)?.number
        }
    };
    while record.node(number).level > 0 {
        number = *record.node(number).children.iter().find(|child| covers(**child))?;
    }
    Some(number)
}

#[test]
fn the_lossless_engine_reaches_every_fact() {
    let (tokens, needles) = numbers();
    let story = story(tokens, needles);
    for (compactions, extractive) in [(1, true), (5, true), (20, true), (20, false)] {
        let engine = Lossless::new(LosslessSettings { extractive, ..Default::default() });
        let mut session = Session::new(WINDOW);
        session.live(&engine, &story, compactions);
        let named = named(&session.summary());
        let sent = session.sent();
        let (mut in_view, mut through_tree) = (0, 0);
        for (place, fact) in &story.needles {
            if sent.contains(fact) {
                in_view += 1;
            }
            let id = MessageId(*place as i64 + 1);
            let is_covered = session.record.nodes.iter().any(|node| node.last >= id);
            if !is_covered {
                assert!(sent.contains(fact), "{fact} is neither sent nor summarised");
                continue;
            }
            let leaf = located(&session.record, &named, id).unwrap_or_else(|| panic!("{fact}: {named:?}"));
            let leaf = session.record.node(leaf);
            let read = &session.record.originals[leaf.first.0 as usize - 1..leaf.last.0 as usize];
            assert!(read.iter().any(|message| format!("{message:?}").contains(fact)), "{fact}");
            through_tree += 1;
        }
        println!(
            "lossless: {} tokens, {} messages, {} facts, {compactions} compactions, extractive {extractive}: \
             {through_tree} through the tree, {in_view} already in view, {} nodes, {} named",
            story.tokens,
            story.messages.len(),
            story.needles.len(),
            session.record.nodes.len(),
            named.alone.len() + named.ranges.len() + 1,
        );
        assert!(through_tree > story.needles.len() / 2, "most facts must have been summarised");
    }
}

#[test]
fn the_compressor_keeps_pins_todos_and_files_of_the_last_epoch() {
    let (tokens, needles) = numbers();
    let story = story(tokens, needles);
    for compactions in [1, 5, 20] {
        let mut session = Session::new(WINDOW);
        let epoch = session.live(&Compressor::default(), &story, compactions);
        let summary = session.summary();
        for kept in session.keep.pins.iter().chain(&session.keep.todos) {
            assert!(summary.contains(kept), "{compactions}: {kept} is lost");
        }
        let sent = session.sent();
        let mut files = 0;
        for id in &epoch {
            for path in story.paths(id.0 as usize - 1) {
                assert!(sent.contains(path), "{compactions}: {path} is lost");
                files += 1;
            }
        }
        assert!(files > 0);
        println!(
            "compressor: {} tokens, {} messages, {compactions} compactions: {files} mentions of files in the \
             last epoch kept",
            story.tokens,
            story.messages.len()
        );
    }
}

#[test]
fn a_thousand_compactions_stay_within_the_budget() {
    let story = story(700_000, 10);
    for (window, fan_out, count) in [(200_000, 6, 100), (16_000, 6, 1_000), (16_000, 3, 100)] {
        let engine =
            Lossless::new(LosslessSettings { extractive: true, fan_out, ..LosslessSettings::default() });
        let mut session = Session::new(Window { tokens: Some(window), ..WINDOW });
        let (mut compactions, mut most, mut most_named) = (0_usize, 0, 0);
        let mut messages = story.messages.iter().cycle();
        while compactions < count {
            // Enough that something is gained.
            let is_enough = |session: &Session| {
                let history = session.record.history();
                Weights::of(&history).tokens(0..history.len()) > most + 4_000
            };
            while !is_enough(&session) {
                for message in messages.by_ref().take(4) {
                    session.record.say(message.clone());
                }
            }
            session.compact(&engine, None);
            compactions += 1;
            let summary = session.summary();
            let tokens = Weights::of(&[Arc::new(Message::user(&*summary))]).tokens(0..1);
            let history = session.record.history();
            let budget = session.look(&history, |view| engine.budget(view)).max(700);
            assert!(tokens <= budget, "{window}, {compactions}: {tokens} of {budget}");
            let named = named(&summary);
            let levels = compactions.ilog(fan_out) as usize + 1;
            let count = named.alone.len() + named.ranges.len();
            assert!(count <= fan_out * levels + 1, "{compactions}: {count}");
            (most, most_named) = (most.max(tokens), most_named.max(count));
        }
        println!(
            "{compactions} compactions in a window of {window}: at most {most} tokens and {most_named} \
             summaries in the message, {} recorded",
            session.record.nodes.len()
        );
    }
}
