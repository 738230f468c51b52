//! The bare client: a minimal agent as a baseline.
//!
//! Standard library only, one kept-alive connection, a 45 KB prefix and a growing history, every event parsed,
//! commands run with `bash -c`, calls of one reply in parallel. It stores nothing, checks nothing and asks for
//! no approval. It measures the cost of wire and shell alone.

mod connection;
mod json;
mod reply;

use crate::flags::Flags;
use anyhow::{Context, Result};
use connection::Connection;
use json::{Scanner, quoted};
use reply::{Call, Reply};
use std::io::Write;
use std::process::Command;
use std::thread;

/// About the size of a system prompt with tool schemas.
const PREFIX: usize = 45_000;

/// Runs `__bare --url BASE_URL [--history N]`: sends `hi` after N earlier messages, and continues until there
/// are no more calls.
pub(crate) fn run(mut flags: Flags) -> Result<()> {
    let url: String = flags.value("--url")?.context("`__bare` needs --url")?;
    let earlier = flags.value("--history")?.unwrap_or(0);
    flags.finish()?;
    let mut connection = Connection::open(&url)?;
    let mut body = opening(earlier);
    loop {
        let reply = ask(&mut connection, &mut body)?;
        if reply.calls.is_empty() {
            return Ok(());
        }
        append(&mut body, &reply);
        for (call, output) in reply.calls.iter().zip(run_all(&reply.calls)?) {
            let (id, output) = (quoted(&call.id), quoted(&output));
            body.push_str(&format!(r#",{{"role":"tool","tool_call_id":{id},"content":{output}}}"#));
        }
    }
}

/// A request up to its last message; the history grows at its end.
fn opening(earlier: u32) -> String {
    let prefix = "You are a careful assistant. ".repeat(PREFIX / 29);
    let mut body = format!(
        r#"{{"model":"scripted","stream":true,"stream_options":{{"include_usage":true}},"messages":[{{"role":"system","content":{}}}"#,
        quoted(&prefix)
    );
    for place in 0..earlier {
        let role = if place % 2 == 0 { "user" } else { "assistant" };
        let content = quoted(&crate::bench::earlier_text(place));
        body.push_str(&format!(r#",{{"role":"{role}","content":{content}}}"#));
    }
    body.push_str(r#",{"role":"user","content":"hi"}"#);
    body
}

/// Sends the current body and prints the streaming answer.
fn ask(connection: &mut Connection, body: &mut String) -> Result<Reply> {
    let length = body.len();
    body.push_str("]}");
    let sent = connection.send(body.as_bytes());
    body.truncate(length);
    sent?;
    let mut reply = Reply::default();
    let mut out = std::io::stdout().lock();
    let mut printed = 0;
    connection.events(|events| {
        for event in events {
            reply.feed(event).with_context(|| format!("cannot read the event {event}"))?;
        }
        out.write_all(&reply.text.as_bytes()[printed..])?;
        out.flush()?;
        printed = reply.text.len();
        Ok(())
    })?;
    Ok(reply)
}

fn append(body: &mut String, reply: &Reply) {
    let calls: Vec<String> = reply
        .calls
        .iter()
        .map(|call| {
            let (id, name, arguments) = (quoted(&call.id), quoted(&call.name), quoted(&call.arguments));
            format!(r#"{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{arguments}}}}}"#)
        })
        .collect();
    let (text, calls) = (quoted(&reply.text), calls.join(","));
    body.push_str(&format!(r#",{{"role":"assistant","content":{text},"tool_calls":[{calls}]}}"#));
}

/// Runs all calls concurrently; the outputs are in call order.
fn run_all(calls: &[Call]) -> Result<Vec<String>> {
    if let [call] = calls {
        return Ok(vec![run_one(call)?]);
    }
    thread::scope(|scope| {
        let running: Vec<_> = calls.iter().map(|call| scope.spawn(|| run_one(call))).collect();
        let ended = running.into_iter().map(|thread| thread.join());
        ended.map(|result| result.unwrap_or_else(|_| anyhow::bail!("a call's thread failed"))).collect()
    })
}

fn run_one(call: &Call) -> Result<String> {
    let mut command = String::new();
    let mut arguments = Scanner::new(&call.arguments);
    arguments
        .object(|scanner, key| match key {
            "command" => scanner.string().map(|text| command = text.into_owned()),
            _ => scanner.skip(),
        })
        .context("a call's arguments cannot be read")?;
    let output = Command::new("bash").args(["-c", &command]).output()?;
    let code = output.status.code().unwrap_or(-1);
    Ok(format!(
        "{}{}\nexit code {code}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}
