//! The command line and its subcommands. The binary only calls [`main`].
//!
//! Standard output carries replies and results, standard error everything else.

mod args;
mod closed_output;
mod commands;
mod confirm;
mod environment;
mod exit;
mod flags;
mod json_events;
mod launch;
mod missing_model;
mod oneshot;
mod prompt_input;
pub mod reference;
mod time_input;
mod usage_file;

use args::{Command, Parsed};
use commands::chat::ChatArgs;
use exit::{Exit, Failure};
use hermes_terminal::{print, term};
use std::borrow::Cow;
use std::process::ExitCode;

/// Runs the program with the arguments and the environment of this process.
pub fn main() -> ExitCode {
    if is_supervisor() {
        return supervise();
    }
    if is_place_client() {
        return commands::backend::place_client();
    }
    if is_version_question() {
        return print_version();
    }
    if closed_output::was_closed() {
        print::notice("standard output is closed; use >/dev/null to discard the output");
        return Exit::Internal.into();
    }
    environment::hide_secrets();
    let cli = match args::parse(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(error) => return explain_usage(&error),
    };
    if cli.wants_version || matches!(cli.command, Some(Command::Version)) {
        return print_version();
    }
    match run(cli) {
        Ok(_) if term::output_was_lost() => {
            print::notice("cannot write to standard output; the session itself is saved");
            Exit::Internal.into()
        }
        Ok(exit) => exit.into(),
        // A failure without a message has been explained already.
        Err(failure) if failure.line.is_empty() => failure.exit.into(),
        Err(failure) => {
            print::notice(&failure.line);
            failure.exit.into()
        }
    }
}

/// Decided first, on the main thread and with no file open.
fn is_supervisor() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == launch::SUPERVISE)
}

/// Decided before the arguments are parsed, because it must start fast.
fn is_place_client() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == hermes_clouds::CLIENT)
}

fn supervise() -> ExitCode {
    match hermes_runtime::supervise() {
        Ok(()) => Exit::Answered.into(),
        Err(error) => {
            print::notice(&error.to_string());
            Exit::Internal.into()
        }
    }
}

/// Returns true for the common spellings of the version, which need no parser.
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
    // Requested help goes to standard output and is not an error; neither is a closed pipe.
    let plain = error.render().to_string();
    match (term::escaped(&plain, false), error.use_stderr()) {
        (Cow::Borrowed(_), _) => _ = error.print(),
        (Cow::Owned(escaped), true) => term::print_error(escaped.trim_end()),
        (Cow::Owned(escaped), false) => _ = term::print(&escaped),
    }
    match error.use_stderr() {
        true => Exit::Usage.into(),
        false => Exit::Answered.into(),
    }
}

fn run(cli: Parsed) -> Result<Exit, Failure> {
    if let Some(Command::Completion(args)) = &cli.command {
        return Ok(commands::completion::run(args));
    }
    let waiting = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Internal, format!("could not start: {error}")))?;
    // A task of its own: the future of `block_on` costs a system call per wake-up.
    let exit = waiting.block_on(async { tokio::spawn(dispatch(cli)).await });
    // The line editor may still be reading; it must not delay the exit.
    waiting.shutdown_background();
    exit.unwrap_or_else(|error| Err(Failure::new(Exit::Internal, format!("hermes failed: {error}"))))
}

async fn dispatch(cli: Parsed) -> Result<Exit, Failure> {
    let common = cli.common;
    match cli.command {
        Some(Command::Demo(args)) => commands::demo::run(&args).await,
        Some(Command::Sessions(command)) => commands::sessions::run(command, &common).await,
        Some(Command::Insights(args)) => commands::insights::run(&args, &common).await,
        Some(Command::Budget(args)) => commands::budget::run(&args, &common).await,
        Some(Command::Logs(args)) => commands::logs::run(&args, &common).await,
        Some(Command::Trace(args)) => commands::trace::run(&args, &common).await,
        Some(Command::Replay(args)) => commands::replay::run(&args, &common).await,
        Some(Command::Ps(args)) => commands::ps::list(&args, &common).await,
        Some(Command::Kill(args)) => commands::ps::kill(&args, &common).await,
        Some(Command::Model(args)) => Box::pin(commands::model::run(args, &common)).await,
        Some(Command::Auth(command)) => commands::auth::run(command, &common).await,
        Some(Command::Config(command)) => commands::config::run(command, &common),
        Some(Command::Hooks(command)) => commands::hooks::run(command, &common),
        Some(Command::Approvals(command)) => commands::approvals::run(command, &common),
        Some(Command::Tools(command)) => commands::tools::run(command, &common),
        Some(Command::Backend(command)) => Box::pin(commands::backend::run(command, &common)).await,
        Some(Command::Sandbox(command)) => commands::sandbox::run(command, &common),
        Some(Command::Rollback(args)) => Box::pin(commands::rollback::run(args, &common)).await,
        Some(Command::Memory(command)) => commands::memory::run(command, &common),
        Some(Command::Prompt(command)) => commands::prompt::run(&command, &common).await,
        Some(Command::Context(command)) => commands::context::run(&command, &common).await,
        Some(Command::Cache(command)) => commands::cache::run(&command, &common).await,
        Some(Command::Skills(command)) => commands::skills::run(command, &common).await,
        Some(Command::Doctor(_)) => Box::pin(commands::doctor::run(&common)).await,
        Some(Command::Chat(chat)) => Box::pin(commands::chat::run(chat, common)).await,
        None => Box::pin(commands::chat::run(ChatArgs::default(), common)).await,
        Some(Command::Completion(_) | Command::Version) => Ok(Exit::Answered),
    }
}
