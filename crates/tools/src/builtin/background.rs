//! Starting a command in the background.

use super::terminal::{TerminalArgs, kept_output, not_run};
use crate::{CallScope, ProcessStart, ToolContext, ToolError, ToolOutput};
use hermes_exec::{Command, Input, TerminalSize};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// The size of the terminal of a process.
pub const PROCESS_TERMINAL: TerminalSize = TerminalSize { rows: 30, columns: 120 };
/// Variables of commands in the background, so that their output is seen as it is written.
const UNBUFFERED: (&str, &str) = ("PYTHONUNBUFFERED", "1");
const TERMINAL: (&str, &str) = ("TERM", "xterm-256color");

/// The reason why nothing can run in the background, if there is one.
pub(super) fn refusal(cx: &ToolContext) -> Option<String> {
    match cx.processes() {
        Some(_) => None,
        None => Some(
            "this session cannot run commands in the background; use a command that ends by itself"
                .to_owned(),
        ),
    }
}

pub(super) async fn start(
    args: TerminalArgs,
    cwd: PathBuf,
    sandbox: Option<hermes_sandbox::Policy>,
    cx: &ToolContext,
    scope: &CallScope,
) -> Result<ToolOutput, ToolError> {
    let processes = cx.processes().ok_or_else(|| ToolError::failed(refusal(cx).unwrap_or_default()))?;
    let delivers = processes.delivers_notices();
    let hint = hint(&args, delivers);
    let patterns = args.watch_patterns.unwrap_or_default();
    let mut env = cx.command_env();
    for (name, value) in [UNBUFFERED].into_iter().chain(args.pty.then_some(TERMINAL)) {
        env.retain(|(other, _)| other != name);
        env.push((name.to_owned(), value.to_owned()));
    }
    let input = if args.pty { Input::Terminal(PROCESS_TERMINAL) } else { Input::Pipe };
    let command = Command {
        key: None,
        script: args.command,
        cwd,
        env,
        changes: scope.environment.changes().clone(),
        timeout: args.timeout.map_or(Duration::MAX, Duration::from_secs),
        report: None,
        output: kept_output(cx),
        sandbox,
        client: None,
    };
    let started = processes
        .start(ProcessStart {
            key: cx.command_key(scope.intent),
            command: cx.backend().prepare(command, input).await.map_err(not_run)?,
            input,
            notifies: delivers && args.notify_on_complete,
            // A notice of the end is the surer one of the two.
            patterns: if delivers && !args.notify_on_complete { patterns } else { Vec::new() },
        })
        .await
        .map_err(ToolError::failed)?;
    Ok(ToolOutput::json(self::started(&started.id, started.pid, hint)))
}

pub(super) fn started(id: &str, pid: u32, hint: Option<String>) -> Value {
    let mut value = json!({
        "output": "Background process started",
        "session_id": id,
        "pid": pid,
        "exit_code": 0,
        "error": null,
    });
    if let Some(hint) = hint {
        value["hint"] = hint.into();
    }
    value
}

/// Advice to the model about messages of the process.
pub(super) fn hint(args: &TerminalArgs, delivers: bool) -> Option<String> {
    let watches = args.watch_patterns.as_ref().is_some_and(|patterns| !patterns.is_empty());
    match (args.notify_on_complete || watches, delivers) {
        (true, false) => Some(
            "No message can reach this session after its turn. Use the process tool with action wait or poll."
                .to_owned(),
        ),
        (false, _) => Some(
            "No message will tell of its end. Use the process tool with action poll, or wait if you need it."
                .to_owned(),
        ),
        (true, true) if args.notify_on_complete && watches => {
            Some("watch_patterns was left out: notify_on_complete tells of the end.".to_owned())
        }
        (true, true) => None,
    }
}
