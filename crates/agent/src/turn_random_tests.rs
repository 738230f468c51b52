//! Turns against a world that does anything it may: they end within their budgets, and nothing that
//! helps once is tried twice.
//!
//! `HERMES_TURNS=1000000 cargo test --release -p hermes-agent random` plays a million of them.

use super::*;
use crate::recovery::Remedy;
use hermes_conversation::{AssistantMessage, CallId, Quirk, ToolCall};
use hermes_testkit::Random;

fn reply(dice: &mut Random) -> Box<Reply> {
    let finish = *dice.pick(&[
        FinishReason::Stop,
        FinishReason::ToolCalls,
        FinishReason::Length,
        FinishReason::Incomplete,
        FinishReason::ContentFilter,
    ]);
    let states = [CallState::Complete, CallState::Repaired, CallState::Truncated, CallState::Malformed];
    let count = dice.below(3);
    let names = ["terminal", "todo", "nobody_has_it"];
    let call =
        |n: usize, dice: &mut Random| ToolCall::new(CallId::new(format!("c{n}")), *dice.pick(&names), "{}");
    let message = AssistantMessage {
        text: (*dice.pick(&["", " ", "words"])).to_owned(),
        calls: (0..count).map(|n| call(n, dice)).collect(),
        ..AssistantMessage::default()
    };
    let calls = (0..count).map(|_| dice.pick(&states).clone()).collect();
    Box::new(Reply { message, calls, finish, usage: None, bill: Default::default() })
}

/// Returns an event that may follow a step. Faults are frequent, so that budgets are used up.
fn follows(step: &Step, dice: &mut Random) -> Event {
    let lost = || Event::StoreFailed(hermes_conversation::RecordError::Store { cause: "full".into() });
    match (step, dice.below(40)) {
        (Step::CallModel(_) | Step::Apply(_), 0) => Event::Cancelled(When::CallingModel),
        (Step::RunTools(_), 0) => Event::Cancelled(When::RunningTools),
        (_, 1) => lost(),
        (Step::CallModel(Asking::WithTools), 2) => Event::WindowTooSmall { tokens: 2_048, is_ollama: true },
        (Step::CallModel(_), ..14) => Event::Failed(Fault::new(*dice.pick(FaultClass::ALL), "x")),
        (Step::CallModel(_), _) => Event::Replied(reply(dice)),
        (Step::RunTools(_), 2) => Event::GoesInCircles("again".into()),
        (Step::RunTools(_), 3..6) => Event::UnknownTools("x".into()),
        (Step::RunTools(_), _) => Event::ToolsDone,
        (Step::Apply(Remedy::NextKey(fault)), ..30) => Event::NoOtherKey(fault.clone()),
        (Step::Apply(Remedy::RaiseCap(reply)), ..10) => Event::CapIsFull(reply.clone()),
        (Step::Apply(Remedy::NextModel { class, why }), 2) => Event::Failed(Fault::new(*class, why.clone())),
        (Step::Apply(_), _) => Event::Remedied,
        (Step::Finish(_), _) => unreachable!("a finished turn is not gone on with"),
    }
}

/// The counts of the actions of a turn.
#[derive(Default)]
struct Tally {
    calls: u32,
    iterations: u32,
    models: u32,
    summaries: u32,
    continuations: u32,
    about_results: u32,
    /// Of the current model.
    repaired: [u32; Quirk::ALL.len()],
    raises: u32,
    taken_back: u32,
    compactions: u32,
    /// Of the current call.
    waits: u32,
    keys: u32,
}

impl Tally {
    fn see(&mut self, step: &Step, limits: &Limits, seed: u64) {
        match step {
            Step::CallModel(_) => self.calls += 1,
            Step::RunTools(reply) => {
                assert!(!reply.message.calls.is_empty(), "{seed}");
                assert!(!matches!(reply.finish, FinishReason::ContentFilter), "{seed}: a filtered reply ran");
                let is_cut = matches!(reply.finish, FinishReason::Length | FinishReason::Incomplete);
                assert!(
                    !is_cut || reply.calls.iter().all(|it| *it == CallState::Truncated),
                    "{seed}: half ran"
                );
                self.iterations += 1;
                (self.waits, self.keys) = (0, 0);
            }
            Step::Apply(remedy) => match remedy {
                Remedy::Wait { delay, .. } => {
                    self.waits += 1;
                    assert!(self.waits < limits.attempts.max(1), "{seed}: {} waits", self.waits);
                    assert!(delay.as_secs() <= 600, "{seed}");
                }
                Remedy::Mend { quirk, .. } => {
                    for (count, _) in
                        self.repaired.iter_mut().zip(Quirk::ALL).filter(|(_, other)| other == quirk)
                    {
                        *count += 1;
                    }
                }
                Remedy::NextKey(_) => self.keys += 1,
                Remedy::NextModel { .. } => {
                    self.models += 1;
                    (self.repaired, self.waits, self.keys) = (Default::default(), 0, 0);
                    (self.raises, self.taken_back, self.compactions) = (0, 0, 0);
                }
                Remedy::RaiseCap(_) => {
                    self.raises += 1;
                    assert_eq!(self.taken_back, 0, "{seed}: cap raised after it was refused");
                }
                Remedy::RestoreCap { .. } => {
                    self.taken_back += 1;
                    assert!(self.raises > 0, "{seed}: nothing to take back");
                }
                Remedy::Resend(_) | Remedy::AskToVerify(..) | Remedy::AskToAct(_) => {}
                Remedy::AskAboutResults(_) => self.about_results += 1,
                Remedy::AskToContinue(_) => {
                    self.continuations += 1;
                    (self.waits, self.keys) = (0, 0);
                }
                Remedy::Compact(_) => self.compactions += 1,
                Remedy::AskForSummary => self.summaries += 1,
            },
            Step::Finish(_) => {}
        }
        assert!(self.repaired.iter().all(|times| *times <= 1), "{seed}: repaired twice");
        assert!(self.keys <= limits.keys, "{seed}");
        assert!(self.compactions <= limits.compactions, "{seed}");
        assert!(self.raises <= limits.continuations && self.taken_back <= 1, "{seed}");
        assert!(self.summaries <= 1 && self.continuations <= limits.continuations, "{seed}");
        assert!(self.iterations <= limits.max_iterations, "{seed}");
        assert!(self.about_results <= self.iterations, "{seed}");
    }
}

fn play(seed: u64) -> Outcome {
    let mut dice = Random::new(seed);
    let limits = Limits {
        max_iterations: dice.below(12) as u32,
        attempts: dice.below(4) as u32,
        keys: dice.below(4) as u32,
        ..Limits::default()
    };
    let fallbacks = dice.below(3) as u32;
    let mut turn = Turn::new(limits).with_fallbacks(fallbacks);
    let mut tally = Tally::default();
    let mut event = Event::Started;
    // For every iteration each model may be asked so often, and each of them is left at most once.
    let per_call = limits.attempts.max(1)
        + limits.keys
        + limits.empty_retries
        + limits.continuations
        + MALFORMED_RETRIES
        + 8;
    let most = (limits.max_iterations + limits.continuations + 4) * per_call * (fallbacks + 1) * 2;
    for _ in 0..most {
        let was_answered = matches!(event, Event::Replied(_));
        if matches!(event, Event::WindowTooSmall { .. }) {
            tally.calls -= 1;
        }
        let step = turn.next(event);
        if was_answered {
            (tally.waits, tally.keys) = (0, 0);
        }
        tally.see(&step, &limits, seed);
        assert!(tally.models <= fallbacks, "{seed}: more models than there are");
        assert_eq!(turn.calls(), tally.calls, "{seed}");
        if let Step::Finish(outcome) = step {
            return outcome;
        }
        event = follows(&step, &mut dice);
    }
    panic!("seed {seed}: the turn does not end");
}

#[test]
fn random_turns_end_within_their_budgets() {
    let count = std::env::var("HERMES_TURNS").ok().and_then(|text| text.parse().ok()).unwrap_or(50_000);
    let mut endings = std::collections::BTreeMap::<&str, u64>::new();
    for seed in 0..count {
        let ending = match play(seed) {
            Outcome::Answered { .. } => "answered",
            Outcome::Partial { .. } => "partial",
            Outcome::Failed { .. } => "failed",
            Outcome::Interrupted(_) => "interrupted",
            Outcome::StoreFailed(_) => "store failed",
        };
        *endings.entry(ending).or_default() += 1;
    }
    // Every way to end is taken.
    assert_eq!(endings.len(), 5, "{endings:?}");
    println!("{count} turns: {endings:?}");
}
