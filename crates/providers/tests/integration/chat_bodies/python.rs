//! The same fields as release 0.19 sends, taken from its own request builder.
//!
//! `HERMES_PYTHON` names a Python that has the release; `.ci/python` installs it. Without it the test
//! says so and does nothing, except in CI.

use super::{ADVERTISED, CUSTOM, EFFORTS, PAIRS, address, body, endpoint, history, profile};
use hermes_conversation::Message;
use hermes_testkit::TempHome;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

const PEER: &str = include_str!("../python/chat_requests.py");

/// The members that say something about reasoning or length.
const FIELDS: [&str; 11] = [
    "reasoning",
    "reasoning_effort",
    "reasoning_split",
    "thinking",
    "think",
    "thinking_config",
    "verbosity",
    "extra_body",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
];

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn peer() -> Option<std::ffi::OsString> {
    let found = std::env::var_os("HERMES_PYTHON").filter(|path| !path.is_empty());
    if found.is_none() {
        let in_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!in_ci, "HERMES_PYTHON must be set in CI; `.ci/python` prints it");
        println!("skipped: HERMES_PYTHON is not set; `.ci/python` prints it");
    }
    found
}

fn ask(python: &std::ffi::OsStr, cases: &[Value]) -> Vec<Value> {
    let home = TempHome::new();
    let mut child = Command::new(python)
        .args(["-c", PEER])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs([("HERMES_HOME", home.path()), ("HOME", home.path())])
        .current_dir(home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let cases = serde_json::to_vec(cases).unwrap();
    let writing = std::thread::spawn(move || input.write_all(&cases));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A message as the release keeps it in a session.
fn stored(message: &Message) -> Value {
    match message {
        Message::User(_) => json!({"role": "user", "content": "hi"}),
        Message::Tool(result) => {
            json!({"role": "tool", "tool_call_id": result.call_id.as_str(), "content": "{}"})
        }
        Message::Assistant(reply) => {
            let mut stored = json!({"role": "assistant", "content": reply.text});
            if let Some(text) = &reply.reasoning.text {
                stored["reasoning"] = text.as_str().into();
            }
            if let Some(echo) = &reply.reasoning.content {
                stored["reasoning_content"] = echo.as_str().into();
            }
            let calls: Vec<_> = reply
                .calls
                .iter()
                .map(|call| {
                    let function = json!({"name": call.name, "arguments": &*call.arguments});
                    json!({"id": call.id.as_str(), "type": "function", "function": function})
                })
                .collect();
            if !calls.is_empty() {
                stored["tool_calls"] = calls.into();
            }
            stored
        }
    }
}

/// The compared values: the fields above, and the echo of each reply (absent ones as null).
fn compared(body: &Value) -> Value {
    let fields = FIELDS.iter().filter(|name| !body[**name].is_null());
    let mut kept: Value = fields
        .map(|name| ((*name).to_owned(), body[*name].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let replies =
        body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant");
    kept["echo"] = replies.map(|reply| reply["reasoning_content"].clone()).collect();
    kept
}

#[test]
fn fields_equal_those_of_the_python_release() {
    let Some(python) = peer() else { return };
    let messages: Vec<_> = history().iter().map(stored).collect();
    let rows = PAIRS.iter().map(|(provider, model)| (*provider, None, *model));
    let custom = CUSTOM.iter().map(|(address, model)| ("custom", Some(*address), *model));
    let (mut cases, mut ours) = (Vec::new(), Vec::new());
    for (provider, own, model) in rows.chain(custom) {
        for effort in EFFORTS {
            // The release sends a medium effort if none was set.
            if provider == "copilot" && effort == "none" {
                continue;
            }
            let base_url = own.unwrap_or_else(|| address(provider));
            cases.push(json!({"provider": provider, "model": model, "base_url": base_url, "effort": effort,
                "messages": messages, "thinks": true, "options": ADVERTISED}));
            let endpoint = endpoint(provider, own, model);
            ours.push(compared(&body(&profile(&endpoint, effort), history())));
        }
    }
    let theirs = ask(&python, &cases);
    assert_eq!(theirs.len(), ours.len());
    let mut differences = Vec::new();
    for ((case, theirs), ours) in cases.iter().zip(&theirs).zip(&ours) {
        let theirs = compared(theirs);
        if *ours != theirs {
            let what = format!("{} {} {}", case["provider"], case["model"], case["effort"]);
            differences.push(format!("{what}\n  ours   {ours}\n  theirs {theirs}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
