//! The turn that is killed: forty steps, determined by the request alone.
//!
//! A call is done if it has a result that does not say that it was not run. The next reply makes the unfinished
//! calls of the first unfinished step, so a call that a kill prevented is made again, and the files end up as
//! without a kill. Every command adds its name to the counter file: a repeated line means that hermes ran one
//! call twice, or that a call ran which is recorded as not run.

use hermes_testkit::{CallScript, ReplyScript};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The final text of the model.
pub(super) const ANSWER: &str = "all forty steps are done";

const STEPS: usize = 40;
/// Parts of results of calls that were not run.
const NOT_DONE: [&str; 2] = ["It was not run.", "so it can be made again."];
/// Part of the result of a call with unknown outcome.
const UNKNOWN: &str = "may or may not have taken effect";

/// The script of one run: its counter file, and the marker of its processes.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// Every terminal call appends its name to this file.
    pub(super) counter: PathBuf,
    /// Part of the command line of every process that a call starts.
    pub(super) marker: String,
    notes: PathBuf,
}

/// A call of the script, independent of its id.
struct Wanted {
    name: String,
    tool: &'static str,
    arguments: Value,
}

impl Script {
    /// The marker is also a number of seconds, so that the `sleep` process itself has it.
    pub(super) fn new(folder: &Path, run: u32) -> Self {
        Self {
            counter: folder.join("counter.txt"),
            marker: format!("300.{}{run:06}", std::process::id()),
            notes: folder.join("notes.txt"),
        }
    }

    /// The content of the files, independent of the order of parallel calls.
    pub(super) fn files(&self) -> (Vec<String>, String) {
        let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        let mut counted: Vec<String> = read(&self.counter).lines().map(str::to_owned).collect();
        counted.sort();
        (counted, read(&self.notes))
    }

    /// The reply to a request.
    pub(super) fn reply(&self, body: &Value) -> ReplyScript {
        let tried = tried(body);
        let is_done = |wanted: &Wanted| tried.get(&wanted.name).is_some_and(|(_, is_done)| *is_done);
        let next =
            (0..STEPS).map(|step| (step, self.calls(step))).find(|(_, calls)| !calls.iter().all(is_done));
        let Some((step, calls)) = next else {
            return ReplyScript::text(ANSWER);
        };
        let calls = calls.into_iter().filter(|wanted| !is_done(wanted)).map(|wanted| {
            let times = tried.get(&wanted.name).map_or(0, |(times, _)| *times);
            let id = Some(format!("call-{}-{times}", wanted.name));
            CallScript { id, name: wanted.tool.to_owned(), arguments: wanted.arguments.to_string() }
        });
        let reply = calls.fold(ReplyScript::default(), ReplyScript::and_raw_call);
        // Some replies have text before the calls, so that text is truncated, too.
        if step % 5 == 0 { reply.with_text(format!("Now step {step}.")).streamed_in(3) } else { reply }
    }

    fn calls(&self, step: usize) -> Vec<Wanted> {
        let name = |part: &str| format!("{step}{part}");
        let notes = self.notes.to_string_lossy();
        let file = |tool, arguments| vec![Wanted { name: name(""), tool, arguments }];
        match step {
            1 => file("write_file", json!({"path": notes, "content": "step 1\nlast line\n"})),
            11 | 21 | 31 => {
                let old = format!("step {}\n", step - 10);
                file(
                    "patch",
                    json!({"path": notes, "old_string": old, "new_string": format!("{old}step {step}\n")}),
                )
            }
            6 | 16 => {
                file("write_file", json!({"path": self.notes.with_extension(name("")), "content": name("")}))
            }
            3 | 13 | 23 => file("read_file", json!({"path": notes})),
            2 | 17 | 32 => vec![self.leaving_something(name(""))],
            4 | 24 => vec![self.counting(name("a"), "0.02"), self.counting(name("b"), "0.01")],
            9 | 28 => vec![self.counting(name(""), "0.2")],
            8 => {
                let read = Wanted { name: name("b"), tool: "read_file", arguments: json!({"path": notes}) };
                vec![self.leaving_something(name("a")), read]
            }
            _ => vec![self.counting(name(""), "0.01")],
        }
    }

    fn counting(&self, name: String, seconds: &str) -> Wanted {
        let command = format!("{}; sleep {seconds}; echo did {name}", self.counted(&name));
        Wanted { name, tool: "terminal", arguments: json!({"command": command}) }
    }

    /// A command with a child in the background, which must not outlive it.
    fn leaving_something(&self, name: String) -> Wanted {
        let command = format!("sleep {} & {}; sleep 0.03", self.marker, self.counted(&name));
        Wanted { name, tool: "terminal", arguments: json!({"command": command}) }
    }

    fn counted(&self, name: &str) -> String {
        format!("echo '{name}' >> '{}'; : {}", self.counter.display(), self.marker)
    }
}

/// The number of attempts of each call, and the success of the last one.
fn tried(body: &Value) -> BTreeMap<String, (usize, bool)> {
    let mut tried = BTreeMap::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        let Some(id) = message["tool_call_id"].as_str() else { continue };
        let Some((name, _)) = id.strip_prefix("call-").and_then(|rest| rest.rsplit_once('-')) else {
            continue;
        };
        let text = message["content"].as_str().unwrap_or_default();
        let entry = tried.entry(name.to_owned()).or_insert((0, false));
        *entry = (entry.0 + 1, !NOT_DONE.iter().any(|part| text.contains(part)));
    }
    tried
}

/// The number of results with unknown outcome.
pub(super) fn unknown_results(body: &Value) -> usize {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages.filter(|message| message["content"].as_str().is_some_and(|text| text.contains(UNKNOWN))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_step_follows_from_the_request() {
        let script = Script::new(Path::new("/tmp/x"), 1);
        let mut messages = Vec::new();
        let mut ids = Vec::new();
        loop {
            let reply = script.reply(&json!({"messages": messages}));
            if reply.calls.is_empty() {
                assert_eq!(reply.text, [ANSWER]);
                break;
            }
            for (place, call) in reply.calls.iter().enumerate() {
                let id = call.id.clone().unwrap();
                // The first call of every reply is prevented once, and made again.
                let prevented = place == 0 && id.ends_with("-0");
                let content = if prevented { "Hermes was stopped. It was not run." } else { "fine" };
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
                ids.push(id);
            }
        }
        assert_eq!(ids.len(), 83);
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 83, "ids differ");
    }
}
