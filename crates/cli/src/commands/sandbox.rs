//! `hermes sandbox`: commands in the sandbox of the settings.

use crate::commands::config;
use crate::exit::{Exit, Failure, with_causes};
use crate::flags::Common;
use crate::{environment, launch};
use clap::{Args, Subcommand};
use hermes_config::settings::SandboxSettings;
use hermes_runtime::{TraceReport, Traced, child_env, run_traced, sandbox_policy, sandbox_status};
use hermes_terminal::text::counted;
use hermes_terminal::{print, term};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// Try commands in the sandbox
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes sandbox status
  hermes sandbox run -- make test
  hermes sandbox run --profile read-only -- sh -c 'touch a'")]
pub(crate) enum SandboxCommand {
    /// Show what the sandbox enforces on this machine
    Status,
    /// Run a command in a profile and list what was denied
    ///
    /// The exit code is 1 if the command fails.
    Run(RunArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// The profile instead of sandbox.profile
    #[arg(long, value_name = "PROFILE", value_parser = ["workspace", "read-only", "full"])]
    profile: Option<String>,
    /// The program and its arguments
    #[arg(value_name = "CMD", required = true, last = true)]
    argv: Vec<String>,
}

pub(crate) fn run(command: SandboxCommand, common: &Common) -> Result<Exit, Failure> {
    match command {
        SandboxCommand::Status => status(common),
        SandboxCommand::Run(args) => try_command(args, common),
    }
}

fn status(common: &Common) -> Result<Exit, Failure> {
    let settings = config::read(common)?;
    let status = sandbox_status(&settings, &launch::home()?, &shell(), cwd()?)?;
    if common.json {
        print::json(
            &json!({ "summary": status.summary, "complete": status.is_whole, "problem": status.problem }),
        );
    } else {
        term::print_line(&term::printable(&status.summary));
    }
    match status.problem {
        Some(problem) => Err(Failure::new(Exit::Config, problem)),
        None => Ok(Exit::Answered),
    }
}

fn try_command(args: RunArgs, common: &Common) -> Result<Exit, Failure> {
    let mut flags = launch::flags(common);
    if let Some(profile) = args.profile {
        flags.push((SandboxSettings::profile.name.to_owned(), profile));
    }
    let (home, shell) = (launch::home()?, shell());
    let settings = hermes_runtime::load_config(&home, flags, shell.clone()).map_err(config::failure)?;
    let temporary = tempfile::tempdir().map_err(|error| {
        Failure::new(Exit::Internal, format!("cannot create a temporary directory: {error}"))
    })?;
    let mut policy = sandbox_policy(&settings, &home, &shell, cwd()?)?;
    policy.places.temporary = temporary.path().to_owned();
    let passthrough = settings.settings.terminal.env_passthrough.get().map_err(config::failure)?.clone();
    let mut env = child_env(shell.into_iter(), &passthrough);
    env.retain(|(name, _)| name != "TMPDIR");
    env.push(("TMPDIR".to_owned(), temporary.path().display().to_string()));
    let traced = Traced { argv: args.argv, cwd: cwd()?, env, policy };
    let is_json = common.json;
    let pass_on = |bytes: &[u8]| {
        // With JSON, standard output has only the report. A closed output ends the command by itself.
        let _ = match is_json {
            true => std::io::stderr().write_all(bytes),
            false => std::io::stdout().write_all(bytes),
        };
    };
    let report =
        run_traced(traced, pass_on).map_err(|error| Failure::new(Exit::Internal, with_causes(&error)))?;
    show(&report, common.json);
    Ok(if report.exit_code == 0 { Exit::Answered } else { Exit::FailedTurn })
}

fn shell() -> BTreeMap<String, String> {
    hermes_config::shell_variables(environment::variables())
}

fn cwd() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        Failure::new(Exit::Internal, format!("the working directory cannot be read: {error}"))
    })
}

fn show(report: &TraceReport, is_json: bool) {
    if is_json {
        let denials: Vec<_> = report
            .refusals
            .iter()
            .map(|refusal| {
                json!({ "call": refusal.call, "path": refusal.path, "error": refusal.error,
                    "by_sandbox": refusal.sentence.is_some(), "sentence": refusal.sentence })
            })
            .collect();
        print::json(
            &json!({ "exit_code": report.exit_code, "denials": denials, "untraced": report.untraced }),
        );
        return;
    }
    if let Some(why) = &report.untraced {
        print::notice(&format!(
            "the command could not be observed ({why}); denials are read from its output"
        ));
    }
    let by_sandbox: Vec<_> = report.refusals.iter().filter(|refusal| refusal.sentence.is_some()).collect();
    match by_sandbox.len() {
        0 => print::notice("the sandbox denied nothing"),
        count => print::notice(&format!("the sandbox denied {}:", counted(count, "operation"))),
    }
    for refusal in by_sandbox {
        let path = refusal.path.as_ref().map(|path| format!(" {}", path.display())).unwrap_or_default();
        let sentence = refusal.sentence.as_deref().unwrap_or_default();
        term::print_error(&term::printable(&format!(
            "  {}{path} ({}): {sentence}",
            refusal.call, refusal.error
        )));
    }
}
