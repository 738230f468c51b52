//! Decides what a turn does next.
//!
//! [`Turn`] holds no handles and never waits: it takes an [`Event`] and returns the next [`Step`]. Carrying
//! a step out is `driver`'s work. A provider failure is an ordinary [`Event`] here, so every recovery path
//! can be tested without a network.

mod step;

pub use step::{Asking, BatchNotes, Event, Outcome, Step, When};

use crate::recovery::{Limits, OutputCap, Remedy, Spent, decide};
use crate::stop_checks::only_promises;
use crate::texts;
use crate::{IntentCheck, NotCompacted};
use hermes_conversation::{FinishReason, Quirk};
use hermes_wire::{ApiMode, CallState, Fault, FaultClass, Reply};

/// Times that the same request is sent again because arguments of its reply could not be read.
const MALFORMED_RETRIES: u32 = 3;
/// Replies in a row with nothing but unknown tools that end a turn.
const UNKNOWN_TOOLS: u32 = 3;
/// Times in a turn that the model is asked to act on a promise.
const MOST_PROMISES: u32 = 2;
/// The exit reason of a turn that got no usable reply.
const NO_RESPONSE: &str = "all_retries_exhausted_no_response";
/// The exit reason of a reply that the output limit cut.
const LENGTH: &str = "text_response(finish_reason=length)";

/// One turn in progress.
#[derive(Debug)]
pub struct Turn {
    limits: Limits,
    spent: Spent,
    iterations: u32,
    /// Iterations that were given back.
    refunds: u32,
    calls: u32,
    continuations: u32,
    empty_replies: u32,
    cut_calls: u32,
    /// Requests sent again because arguments could not be read.
    malformed: u32,
    /// Replies in a row that called only tools that do not exist.
    unknown_tools: u32,
    /// Text of earlier parts of an answer that was cut by length.
    earlier: String,
    /// The text beside the last calls.
    beside: Option<String>,
    /// The text beside calls that were housekeeping only: the answer, if nothing follows.
    said_beside: Option<String>,
    /// Tools have run since the model was last asked what it makes of their results.
    has_results: bool,
    /// Code files that were changed and not checked since, for a sentence.
    unchecked: Option<String>,
    nudges: u32,
    /// An answer that a question for a check took the place of.
    displaced: Option<String>,
    /// Promises are not taken for an answer.
    wants_deeds: bool,
    promises: u32,
    /// A tool was called in this turn.
    has_called: bool,
    /// The budget is spent and a last answer was asked for; counts the asking.
    summaries: u32,
}

impl Turn {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            spent: Spent::default(),
            iterations: 0,
            refunds: 0,
            calls: 0,
            continuations: 0,
            empty_replies: 0,
            cut_calls: 0,
            malformed: 0,
            unknown_tools: 0,
            earlier: String::new(),
            beside: None,
            said_beside: None,
            has_results: false,
            unchecked: None,
            nudges: 0,
            displaced: None,
            wants_deeds: limits.stop_checks.intent == IntentCheck::All,
            promises: 0,
            has_called: false,
            summaries: 0,
        }
    }

    /// The same turn, with so many models to go on with.
    pub fn with_fallbacks(mut self, count: u32) -> Self {
        self.spent.fallbacks_left = count;
        self
    }

    /// A smaller copy of no image can be sent any more.
    pub fn images_are_small(&mut self) {
        self.spent.repaired.set(Quirk::SmallImages);
    }

    /// The same turn, with a model that is asked in this format.
    pub fn asked_in(mut self, mode: ApiMode) -> Self {
        let is_auto = self.limits.stop_checks.intent == IntentCheck::Auto;
        self.wants_deeds |= is_auto && mode == ApiMode::CodexResponses;
        self
    }

    /// Takes note of the calls that were run.
    pub fn tools_ran(&mut self, notes: BatchNotes) {
        self.unchecked = notes.unchecked;
        self.said_beside = self.beside.take().filter(|_| notes.only_housekeeping);
        // A script stands for many calls. A model that only runs scripts has twice the budget, not an endless one.
        if notes.only_scripts && self.refunds < self.limits.max_iterations {
            self.refunds += 1;
            self.iterations = self.iterations.saturating_sub(1);
        }
    }

    /// The number of requests sent.
    pub fn calls(&self) -> u32 {
        self.calls
    }

    pub fn next(&mut self, event: Event) -> Step {
        match event {
            Event::Started | Event::ToolsDone => {
                self.unknown_tools = 0;
                self.spend_iteration()
            }
            Event::UnknownTools(names) => self.called_unknown(&names),
            Event::GoesInCircles(why) => Step::Finish(Outcome::Partial {
                text: self.earlier.clone(),
                reply: None,
                exit_reason: "guardrail_halt".to_owned(),
                why,
            }),
            Event::Remedied => self.call_model(),
            Event::Replied(reply) => self.replied(reply),
            Event::Failed(fault) => {
                self.spent.attempts += 1;
                self.spent.keys_spent = false;
                self.failed(fault)
            }
            Event::NoOtherKey(fault) => {
                self.spent.attempts += 1;
                self.spent.keys_spent = true;
                self.failed(fault)
            }
            Event::WindowTooSmall { tokens, is_ollama } => self.not_asked(tokens, is_ollama),
            Event::CapIsFull(reply) => {
                self.spent.raises = self.spent.raises.saturating_sub(1);
                self.spent.cap = OutputCap::Full;
                self.tell_of_cut(reply)
            }
            Event::NotCompacted { fault, why } => not_compacted(fault, why),
            Event::Cancelled(when) => Step::Finish(Outcome::Interrupted(when)),
            Event::StoreFailed(error) => Step::Finish(Outcome::StoreFailed(error)),
        }
    }

    fn spend_iteration(&mut self) -> Step {
        if self.iterations >= self.limits.max_iterations {
            if let Some(text) = self.displaced.take() {
                return self.budget_spent(text, None);
            }
            self.summaries = 1;
            return Step::Apply(Remedy::AskForSummary);
        }
        self.iterations += 1;
        self.call_model()
    }

    fn call_model(&mut self) -> Step {
        self.calls += 1;
        Step::CallModel(if self.summaries > 0 { Asking::InWords } else { Asking::WithTools })
    }

    /// Nothing was sent, so nothing counts as spent.
    fn not_asked(&mut self, tokens: u64, is_ollama: bool) -> Step {
        self.calls = self.calls.saturating_sub(1);
        self.iterations = self.iterations.saturating_sub(1);
        Step::Finish(Outcome::Partial {
            text: self.earlier.clone(),
            reply: None,
            exit_reason: match is_ollama {
                true => "ollama_runtime_context_too_small".to_owned(),
                false => "local_processing_error(context_window_too_small)".to_owned(),
            },
            why: texts::window_too_small(tokens),
        })
    }

    /// The model was answered with the tools there are; the third time in a row ends the turn.
    fn called_unknown(&mut self, names: &str) -> Step {
        self.unknown_tools += 1;
        if self.unknown_tools < UNKNOWN_TOOLS {
            return self.spend_iteration();
        }
        Step::Finish(Outcome::Partial {
            text: self.earlier.clone(),
            reply: None,
            exit_reason: NO_RESPONSE.to_owned(),
            why: format!("the model called tools that do not exist {UNKNOWN_TOOLS} times in a row: {names}"),
        })
    }

    fn failed(&mut self, fault: Fault) -> Step {
        match decide(&fault, &self.spent, &self.limits) {
            None => {
                let exit_reason = NO_RESPONSE.to_owned();
                Step::Finish(Outcome::Failed { fault, exit_reason, not_compacted: None })
            }
            Some(remedy) => self.apply(remedy),
        }
    }

    fn apply(&mut self, remedy: Remedy) -> Step {
        if let Remedy::Mend { quirk, .. } = &remedy {
            self.spent.repaired.set(*quirk);
        }
        if matches!(remedy, Remedy::Compact(_)) {
            self.spent.compactions += 1;
        }
        if matches!(remedy, Remedy::RaiseCap(_)) {
            self.spent.raises += 1;
        }
        if matches!(remedy, Remedy::RestoreCap { .. }) {
            self.spent.cap = OutputCap::Refused;
        }
        if matches!(remedy, Remedy::NextKey(_)) {
            // Keys are tried at their own expense; what failed counts only when there is no other.
            self.spent.keys += 1;
            self.spent.attempts = self.spent.attempts.saturating_sub(1);
        }
        if matches!(remedy, Remedy::NextModel { .. }) {
            // Nothing of what the one model used up is the next one's fault.
            let fallbacks_left = self.spent.fallbacks_left.saturating_sub(1);
            self.spent = Spent { fallbacks_left, ..Spent::default() };
            self.empty_replies = 0;
        }
        Step::Apply(remedy)
    }

    fn replied(&mut self, mut reply: Box<Reply>) -> Step {
        (self.spent.attempts, self.spent.keys) = (0, 0);
        if self.summaries > 0 {
            return self.summarised(reply);
        }
        // A filter may have struck anywhere, also in the calls: none of them may run.
        if !reply.message.calls.is_empty() && reply.finish != FinishReason::ContentFilter {
            return self.calls_tools(reply);
        }
        self.cut_calls = 0;
        match (reply.finish, reply.message.text.trim().is_empty()) {
            (FinishReason::ContentFilter, _) => self.refused(&reply),
            (_, true) => self.empty(reply),
            (FinishReason::Length | FinishReason::Incomplete, false) => self.cut(reply),
            (FinishReason::Stop | FinishReason::ToolCalls, false) => {
                reply.message.finish = Some(reply.finish);
                self.answered(reply)
            }
        }
    }

    /// An answer is accepted unless it only promises something, or code was changed and not checked.
    fn answered(&mut self, reply: Box<Reply>) -> Step {
        if self.wants_deeds
            && !self.has_called
            && self.promises < MOST_PROMISES
            && only_promises(&reply.message.text)
        {
            self.promises += 1;
            return self.apply(Remedy::AskToAct(reply));
        }
        let checks = self.limits.stop_checks;
        if checks.verifies
            && self.nudges < checks.nudges
            && let Some(files) = self.unchecked.take()
        {
            self.nudges += 1;
            self.displaced = Some(self.with_earlier(&reply));
            self.earlier.clear();
            return self.apply(Remedy::AskToVerify(reply, files));
        }
        let exit_reason = format!("text_response(finish_reason={})", reply.finish.as_str());
        Step::Finish(Outcome::Answered { text: self.with_earlier(&reply), reply, exit_reason })
    }

    /// A reply that reached the output limit may hold half a call: none of its calls may run. It is
    /// requested again with a larger cap; if the cap cannot grow, the model gets an error.
    fn calls_tools(&mut self, mut reply: Box<Reply>) -> Step {
        if matches!(reply.finish, FinishReason::Length | FinishReason::Incomplete) {
            reply.calls.fill(CallState::Truncated);
        }
        if !reply.calls.contains(&CallState::Truncated) {
            self.cut_calls = 0;
            return self.whole_calls(reply);
        }
        if self.spent.can_raise_cap(&self.limits) {
            return self.apply(Remedy::RaiseCap(reply));
        }
        self.tell_of_cut(reply)
    }

    /// Arguments that cannot be read are asked for again, silently; after that the model is answered with errors.
    fn whole_calls(&mut self, reply: Box<Reply>) -> Step {
        if reply.calls.contains(&CallState::Malformed) && self.malformed < MALFORMED_RETRIES {
            self.malformed += 1;
            return self.apply(Remedy::Resend(reply));
        }
        self.malformed = 0;
        self.run_tools(reply)
    }

    /// Every cut call gets a result that says so, a few times.
    fn tell_of_cut(&mut self, reply: Box<Reply>) -> Step {
        self.cut_calls += 1;
        if self.cut_calls > self.limits.cut_calls {
            return Step::Finish(Outcome::Partial {
                text: self.earlier.clone(),
                reply: None,
                exit_reason: LENGTH.to_owned(),
                why: "the model's tool calls were cut short again and again; nothing was run".to_owned(),
            });
        }
        self.run_tools(reply)
    }

    fn run_tools(&mut self, reply: Box<Reply>) -> Step {
        (self.has_results, self.has_called) = (true, true);
        let text = reply.message.text.trim();
        (self.beside, self.said_beside) = ((!text.is_empty()).then(|| text.to_owned()), None);
        Step::RunTools(reply)
    }

    fn cut(&mut self, reply: Box<Reply>) -> Step {
        if self.continuations >= self.limits.continuations {
            return Step::Finish(Outcome::Partial {
                text: self.with_earlier(&reply),
                reply: Some(reply),
                exit_reason: LENGTH.to_owned(),
                why: "the answer was cut by the output limit".to_owned(),
            });
        }
        self.continuations += 1;
        self.earlier = self.with_earlier(&reply);
        Step::Apply(Remedy::AskToContinue(reply))
    }

    /// The text beside the last calls counts as the answer, if those were only housekeeping. After tool
    /// results the model is asked to go on, once. Then the request is retried, and then sent to a fallback.
    fn empty(&mut self, mut reply: Box<Reply>) -> Step {
        if let Some(text) = self.said_beside.take().or_else(|| self.displaced.take()) {
            reply.message.text.clone_from(&text);
            let exit_reason = "fallback_prior_turn_content".to_owned();
            return Step::Finish(Outcome::Answered { text: self.with_earlier(&reply), reply, exit_reason });
        }
        if std::mem::take(&mut self.has_results) {
            reply.message.text = texts::EMPTY_REPLY.to_owned();
            return self.apply(Remedy::AskAboutResults(reply));
        }
        if self.empty_replies < self.limits.empty_retries {
            self.empty_replies += 1;
            return self.call_model();
        }
        if self.spent.fallbacks_left > 0 {
            let why = "the model sent empty replies".to_owned();
            return self.apply(Remedy::NextModel { class: FaultClass::Garbled, why });
        }
        reply.message.text = texts::EMPTY_REPLY.to_owned();
        Step::Finish(Outcome::Partial {
            text: self.earlier.clone(),
            reply: Some(reply),
            exit_reason: "empty_response_exhausted".to_owned(),
            why: "the model sent empty replies".to_owned(),
        })
    }

    /// The answer to the last question of a spent budget. Calls in it are not run.
    fn summarised(&mut self, mut reply: Box<Reply>) -> Step {
        reply.message.calls.clear();
        reply.calls.clear();
        let empty = reply.message.text.trim().is_empty();
        if empty && self.summaries < 2 {
            self.summaries += 1;
            return self.call_model();
        }
        if empty {
            reply.message.text = texts::NO_SUMMARY.to_owned();
        }
        self.budget_spent(reply.message.text.clone(), Some(reply))
    }

    fn budget_spent(&self, text: String, reply: Option<Box<Reply>>) -> Step {
        let max = self.limits.max_iterations;
        let exit_reason = format!("max_iterations_reached({max}/{max})");
        Step::Finish(Outcome::Partial { text, reply, exit_reason, why: texts::budget_spent(max) })
    }

    /// The model answered that it will not; another one may.
    fn refused(&mut self, reply: &Reply) -> Step {
        let said = reply.message.text.trim();
        let detail = if said.is_empty() { "the model refused to answer" } else { said };
        let fault = Fault::new(FaultClass::ContentPolicy, detail);
        match decide(&fault, &self.spent, &self.limits) {
            Some(remedy) => self.apply(remedy),
            None => {
                let exit_reason = "text_response(finish_reason=content_filter)".to_owned();
                Step::Finish(Outcome::Failed { fault, exit_reason, not_compacted: None })
            }
        }
    }

    fn with_earlier(&self, reply: &Reply) -> String {
        format!("{}{}", self.earlier, reply.message.text)
    }
}

/// The end of a turn whose history is too long and cannot be made shorter.
fn not_compacted(mut fault: Fault, why: Option<String>) -> Step {
    let not_compacted = match why {
        Some(_) => NotCompacted::Exhausted,
        None => NotCompacted::Disabled,
    };
    let advice = why.unwrap_or_else(|| texts::COMPACTION_IS_OFF.to_owned());
    fault.detail = format!("{}; {advice}", fault.detail);
    let exit_reason = NO_RESPONSE.to_owned();
    Step::Finish(Outcome::Failed { fault, exit_reason, not_compacted: Some(not_compacted) })
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "turn_random_tests.rs"]
mod random_tests;
