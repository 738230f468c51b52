//! `process`: looks at, answers and ends background processes.

use super::background::PROCESS_TERMINAL;
use crate::facts::text;
use crate::{
    Action, CallScope, Concurrency, ProcessState, Processes, Refusal, Tool, ToolContext, ToolError,
    ToolOutput, Toolset,
};
use hermes_conversation::{CallDigest, CallTitle, Effect, Outcome, Subject, ToolFacts, ToolKind};
use hermes_gate::assess_input;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// Characters of the end of the output.
const IN_LIST: usize = 200;
const IN_POLL: usize = 1_000;
const AFTER_EXIT: usize = 2_000;
const WHILE_RUNNING: usize = 1_000;
/// Characters of a command in a list.
const COMMAND: usize = 200;
/// Lines of a log.
const LINES: usize = 200;

/// Background processes that terminal started. list: all of them. poll: state and newest output. log: output by lines.
/// wait: until it ends. kill. write: data to its input; submit: data and Enter; close: end of input.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ProcessArgs {
    action: ProcessAction,
    /// From terminal; for all but list.
    session_id: Option<String>,
    /// For write and submit. Control characters are keys.
    data: Option<String>,
    /// Seconds that wait may take.
    #[schemars(range(min = 1))]
    timeout: Option<u64>,
    /// First line of a log; 0 is the newest lines.
    offset: Option<i64>,
    #[schemars(range(min = 1))]
    limit: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ProcessAction {
    List,
    Poll,
    Log,
    Wait,
    Kill,
    Write,
    Submit,
    Close,
}

impl ProcessAction {
    fn only_looks(self) -> bool {
        matches!(self, Self::List | Self::Poll | Self::Log | Self::Wait)
    }
}

pub(crate) struct Process;

impl Tool for Process {
    const NAME: &'static str = "process";
    const TOOLSET: Toolset = Toolset::Terminal;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Execute,
        result_varies: true,
        title: Some(|arguments| {
            let subject = [text(arguments, "action"), text(arguments, "session_id")].join(" ");
            CallTitle::new("⚙️", "proc", subject.trim().to_owned())
        }),
        digest: CallDigest {
            subject: Subject::Values(&["action", "session_id"]),
            outcome: Outcome::ExitCode,
        },
        ..ToolFacts::DEFAULT
    };
    type Args = ProcessArgs;

    fn refusal(&self, args: &ProcessArgs, cx: &ToolContext) -> Option<Refusal> {
        if cx.processes().is_none() {
            return Some(Refusal::Invalid("this session has no background processes".to_owned()));
        }
        // Input is judged together with the command that reads it.
        if let (Some(id), Some(_), Some(processes)) = (&args.session_id, input(args), cx.processes())
            && processes.known(id).is_none()
        {
            let advice = "action list names those of this session";
            return Some(Refusal::Invalid(format!("no process with the id {id} is known yet; {advice}")));
        }
        let has_id = args.session_id.as_deref().is_some_and(|id| !id.trim().is_empty());
        (args.action != ProcessAction::List && !has_id)
            .then(|| Refusal::Invalid("`session_id` is missing; action list names the processes".to_owned()))
    }

    fn effect(&self, args: &ProcessArgs, _: &ToolContext) -> Effect {
        if args.action.only_looks() { Effect::Read } else { Effect::Any }
    }

    /// Judges written text together with the unfinished line before it.
    fn action(&self, args: &ProcessArgs, cx: &ToolContext) -> Option<Action> {
        let (id, data) = (args.session_id.as_deref()?, input(args)?);
        // Another process than the known ones has no input here.
        let known = cx.processes()?.known(id)?;
        let (cwd, text) = (cx.cwd(), cx.whole_line(id, &data));
        let assessment = assess_input(&known.command, &text, &cx.scene(&cwd));
        let environment = cx.environment();
        Some(Action { kind: cx.command_kind(), text, cwd, environment, assessment })
    }

    fn concurrency(&self, args: &ProcessArgs, _: &ToolContext) -> Concurrency {
        if args.action.only_looks() { Concurrency::Free } else { Concurrency::Alone }
    }

    async fn run(
        &self,
        args: ProcessArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let processes = cx.processes().ok_or_else(|| ToolError::failed("there are no processes"))?;
        if args.action == ProcessAction::List {
            let all = processes.list().await.map_err(ToolError::failed)?;
            return Ok(ToolOutput::json(json!({ "processes": all.iter().map(listed).collect::<Vec<_>>() })));
        }
        let id = args.session_id.clone().unwrap_or_default();
        let Some(state) = processes.look(&id).await.map_err(ToolError::failed)? else {
            let error = format!("No process has the id {id}; action list names those of this session.");
            return Ok(ToolOutput::json(json!({"status": "not_found", "error": error})).failed_if(true));
        };
        let value = match args.action {
            ProcessAction::List => Value::Null,
            ProcessAction::Poll => polled(&state),
            ProcessAction::Log => {
                if state.exit.is_some() {
                    processes.learned(&id).await.map_err(ToolError::failed)?;
                }
                logged(&state, args.offset.unwrap_or(0), args.limit)
            }
            ProcessAction::Wait => wait(processes.as_ref(), &id, args.timeout, cx, scope).await?,
            ProcessAction::Kill => kill(processes.as_ref(), &state).await?,
            ProcessAction::Write | ProcessAction::Submit | ProcessAction::Close => {
                let text = input(&args).unwrap_or_default();
                let closes = args.action == ProcessAction::Close;
                processes.write(&id, &text, closes).await.map_err(ToolError::failed)?;
                cx.note_input(&id, &text);
                json!({"status": "ok", "bytes_written": text.len()})
            }
        };
        Ok(ToolOutput::json(value))
    }
}

/// The text that a call writes; `None` if it writes none.
fn input(args: &ProcessArgs) -> Option<String> {
    let data = || args.data.clone().unwrap_or_default();
    match args.action {
        ProcessAction::Write => Some(data()),
        ProcessAction::Submit => Some(data() + "\n"),
        _ => None,
    }
}

async fn wait(
    processes: &dyn Processes,
    id: &str,
    seconds: Option<u64>,
    cx: &ToolContext,
    scope: &CallScope,
) -> Result<Value, ToolError> {
    let most = cx.settings().timeout;
    let allowed = seconds.unwrap_or(most).min(most);
    let waited = tokio::select! {
        ended = processes.ended(id) => ended.map(|()| "exited").map_err(ToolError::failed)?,
        () = tokio::time::sleep(Duration::from_secs(allowed)) => "timeout",
        () = scope.cancel.cancelled() => "interrupted",
    };
    let gone = || ToolError::failed(format!("the process {id} is gone"));
    let state = processes.look(id).await.map_err(ToolError::failed)?.ok_or_else(gone)?;
    if state.exit.is_some() {
        processes.learned(id).await.map_err(ToolError::failed)?;
        let mut value = json!({"status": "exited", "output": newest(&state, AFTER_EXIT)});
        add_exit(&mut value, &state);
        return Ok(value);
    }
    let mut value = json!({"status": waited, "output": newest(&state, WHILE_RUNNING)});
    if waited == "timeout" {
        let capped = seconds.is_some_and(|seconds| seconds > most);
        let limit = if capped { format!(" (at most {most} can be waited for)") } else { String::new() };
        value["timeout_note"] = format!("It still runs after {allowed} seconds{limit}.").into();
    }
    Ok(value)
}

async fn kill(processes: &dyn Processes, state: &ProcessState) -> Result<Value, ToolError> {
    if state.exit.is_some() {
        let mut value = json!({"status": "already_exited", "session_id": state.id});
        add_exit(&mut value, state);
        return Ok(value);
    }
    processes.kill(&state.id).await.map_err(ToolError::failed)?;
    processes.learned(&state.id).await.map_err(ToolError::failed)?;
    Ok(json!({"status": "killed", "session_id": state.id}))
}

fn listed(state: &ProcessState) -> Value {
    let mut value = json!({
        "session_id": state.id,
        "command": state.command.chars().take(COMMAND).collect::<String>(),
        "cwd": state.cwd,
        "pid": state.pid,
        "started_at": time(state.started_at),
        "uptime_seconds": seconds(state),
        "status": status(state),
        "output_preview": tail(&state.output, IN_LIST),
    });
    if state.notifies {
        value["notify_on_complete"] = true.into();
    }
    if !state.patterns.is_empty() {
        value["watch_patterns"] = state.patterns.clone().into();
    }
    add_exit(&mut value, state);
    value
}

fn polled(state: &ProcessState) -> Value {
    let mut value = json!({
        "session_id": state.id,
        "command": state.command,
        "status": status(state),
        "pid": state.pid,
        "uptime_seconds": seconds(state),
        "output_preview": newest(state, IN_POLL),
    });
    add_exit(&mut value, state);
    value
}

/// Lines of the output: from `offset` on, or the newest with 0.
fn logged(state: &ProcessState, offset: i64, limit: Option<i64>) -> Value {
    let lines: Vec<&str> = state.output.lines().collect();
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(LINES).max(1);
    let from = match usize::try_from(offset) {
        Ok(offset) if offset > 0 => offset.min(lines.len()),
        _ => lines.len().saturating_sub(limit),
    };
    let to = from.saturating_add(limit).min(lines.len());
    let mut value = json!({
        "session_id": state.id,
        "status": status(state),
        "output": lines[from..to].join("\n"),
        "total_lines": lines.len(),
        "showing": format!("{} lines", to - from),
    });
    if state.written > hermes_exec::supervisor::MOST_LOOKED_AT {
        value["note"] = format!("Only the end of the {} bytes of output is kept here.", state.written).into();
    }
    add_exit(&mut value, state);
    value
}

fn add_exit(value: &mut Value, state: &ProcessState) {
    if let Some(exit) = &state.exit {
        value["exit_code"] = exit.code.into();
        value["completion_reason"] = exit.reason.clone().into();
    }
}

fn status(state: &ProcessState) -> &'static str {
    if state.exit.is_some() { "exited" } else { "running" }
}

#[expect(clippy::cast_possible_truncation, reason = "seconds of a run fit")]
fn seconds(state: &ProcessState) -> i64 {
    state.uptime as i64
}

fn time(at: f64) -> String {
    let at = jiff::SignedDuration::try_from_secs_f64(at).ok();
    let at = at.and_then(|at| jiff::Timestamp::from_duration(at).ok()).unwrap_or_default();
    at.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// The last characters of a text.
/// The end of the output. Of a terminal it is the whole screen: its first rows may be those that matter.
fn newest(state: &ProcessState, most: usize) -> &str {
    if !state.has_terminal {
        return tail(&state.output, most);
    }
    let rows = usize::from(PROCESS_TERMINAL.rows);
    let first = state.output.rmatch_indices('\n').nth(rows - 1).map_or(0, |(at, _)| at + 1);
    &state.output[first..]
}

fn tail(text: &str, most: usize) -> &str {
    let cut = text.char_indices().rev().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
    &text[cut..]
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
