//! The script of the demo's model.
//!
//! An answer depends on the request alone, never on how many were answered before, so the
//! script continues correctly in a session that was killed.

use hermes_scripted::ReplyScript;
use serde_json::{Value, json};
use std::time::Duration;

/// Answers a request of the demo.
pub(crate) fn reply(request: &Value) -> ReplyScript {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let newest = messages.iter().rposition(|message| message["role"] == "user").unwrap_or(0);
    let asked = messages.get(newest).and_then(|message| message["content"].as_str()).unwrap_or_default();
    let (earlier, current) = messages.split_at(newest);
    let results = tool_results(current);
    let script = if asked.contains("check of this project") {
        fixing(&results)
    } else if asked.contains("Count to three") {
        counting(&results)
    } else {
        explaining(tool_results(earlier).last().copied(), &results)
    };
    script.streamed_in(12).with_delay(Duration::from_millis(15))
}

/// The texts of the tool messages, in order.
fn tool_results(messages: &[Value]) -> Vec<&str> {
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.filter_map(|message| message["content"].as_str()).collect()
}

fn fixing(results: &[&str]) -> ReplyScript {
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
            true => "Fixed: add.sh now adds instead of subtracting. The check passes: 2 + 3 + 4 = 9.",
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

/// Reads count.txt, then says what the record holds about the command of the killed turn.
fn explaining(recorded: Option<&str>, results: &[&str]) -> ReplyScript {
    match results.first() {
        None => ReplyScript::call("read_file", json!({ "path": "count.txt" })),
        Some(file) => ReplyScript::text(explanation(recorded, last_number(file))),
    }
}

/// The exit code of the command if its result was found after the kill, else what the record says instead.
fn explanation(recorded: Option<&str>, reached: Option<char>) -> String {
    let recorded = recorded.and_then(|result| serde_json::from_str::<Value>(result).ok()).unwrap_or_default();
    let outcome = match recorded["exit_code"].as_i64() {
        Some(code) => {
            format!("the command kept running and ended with exit code {code}, and its result is on record")
        }
        None => "the record says that the outcome of the command is unknown".to_owned(),
    };
    let file = match reached {
        Some(number) => format!("The file count.txt ends with {number}"),
        None => "The file count.txt is empty".to_owned(),
    };
    format!("Hermes was killed while a command ran: {outcome}. {file}; nothing was run a second time.")
}

/// The last number in count.txt, from the numbered lines of `read_file`.
fn last_number(result: &str) -> Option<char> {
    let file: Value = serde_json::from_str(result).unwrap_or_default();
    file["content"].as_str()?.lines().last()?.rsplit_once('|')?.1.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanation_agrees_with_the_record() {
        let file = r#"{"content":"1|1\n2|2\n3|3","total_lines":3}"#;
        assert_eq!(last_number(file), Some('3'));
        assert_eq!(last_number(r#"{"content":""}"#), None);
        for (recorded, want) in [
            (Some(r#"{"output":"","exit_code":0,"error":null}"#), "ended with exit code 0"),
            (Some(r#"{"error":"the outcome of this call is unknown"}"#), "outcome of the command is unknown"),
            (None, "outcome of the command is unknown"),
        ] {
            let text = explanation(recorded, Some('3'));
            assert!(text.contains(want) && text.contains("count.txt ends with 3"), "{recorded:?}: {text}");
        }
    }
}
