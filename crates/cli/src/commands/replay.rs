//! `hermes replay`: replays or forks a recorded conversation.

use crate::exit::{self, Exit, Failure};
use crate::flags::{Common, ModelFlags, ToolFlags, TurnFlags};
use crate::{launch, oneshot};
use clap::Args;
use hermes_conversation::events;
use hermes_recording::{Difference, Forked, Recording, Step, Verdict, replay, steps};
use hermes_runtime::RuntimeError;
use hermes_terminal::text::counted;
use hermes_terminal::{print, signals, term};
use hermes_tools::NoUser;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Replay a recording offline and compare the outcome with it
///
/// `hermes --record FILE` makes recordings. A replay runs the same code: model replies, tool results, answers, times
/// and random numbers come from the file, and every request, event and stored message is compared with it. Nothing is
/// sent, no tool runs, and the home directory is not used. Exit code 0 means identical, 1 means different.
///
/// With --from N, the first N-1 model calls come from the file; from call N on the configured model (or --model)
/// answers and tools run, in a new session. Commands that need approval are denied, unless --yolo is given.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes --record run.jsonl -z \"What is in this directory?\"
  hermes replay run.jsonl
  hermes replay run.jsonl --list
  hermes replay run.jsonl --from 3 --model other/model")]
pub(crate) struct ReplayArgs {
    /// Recording made by `hermes --record FILE`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Continue with a live model from this model call on, counting from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    from: Option<u64>,
    /// List the model calls of the recording
    #[arg(long, conflicts_with = "from")]
    list: bool,
    #[command(flatten)]
    model: ModelFlags,
    #[command(flatten)]
    tools: ToolFlags,
    #[command(flatten)]
    turns: TurnFlags,
}

impl ReplayArgs {
    /// The shared flags after the subcommand.
    pub(crate) fn flags(&self) -> Common {
        let Self { model, tools, turns, .. } = self.clone();
        Common { model, tools, turns, ..Common::default() }
    }
}

pub(crate) async fn run(args: &ReplayArgs, common: &Common) -> Result<Exit, Failure> {
    let recording = Arc::new(Recording::read(&args.file).map_err(RuntimeError::from)?);
    if args.list {
        return Ok(list(&steps(&recording), common.json));
    }
    match args.from {
        Some(from) => go_on(recording, from, common).await,
        None if common.model.name.is_some() => {
            Err(Failure::usage("--model needs --from N: without it no model is called"))
        }
        None => {
            let verdict = replay(recording).await.map_err(RuntimeError::from)?;
            Ok(tell(&verdict, common.json))
        }
    }
}

/// Prints the result of a replay.
fn tell(verdict: &Verdict, is_json: bool) -> Exit {
    let exit = match verdict.difference {
        None => Exit::Answered,
        Some(_) => Exit::FailedTurn,
    };
    if is_json {
        print::json(&as_json(verdict));
        return exit;
    }
    match &verdict.difference {
        None => {
            let Verdict { requests, events, state, .. } = verdict;
            term::print_line(&format!(
                "identical: {}, {}, state sha256 {state}",
                counted(*requests, "request"),
                counted(*events, "event")
            ));
            if verdict.is_cut {
                term::print_line(
                    "the recording is cut: it ends in the middle of a turn, and so does the replay",
                );
            }
        }
        Some(Difference { event, line, byte, expected, got }) => {
            term::print_line(&format!(
                "different: event {event} (line {line}), at byte {byte}\n  expected: {}\n  got:      {}",
                term::one_line(expected, 200),
                term::one_line(got, 200)
            ));
        }
    }
    exit
}

fn as_json(verdict: &Verdict) -> Value {
    let difference = verdict.difference.as_ref().map(|found| {
        json!({
            "event": found.event,
            "line": found.line,
            "byte": found.byte,
            "expected": found.expected,
            "got": found.got,
        })
    });
    json!({
        "identical": difference.is_none(),
        "requests": verdict.requests,
        "events": verdict.events,
        "turns": verdict.turns,
        "state": verdict.state,
        "is_cut": verdict.is_cut,
        "difference": difference,
    })
}

fn list(steps: &[Step], is_json: bool) -> Exit {
    if is_json {
        let each = |step: &Step| {
            json!({
                "step": step.number,
                "line": step.line,
                "turn": step.turn,
                "request_bytes": step.request_bytes,
                "reply_bytes": step.reply_bytes,
                "outcome": step.outcome,
                "tools": step.tools,
            })
        };
        print::json(&Value::from_iter(steps.iter().map(each)));
        return Exit::Answered;
    }
    print::lines(steps.iter().map(|step| {
        let tools = match step.tools.is_empty() {
            true => String::new(),
            false => format!("; then {}", step.tools.join(", ")),
        };
        let line = format!(
            "{:>4}  turn {:<3} {:>8} bytes sent, {:>8} received: {}{tools}",
            step.number, step.turn, step.request_bytes, step.reply_bytes, step.outcome
        );
        term::printable(&line).into_owned()
    }));
    Exit::Answered
}

/// Forks: continues with a live model in a new session of the home directory.
async fn go_on(recording: Arc<Recording>, from: u64, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let model = runtime.endpoint().map_err(|error| launch::blame_flags(error, common))?.model;
    print::notice(&format!(
        "continuing from model call {from} with {}, in a new session; tools run for real",
        term::printable(&model)
    ));
    let cancel = CancellationToken::new();
    let (sink, stream) = events();
    // Only the reply is shown.
    drop(stream);
    let watch = signals::watch(cancel.clone());
    let forked = runtime.fork(recording, from, Arc::new(NoUser), cancel, sink).await;
    drop(watch);
    runtime.leave().await;
    let Forked { report, session, title } = forked?;
    if common.json {
        let line = json!({
            "session_id": session.as_str(),
            "title": title,
            "final_response": report.final_response,
            "turn_exit_reason": report.exit_reason,
            "error": report.error,
        });
        print::json(&line);
    } else {
        oneshot::print_answer(&report);
        if let Some(error) = &report.error {
            print::notice(&hermes_terminal::explain(&report, error, "PROVIDER"));
        }
        term::print_error(&format!(
            "\nContinue with:  hermes --resume {session}   ({})",
            term::printable(&title)
        ));
    }
    Ok(exit::of_turn(&report))
}
