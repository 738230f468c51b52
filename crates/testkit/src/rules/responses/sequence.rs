//! Rules about the order of input items.

use super::super::{Rejection, Rule};
use serde_json::Value;

pub(super) fn check(input: &[Value]) -> Result<(), Rejection> {
    let mut before = Before::default();
    for (place, item) in input.iter().enumerate() {
        before.take(place, item)?;
    }
    before.no_lone_reasoning()?;
    before.all_answered(|| "input".to_owned())
}

/// The state of the conversation before an item.
#[derive(Default)]
struct Before<'a> {
    open: Vec<&'a str>,
    answered: Vec<&'a str>,
    /// Some of the newest calls have results: the model's turn is over.
    answering: bool,
    /// Reasoning that is not followed by another item yet, by its index.
    leading: Option<usize>,
    /// There was reasoning in this turn of the model.
    reasoned: bool,
}

impl<'a> Before<'a> {
    fn take(&mut self, place: usize, item: &'a Value) -> Result<(), Rejection> {
        let at = || format!("input[{place}]");
        let id = item["call_id"].as_str().unwrap_or_default();
        match (item["type"].as_str(), item["role"].as_str()) {
            (Some("reasoning"), _) => {
                self.go_on(at)?;
                self.leading = self.leading.or(Some(place));
                self.reasoned = true;
            }
            (Some("function_call"), _) => {
                self.go_on(at)?;
                self.call(id).map_err(|rule| Rejection::new(rule, at()))?;
            }
            (Some("function_call_output"), _) => {
                self.no_lone_reasoning()?;
                self.answer(id).map_err(|rule| Rejection::new(rule, at()))?;
            }
            (_, Some("assistant")) => {
                self.all_answered(at)?;
                self.answering = false;
                self.leading = None;
                if item.get("id").is_some() && !self.reasoned {
                    return Err(Rejection::new(Rule::StaleItemId, format!("{}.id", at())));
                }
            }
            _ => {
                self.no_lone_reasoning()?;
                self.all_answered(at)?;
                (self.answering, self.reasoned) = (false, false);
            }
        }
        Ok(())
    }

    /// The model continues; after results this is a new turn of it.
    fn go_on(&mut self, at: impl Fn() -> String) -> Result<(), Rejection> {
        if self.answering {
            self.all_answered(at)?;
            (self.answering, self.reasoned) = (false, false);
        }
        Ok(())
    }

    fn call(&mut self, id: &'a str) -> Result<(), Rule> {
        self.leading = None;
        if self.open.contains(&id) {
            return Err(Rule::DuplicateCallId);
        }
        self.answered.retain(|answered| *answered != id);
        self.open.push(id);
        Ok(())
    }

    fn answer(&mut self, id: &'a str) -> Result<(), Rule> {
        if self.answered.contains(&id) {
            return Err(Rule::AnsweredTwice);
        }
        let place = self.open.iter().position(|open| *open == id).ok_or(Rule::UnknownCallId)?;
        self.answered.push(self.open.remove(place));
        self.answering = true;
        Ok(())
    }

    fn all_answered(&self, at: impl Fn() -> String) -> Result<(), Rejection> {
        match self.open.is_empty() {
            true => Ok(()),
            false => Err(Rejection::new(Rule::UnansweredCall, at())),
        }
    }

    fn no_lone_reasoning(&self) -> Result<(), Rejection> {
        match self.leading {
            Some(place) => Err(Rejection::new(Rule::LoneReasoning, format!("input[{place}]"))),
            None => Ok(()),
        }
    }
}
