//! `hermes ps` and `hermes kill`: background processes, from outside of a session.

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use clap::Args;
use hermes_runtime::{Runtime, RuntimeError, SessionProcess, duration};
use hermes_terminal::print::{self, Column, Table};
use hermes_terminal::term::{self, Style};
use serde_json::{Value, json};
use std::io::stdout;

/// List background processes that sessions have started
///
/// They go on when a session or Hermes ends. The output and the exit code of a process are kept for seven days.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes ps
  hermes ps --all
  hermes ps 3             show process 3 and the end of its output
  hermes kill 3")]
pub(crate) struct PsArgs {
    /// Show this process and the end of its output
    #[arg(value_name = "PROCESS")]
    which: Option<String>,
    /// Also list processes that have ended
    #[arg(long, conflicts_with = "which")]
    all: bool,
}

/// End background processes and everything they started
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes kill 3
  hermes kill proc_0123456789ab
  hermes kill --all")]
pub(crate) struct KillArgs {
    /// Numbers or ids, as `hermes ps` shows them
    #[arg(value_name = "PROCESS", required_unless_present = "all")]
    processes: Vec<String>,
    /// End all running processes
    #[arg(long, conflicts_with = "processes")]
    all: bool,
}

pub(crate) async fn list(args: &PsArgs, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let mut found = runtime.background_processes().await?;
    if let Some(which) = &args.which {
        let Some(process) = found.iter().find(|process| process.is_named(which)) else {
            return Err(RuntimeError::NoProcess(which.clone()).into());
        };
        show(process, common);
        return Ok(Exit::Answered);
    }
    found.retain(|process| args.all || process.is_running());
    if common.json {
        print::json(&Value::Array(found.iter().map(as_json).collect()));
    } else if found.is_empty() {
        print::notice(if args.all {
            "no background processes"
        } else {
            "no running background processes; `hermes ps --all` lists those that ended"
        });
    } else {
        print_table(&found);
    }
    Ok(Exit::Answered)
}

fn print_table(processes: &[SessionProcess]) {
    let columns = [
        Column::right("NO", 3),
        Column::left("STATE", 9),
        Column::left("TIME", 10),
        Column::left("SESSION", 22),
        Column::left("COMMAND", 7),
    ];
    let table = Table::new(&columns);
    let width = term::columns(&stdout());
    term::print_line(&table.heading(Style::for_stream(&stdout())));
    for process in processes {
        let SessionProcess { session, state } = process;
        let (number, status, time) = (state.number.to_string(), process.status(), duration(state.uptime));
        let command = term::one_line(&state.command, width.saturating_sub(52).max(20));
        if !term::print_line(&table.row(&[&number, &status, &time, session.as_str(), &command])) {
            return;
        }
    }
}

fn show(process: &SessionProcess, common: &Common) {
    let SessionProcess { session, state } = process;
    if common.json {
        let mut value = as_json(process);
        value["output"] = state.output.clone().into();
        value["output_bytes"] = state.written.into();
        print::json(&value);
        return;
    }
    let (number, id) = (state.number.to_string(), state.id.clone());
    print::fields([
        ("number", format!("{number} ({id}, pid {})", state.pid)),
        ("state", process.status()),
        ("time", duration(state.uptime)),
        ("session", session.to_string()),
        ("directory", state.cwd.clone()),
        ("command", state.command.clone()),
    ]);
    if !state.output.is_empty() {
        term::print_line(&format!("\n{}", term::printable(state.output.trim_end())));
    }
}

fn as_json(process: &SessionProcess) -> Value {
    let SessionProcess { session, state } = process;
    json!({
        "number": state.number,
        "session_id": state.id,
        "session": session.as_str(),
        "status": if process.is_running() { "running" } else { "exited" },
        "exit_code": state.exit.as_ref().map(|exit| exit.code),
        "completion_reason": state.exit.as_ref().map(|exit| exit.reason.clone()),
        "command": state.command,
        "cwd": state.cwd,
        "pid": state.pid,
        "started_at": state.started_at,
        "uptime_seconds": state.uptime,
    })
}

pub(crate) async fn kill(args: &KillArgs, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let wanted = match args.all {
        true => running(&runtime).await?,
        false => args.processes.clone(),
    };
    let mut killed = Vec::new();
    let mut failure = None;
    for which in &wanted {
        match runtime.kill_process(which).await {
            Ok(process) => killed.push(process),
            Err(error) if wanted.len() == 1 => return Err(error.into()),
            // The others are ended all the same.
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    report(&killed, args.all, common);
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(Exit::Answered),
    }
}

async fn running(runtime: &Runtime) -> Result<Vec<String>, Failure> {
    let all = runtime.background_processes().await?.into_iter();
    Ok(all.filter(SessionProcess::is_running).map(|process| process.state.id).collect())
}

fn report(killed: &[SessionProcess], is_all: bool, common: &Common) {
    if common.json {
        let ended = |process: &SessionProcess| {
            json!({
                "number": process.state.number,
                "session_id": process.state.id,
                "status": if process.is_running() { "killed" } else { "already_exited" },
            })
        };
        print::json(&Value::Array(killed.iter().map(ended).collect()));
    } else if is_all {
        term::print_line(&match killed.len() {
            1 => "ended 1 process".to_owned(),
            many => format!("ended {many} processes"),
        });
    } else {
        print::lines(killed.iter().map(|process| match process.is_running() {
            true => format!("ended process {}", process.state.number),
            false => format!("process {} has ended already ({})", process.state.number, process.status()),
        }));
    }
}

/// Names the background processes that go on when this Hermes exits.
pub(crate) async fn announce_remaining(runtime: &Runtime) {
    // The run itself has its own result, so an error here is not one of it.
    for process in runtime.processes_left_running().await.unwrap_or_default() {
        let number = process.state.number;
        let command = term::one_line(&process.state.command, 60);
        print::notice(&format!(
            "background process {number} goes on: {command} (`hermes ps {number}` shows it, `hermes kill {number}` ends it)"
        ));
    }
}
