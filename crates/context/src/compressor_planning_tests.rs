//! Decisions of the compressor: when to compact, how much stays, and many compactions in a row.

use super::*;
use crate::{Keep, Past, SUMMARY_SECTIONS, Weights, Window, digest};
use hermes_conversation::{AssistantMessage, CallId, Message, SummaryBy, TokenCount, ToolCall};
use std::sync::Arc;

/// Turns of a thousand estimated tokens each.
fn turns(range: Range<usize>) -> Vec<Arc<Message>> {
    let turn = |n: usize| {
        let call =
            ToolCall::new(CallId::new(format!("c{n}")), "read_file", format!(r#"{{"path":"src/{n}.rs"}}"#));
        [
            Message::user(format!("request {n:05}")),
            Message::Assistant(AssistantMessage { calls: vec![call], ..Default::default() }),
            Message::tool(CallId::new(format!("c{n}")), "read_file", "x".repeat(3_750)),
            Message::assistant(format!("reply {n:05}")),
        ]
    };
    range.flat_map(turn).map(Arc::new).collect()
}

struct Session {
    engine: Compressor,
    history: Vec<Arc<Message>>,
    past: Past,
    keep: Keep,
    window: Window,
    scale: f64,
}

impl Session {
    fn new(turns_said: usize) -> Self {
        Self {
            engine: Compressor::default(),
            history: turns(0..turns_said),
            past: Past::default(),
            keep: Keep { pins: vec!["never push to main".into()], ..Keep::default() },
            window: Window { tokens: Some(200_000), output: None, summariser: Some(200_000) },
            scale: 1.0,
        }
    }

    fn with<T>(&self, trigger: Trigger, ask: impl FnOnce(&View<'_>) -> T) -> T {
        let weights = Weights::of(&self.history);
        ask(&View {
            history: &self.history,
            weights: &weights,
            fixed: 5_000,
            last: None,
            scale: self.scale,
            window: self.window,
            trigger,
            focus: None,
            past: &self.past,
            keep: &self.keep,
            nodes: &[],
            tools: &hermes_tools::KnownTools,
        })
    }

    fn plan(&self, trigger: Trigger) -> Decision {
        self.with(trigger, |view| self.engine.plan(view))
    }

    fn tokens(&self) -> u64 {
        self.with(Trigger::Loop, |view| view.tokens().value())
    }

    /// Compacts if that is due; a turn begins.
    fn compact(&mut self, answer: Answer<'_>) -> Option<Assembled> {
        let Decision::Shrink(plan) = self.plan(Trigger::Preflight) else { return None };
        let assembled =
            self.with(Trigger::Preflight, |view| self.engine.assemble(view, &plan, answer)).unwrap();
        self.history = assembled.messages.clone();
        self.past = Past {
            count: self.past.count + 1,
            digest: Some(digest(&self.history)),
            left: Some(assembled.after.value()),
            ..Past::default()
        };
        Some(assembled)
    }
}

fn good() -> String {
    let section = |name: &&str| format!("## {name}\nwhat a model says about {name}");
    SUMMARY_SECTIONS.iter().map(section).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn compaction_starts_at_the_threshold() {
    let shrinks = |session: &Session| matches!(session.plan(Trigger::Loop), Decision::Shrink(_));
    let (below, above) = (Session::new(140), Session::new(150));
    assert!(below.tokens() < 150_000 && above.tokens() > 150_000);
    assert_eq!(below.plan(Trigger::Loop), Decision::Leave);
    assert!(shrinks(&above));
    let written = CompressorSettings { threshold: Some(0.5), ..Default::default() };
    assert!(shrinks(&Session { engine: Compressor::new(written.clone()), ..Session::new(100) }));
    assert!(!shrinks(&Session { engine: Compressor::new(written), ..Session::new(90) }));
    assert!(shrinks(&Session { scale: 1.5, ..Session::new(100) }), "this model counts more");
    assert!(!shrinks(&Session { scale: 0.5, ..Session::new(200) }), "this model counts less");
}

#[test]
fn a_fifth_of_the_history_stays() {
    let session = Session::new(150);
    let Decision::Shrink(plan) = session.plan(Trigger::Loop) else { panic!("it is full") };
    let tail = Weights::of(&session.history[plan.replace.end..]).tokens(0..usize::MAX);
    let all = Weights::of(&session.history).tokens(0..usize::MAX);
    assert!(
        (all * 15 / 100..=all * 30 / 100).contains(&tail),
        "a fifth, give or take a turn: {tail} of {all}"
    );
    assert_eq!(plan.replace.start, 3);
    assert!(matches!(plan.before, TokenCount::Estimated(_)));
    assert_eq!(plan.question.unwrap().max_output_tokens, 15_000);
}

#[test]
fn manual_and_overflow_compaction_shrink_a_short_session() {
    for trigger in [Trigger::Manual, Trigger::Overflow] {
        let decision = Session::new(10).plan(trigger);
        assert!(matches!(&decision, Decision::Shrink(plan) if plan.replace.end > 20), "{decision:?}");
    }
    for trigger in [Trigger::Preflight, Trigger::Loop, Trigger::Hygiene] {
        assert_eq!(Session::new(10).plan(trigger), Decision::Leave);
    }
    assert!(
        matches!(Session::new(1).plan(Trigger::Manual), Decision::Stuck(why) if why.contains("too little"))
    );
}

#[test]
fn a_request_that_is_refused_again_is_cut_further() {
    let mut session = Session { window: Window::default(), ..Session::new(200) };
    let mut sizes = vec![session.tokens()];
    for _ in 0..2 {
        let Decision::Shrink(plan) = session.plan(Trigger::Overflow) else { panic!("{sizes:?}") };
        let assembled =
            session.with(Trigger::Overflow, |view| session.engine.assemble(view, &plan, Answer::NotAsked));
        session.history = assembled.unwrap().messages;
        session.past.in_this_turn += 1;
        sizes.push(session.tokens());
    }
    assert!(sizes[1] < sizes[0] / 2 && sizes[2] < sizes[1] / 2, "{sizes:?}");
}

#[test]
fn weights_that_lag_behind_do_no_harm() {
    let session = Session::new(150);
    let lagging = Weights::of(&session.history[..10]);
    session.with(Trigger::Manual, |view| {
        let view = View { weights: &lagging, ..*view };
        let Decision::Shrink(plan) = session.engine.plan(&view) else { panic!("it is full") };
        assert!(session.engine.assemble(&view, &plan, Answer::NotAsked).is_ok());
    });
}

#[test]
fn a_hundred_compactions_lose_no_pin_and_no_file_of_the_last_epoch() {
    let settings = CompressorSettings { threshold: Some(0.5), ..Default::default() };
    let window = Window { tokens: Some(40_000), output: None, summariser: Some(40_000) };
    let mut session = Session { engine: Compressor::new(settings), window, ..Session::new(0) };
    let (mut compactions, mut said, mut epoch) = (0, 0, 0);
    let good = good();
    while compactions < 100 {
        session.history.extend(turns(said..said + 2));
        said += 2;
        session.past.said_since += 50;
        let answer = match compactions % 7 {
            3 => Answer::Failed("timeout"),
            5 => Answer::Said { model: "m", text: "" },
            _ => Answer::Said { model: "m", text: &good },
        };
        let Some(assembled) = session.compact(answer) else { continue };
        compactions += 1;
        assert_eq!(matches!(assembled.by, SummaryBy::Model(_)), !matches!(compactions % 7, 4 | 6));
        assert!(session.tokens() < 16_000, "{}", session.tokens());
        let text: String = session.history.iter().map(|message| message.text()).collect();
        assert!(text.contains("never push to main"));
        // The first request and its call are still there themselves.
        for n in epoch.max(1)..said - 8 {
            assert!(text.contains(&format!("- src/{n}.rs\n")), "src/{n}.rs after compaction {compactions}");
        }
        epoch = said;
    }
    assert!((100 * 5..100 * 14).contains(&said), "one compaction in {} turns", said / 100);
}
