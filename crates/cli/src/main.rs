//! The `hermes` binary: subcommands, the interactive terminal, doctor and demo.
//!
//! Only this crate prints. Standard output carries answers, standard error everything else.

mod answering;
mod args;
mod ask;
mod auth;
mod budget;
mod cache_command;
mod chat;
mod choices;
mod closed_output;
mod compaction_words;
mod completer;
mod config_command;
mod context_command;
mod demo;
mod doctor;
mod draft;
mod editor;
mod environment;
mod exit;
mod foot;
mod history;
mod hooks_command;
mod insights;
mod json_events;
mod keyboard;
mod keys;
mod launch;
mod listening;
mod logs_command;
mod memory_command;
mod model_command;
mod oneshot;
mod page;
mod prompt_command;
mod prompt_text;
mod replay_command;
mod screen;
mod sessions_command;
mod signals;
mod skills_command;
mod status_line;
mod term;
mod tool_line;
mod trace_command;
mod usage_file;
mod welcome;
mod when;
mod wrap;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use exit::{Exit, Failure};
use std::borrow::Cow;
use std::process::ExitCode;

fn main() -> ExitCode {
    if is_supervisor() {
        return supervise();
    }
    if is_version_question() {
        return print_version();
    }
    if closed_output::was_closed() {
        term::complain("hermes: standard output is closed; use >/dev/null to throw the output away");
        return Exit::Internal.into();
    }
    environment::hide_secrets();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return explain_usage(&error),
    };
    if cli.common.version || matches!(cli.command, Some(Command::Version)) {
        return print_version();
    }
    match run(cli) {
        Ok(_) if term::output_was_lost() => {
            term::complain("hermes: standard output could not be written; the session itself is saved");
            Exit::Internal.into()
        }
        Ok(exit) => exit.into(),
        // A failure without a line has been explained already.
        Err(failure) if failure.line.is_empty() => failure.exit.into(),
        Err(failure) => {
            term::complain(&format!("hermes: {}", term::printable(&failure.line)));
            failure.exit.into()
        }
    }
}

/// Decided before anything else, from the main thread and with nothing open.
fn is_supervisor() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == launch::SUPERVISE)
}

fn supervise() -> ExitCode {
    match hermes_runtime::supervise() {
        Ok(()) => Exit::Answered.into(),
        Err(error) => {
            term::complain(&format!("hermes: {error}"));
            Exit::Internal.into()
        }
    }
}

/// The commonest spellings are answered before anything is built.
fn is_version_question() -> bool {
    let mut args = std::env::args_os().skip(1);
    let first = args.next();
    args.next().is_none()
        && first.is_some_and(|word| ["--version", "-V", "version"].iter().any(|known| word == *known))
}

fn print_version() -> ExitCode {
    term::print_line(concat!("Hermes Agent v", env!("CARGO_PKG_VERSION"), " (Rust)"));
    Exit::Answered.into()
}

fn explain_usage(error: &clap::Error) -> ExitCode {
    // Help that was asked for goes to standard output and is no failure; a closed pipe is none either.
    let plain = error.render().to_string();
    match (term::escaped(&plain, false), error.use_stderr()) {
        (Cow::Borrowed(_), _) => _ = error.print(),
        (Cow::Owned(escaped), true) => term::complain(escaped.trim_end()),
        (Cow::Owned(escaped), false) => _ = term::print(&escaped),
    }
    match error.use_stderr() {
        true => Exit::Usage.into(),
        false => Exit::Answered.into(),
    }
}

fn run(cli: Cli) -> Result<Exit, Failure> {
    if let Some(Command::Completion { shell }) = cli.command {
        return Ok(print_completion(shell));
    }
    let waiting = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Internal, format!("could not start: {error}")))?;
    // As a task of its own: the future given to `block_on` costs a system call per wake-up.
    let exit = waiting.block_on(async { tokio::spawn(dispatch(cli)).await });
    // The line editor may still be reading; it must not hold up leaving.
    waiting.shutdown_background();
    exit.unwrap_or_else(|error| Err(Failure::new(Exit::Internal, format!("hermes failed: {error}"))))
}

async fn dispatch(cli: Cli) -> Result<Exit, Failure> {
    let common = cli.common;
    if common.record.is_some() && !matches!(cli.command, None | Some(Command::Chat(_))) {
        return Err(Failure::usage(
            "--record is for conversations: `hermes`, `hermes chat`, or `hermes -z PROMPT`",
        ));
    }
    if let Some(flag) = common.stray(cli.command.as_ref()) {
        return Err(Failure::usage(format!(
            "{flag} is for conversations and means nothing to this command; leave it out"
        )));
    }
    match cli.command {
        Some(Command::Demo(args)) => demo::run(&args).await,
        Some(Command::Sessions(command)) => sessions_command::run(command, &common).await,
        Some(Command::Insights(args)) => insights::run(&args, &common).await,
        Some(Command::Budget(args)) => budget::run(&args, &common).await,
        Some(Command::Logs(args)) => logs_command::run(&args, &common).await,
        Some(Command::Trace(args)) => trace_command::run(&args, &common).await,
        Some(Command::Replay(args)) => replay_command::run(&args, &common).await,
        Some(Command::Model { command }) => model_command::run(command, &common).await,
        Some(Command::Auth(command)) => auth::run(command, &common).await,
        Some(Command::Config(command)) => config_command::run(command, &common),
        Some(Command::Hooks(command)) => hooks_command::run(command, &common),
        Some(Command::Memory(command)) => memory_command::run(command, &common),
        Some(Command::Prompt(command)) => prompt_command::run(&command, &common).await,
        Some(Command::Context(command)) => context_command::run(&command, &common).await,
        Some(Command::Cache(command)) => cache_command::run(&command, &common).await,
        Some(Command::Skills(command)) => skills_command::run(command, &common).await,
        Some(Command::Doctor) => doctor::run(&common).await,
        Some(Command::Chat(chat)) => launch::converse(chat, common).await,
        None => launch::converse(args::ChatArgs::default(), common).await,
        Some(Command::Completion { .. } | Command::Version) => Ok(Exit::Answered),
    }
}

fn print_completion(shell: args::Shell) -> Exit {
    use clap_complete::{Shell, generate};
    let shell = match shell {
        args::Shell::Bash => Shell::Bash,
        args::Shell::Zsh => Shell::Zsh,
        args::Shell::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "hermes", &mut script);
    term::print(&String::from_utf8_lossy(&script));
    Exit::Answered
}
