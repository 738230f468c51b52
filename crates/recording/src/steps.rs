//! The steps of a recording: its model calls, so that one can be chosen to fork at.

use super::line::{Body, End, Outcome, What};
use super::reading::Recording;
use super::request_line::rest;
use super::sse_lines;

/// One model call.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Counting from 1, over the whole recording.
    pub number: u64,
    /// In the file.
    pub line: usize,
    /// The turn it belongs to, counting from 1.
    pub turn: usize,
    pub request_bytes: usize,
    pub reply_bytes: usize,
    /// The result of the call.
    pub outcome: String,
    /// The tools that ran after it.
    pub tools: Vec<String>,
}

/// The model calls of a recording, in order.
pub fn steps(recording: &Recording) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut turn = 0;
    for (place, line) in recording.lines.iter().enumerate() {
        match &line.what {
            What::Turn { .. } => turn += 1,
            What::Request(request) => steps.push(Step {
                number: request.number,
                line: place + 2,
                turn,
                request_bytes: request.prefix + rest(request).len(),
                reply_bytes: 0,
                outcome: "no reply was recorded".to_owned(),
                tools: Vec::new(),
            }),
            What::Reply(reply) => {
                if let Some(step) = steps.last_mut() {
                    (step.reply_bytes, step.outcome) = outcome(&reply.outcome);
                }
            }
            What::Tool(tool) => {
                if let Some(step) = steps.last_mut() {
                    step.tools.push(tool.name.clone().into_owned());
                }
            }
            _ => {}
        }
    }
    steps
}

/// The size of a reply, and a short description of its result.
fn outcome(outcome: &Outcome) -> (usize, String) {
    match outcome {
        Outcome::Failed(failure) => (0, failure.to_string()),
        Outcome::Dropped => (0, "stopped before a reply began".to_owned()),
        Outcome::Body { status, body, end, .. } => {
            let size = match body {
                Body::Text(text) => text.len(),
                Body::Lines(lines) => sse_lines::body(lines).map_or(0, |body| body.len()),
                Body::Base64(text) => text.len() / 4 * 3,
            };
            (size, format!("{status}, {}", ended(end)))
        }
        Outcome::Decoded { said: events, end } => {
            (0, format!("{} events without their bytes, {}", events.len(), ended(end)))
        }
    }
}

fn ended(end: &End) -> String {
    match end {
        End::Complete => "read to its end".to_owned(),
        End::Failed(failure) => failure.to_string(),
        End::Dropped { .. } => "stopped".to_owned(),
    }
}
