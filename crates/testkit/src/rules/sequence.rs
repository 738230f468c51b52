//! Rules about the order of messages.

use super::{Rejection, Rule};
use serde_json::Value;

pub(super) fn check(messages: &[Value]) -> Result<(), Rejection> {
    let mut before = Before::Nothing;
    for (place, message) in messages.iter().enumerate() {
        let broken = |rule| Rejection::new(rule, format!("messages[{place}]"));
        before = before.then(place, message).map_err(broken)?;
    }
    match before {
        Before::Nothing => Err(Rejection::new(Rule::FirstNotUser, "messages")),
        Before::Calls { open, .. } if !open.is_empty() => {
            Err(Rejection::new(Rule::UnansweredCall, "messages"))
        }
        Before::User | Before::Assistant | Before::Calls { .. } => Ok(()),
    }
}

/// The state of the conversation before a message. System messages do not count.
enum Before<'a> {
    Nothing,
    User,
    Assistant,
    /// The calls of an assistant message, and some of their results.
    Calls {
        open: Vec<&'a str>,
        answered: Vec<&'a str>,
    },
}

impl<'a> Before<'a> {
    fn then(self, place: usize, message: &'a Value) -> Result<Self, Rule> {
        match message["role"].as_str() {
            Some("user") => self.then_user(),
            Some("assistant") => self.then_assistant(message),
            Some("tool") => self.then_result(message["tool_call_id"].as_str().unwrap_or_default()),
            _ if place == 0 => Ok(self),
            _ => Err(Rule::SystemNotFirst),
        }
    }

    fn then_user(self) -> Result<Self, Rule> {
        match self {
            Self::User => Err(Rule::ConsecutiveUsers),
            Self::Calls { open, .. } if !open.is_empty() => Err(Rule::UnansweredCall),
            Self::Nothing | Self::Assistant | Self::Calls { .. } => Ok(Self::User),
        }
    }

    fn then_assistant(self, message: &'a Value) -> Result<Self, Rule> {
        match self {
            Self::Nothing => return Err(Rule::FirstNotUser),
            Self::Assistant => return Err(Rule::ConsecutiveAssistants),
            Self::Calls { open, .. } if !open.is_empty() => return Err(Rule::UnansweredCall),
            Self::User | Self::Calls { .. } => {}
        }
        Ok(match message["tool_calls"].as_array() {
            Some(calls) => {
                let open = calls.iter().filter_map(|call| call["id"].as_str()).collect();
                Self::Calls { open, answered: Vec::new() }
            }
            None => Self::Assistant,
        })
    }

    fn then_result(self, id: &'a str) -> Result<Self, Rule> {
        let Self::Calls { mut open, mut answered } = self else {
            return Err(Rule::MisplacedResult);
        };
        if answered.contains(&id) {
            return Err(Rule::AnsweredTwice);
        }
        let place = open.iter().position(|call| *call == id).ok_or(Rule::UnknownCallId)?;
        answered.push(open.remove(place));
        Ok(Self::Calls { open, answered })
    }
}
