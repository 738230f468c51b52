//! The turn that is killed: ten steps, decided from the request alone.
//!
//! The next step is the number of replies with calls that the request already holds, so any
//! result counts as progress, also one that says the outcome is unknown. A call id is therefore
//! asked for twice only when hermes never wrote its first reply down, and a line that stands
//! twice in the counter file means that hermes ran one call twice.

use hermes_testkit::{CallScript, ReplyScript};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What the model says when all steps are done.
pub(super) const ANSWER: &str = "all ten steps are done";

const STEPS: usize = 10;

/// One run's script: where its counter is, and what its processes are known by.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// Every terminal call adds a line with its id to this file.
    pub(super) counter: PathBuf,
    /// Stands in the command line of every process that a call starts.
    pub(super) marker: String,
    notes: PathBuf,
}

impl Script {
    /// The marker is also a number of seconds to sleep, so that `sleep` itself carries it.
    pub(super) fn new(folder: &Path, run: u32) -> Self {
        Self {
            counter: folder.join("counter.txt"),
            marker: format!("300.{}{run:06}", std::process::id()),
            notes: folder.join("notes.txt"),
        }
    }

    /// The reply to a request.
    pub(super) fn reply(&self, body: &Value) -> ReplyScript {
        let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let step = messages.iter().filter(|message| message["tool_calls"].is_array()).count();
        if step >= STEPS {
            return ReplyScript::text(ANSWER);
        }
        let calls = self.calls(step).into_iter();
        let reply = calls.fold(ReplyScript::default(), ReplyScript::and_raw_call);
        // Words before the calls, in some replies, so that text is cut off too.
        if step % 3 == 0 { reply.with_text(format!("Now step {step}.")).streamed_in(3) } else { reply }
    }

    fn calls(&self, step: usize) -> Vec<CallScript> {
        let id = |part: &str| format!("call-{step}{part}");
        let notes = self.notes.to_string_lossy();
        match step {
            1 => vec![call(id(""), "write_file", json!({"path": notes, "content": "first\nsecond\n"}))],
            2 | 7 => vec![self.leaving_something(id(""))],
            3 => vec![call(id(""), "read_file", json!({"path": notes}))],
            4 => vec![self.counting(id("a"), "0.02"), self.counting(id("b"), "0.01")],
            6 => vec![call(id(""), "write_file", json!({"path": notes, "content": "third\n"}))],
            8 => vec![self.leaving_something(id("a")), call(id("b"), "read_file", json!({"path": notes}))],
            _ => vec![self.counting(id(""), "0.03")],
        }
    }

    fn counting(&self, id: String, seconds: &str) -> CallScript {
        let command = format!("{}; sleep {seconds}", self.counted(&id));
        call(id, "terminal", json!({"command": command}))
    }

    /// A command with a child in the background, which must not outlive it.
    fn leaving_something(&self, id: String) -> CallScript {
        let command = format!("sleep {} & {}; sleep 0.03", self.marker, self.counted(&id));
        call(id, "terminal", json!({"command": command}))
    }

    fn counted(&self, id: &str) -> String {
        format!("echo '{id}' >> '{}'; : {}", self.counter.display(), self.marker)
    }
}

fn call(id: String, name: &str, arguments: Value) -> CallScript {
    CallScript { id: Some(id), name: name.to_owned(), arguments: arguments.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_follows_from_the_request() {
        let script = Script::new(Path::new("/tmp/x"), 1);
        let asked = json!({"role": "assistant", "tool_calls": []});
        let reply = |steps: usize| script.reply(&json!({"messages": vec![asked.clone(); steps]}));
        let mut ids: Vec<_> = (0..STEPS).flat_map(|step| reply(step).calls).map(|call| call.id).collect();
        assert_eq!(ids.len(), 12);
        ids.dedup();
        assert_eq!(ids.len(), 12, "ids differ");
        assert_eq!(reply(STEPS).text, [ANSWER]);
    }
}
