//! The words of the demo's model.
//!
//! An answer depends on the request alone, never on how many were answered before, so the
//! script goes on correctly in a session that was killed.

use hermes_scripted::ReplyScript;
use serde_json::{Value, json};
use std::time::Duration;

/// Answers a request of the demo.
pub(crate) fn reply(request: &Value) -> ReplyScript {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let newest = messages.iter().rposition(|message| message["role"] == "user").unwrap_or(0);
    let asked = messages.get(newest).and_then(|message| message["content"].as_str()).unwrap_or_default();
    let results: Vec<&str> = messages[newest..]
        .iter()
        .filter(|message| message["role"] == "tool")
        .filter_map(|message| message["content"].as_str())
        .collect();
    let script = if asked.contains("check of this project") {
        mending(&results)
    } else if asked.contains("Count to three") {
        counting(&results)
    } else {
        explaining(&results)
    };
    script.streamed_in(12).with_delay(Duration::from_millis(15))
}

fn mending(results: &[&str]) -> ReplyScript {
    match results.len() {
        0 => ReplyScript::call("read_file", json!({ "path": "add.sh" }))
            .and_call("read_file", json!({ "path": "check.sh" }))
            .with_text("I will read both files first."),
        2 => ReplyScript::call("terminal", json!({ "command": "bash check.sh" })).with_text("Now the check itself."),
        3 => ReplyScript::call(
            "patch",
            json!({ "mode": "replace", "path": "add.sh", "old_string": "total - number", "new_string": "total + number" }),
        )
        .with_text("The loop subtracts every number instead of adding it."),
        4 => ReplyScript::call("terminal", json!({ "command": "bash check.sh" })),
        _ => ReplyScript::text(match results.last().is_some_and(|result| result.contains("ok: 2 + 3 + 4 = 9")) {
            true => "Mended: add.sh subtracts no more, it adds. The check passes now: 2 + 3 + 4 = 9.",
            false => "The check still fails; see its output above.",
        }),
    }
}

fn counting(results: &[&str]) -> ReplyScript {
    match results.len() {
        0 => ReplyScript::call(
            "terminal",
            json!({ "command": "for n in 1 2 3; do echo $n >> count.txt; sleep 1; done" }),
        ),
        _ => ReplyScript::text("Counted."),
    }
}

fn explaining(results: &[&str]) -> ReplyScript {
    let Some(file) = results.first() else {
        return ReplyScript::call("read_file", json!({ "path": "count.txt" }));
    };
    let content = serde_json::from_str::<Value>(file).unwrap_or_default()["content"].to_string();
    let reached = ["3|3", "2|2", "1|1"]
        .iter()
        .find(|line| content.contains(*line))
        .and_then(|line| line.chars().next());
    ReplyScript::text(match reached {
        Some(number) => format!(
            "Hermes was killed while the command was running. The record says that its outcome is unknown, so I \
             looked: count.txt stops at {number}. What was left of the command was ended when this session was opened again, and it was not run a second time."
        ),
        None => "Hermes was killed while the command was running, and count.txt is empty.".to_owned(),
    })
}
