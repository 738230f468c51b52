//! `hermes backend`: the places where commands can run, and real checks of one.

use crate::commands::config;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::{environment, launch};
use clap::{Args, Subcommand};
use hermes_config::home::Home;
use hermes_config::settings::TerminalSettings;
use hermes_config::{BACKENDS, Config, shell_variables};
use hermes_runtime::{BackendReport, load_config, stop_backend, test_backend};
use hermes_terminal::{print, term};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// List and test the places where commands run
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes backend list
  hermes backend test ssh
  hermes config set terminal.backend docker")]
pub(crate) enum BackendCommand {
    /// List the backends and show the one in use
    List,
    /// Run real commands in a backend and show the result of each check
    ///
    /// The exit code is 1 if a check fails.
    Test(NameArgs),
    /// Stop the sandbox of daytona or modal
    ///
    /// Its files are kept with terminal.container_persistent; without it, the sandbox is deleted. The next command starts
    /// it again.
    Stop(NameArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct NameArgs {
    /// The backend instead of terminal.backend
    #[arg(value_name = "NAME", value_parser = BACKENDS)]
    name: Option<String>,
}

/// The backends with one line each.
const ABOUT: [(&str, &str); 7] = [
    ("local", "this machine, in the sandbox"),
    ("ssh", "another machine (terminal.ssh_host, ssh_user)"),
    ("docker", "a container, with docker or else podman"),
    ("podman", "a container, with podman"),
    ("singularity", "an instance of Singularity or Apptainer; only tried with a stand-in program"),
    ("daytona", "a sandbox of Daytona (DAYTONA_API_KEY); only tried with a stand-in server"),
    (
        "modal",
        "a sandbox of Modal, by its gateway (TOOL_GATEWAY_USER_TOKEN); only tried with a stand-in server",
    ),
];

pub(crate) async fn run(command: BackendCommand, common: &Common) -> Result<Exit, Failure> {
    match command {
        BackendCommand::List => list(common),
        BackendCommand::Test(args) => test(args, common).await,
        BackendCommand::Stop(args) => stop(args, common).await,
    }
}

fn list(common: &Common) -> Result<Exit, Failure> {
    let current = match config::read(common)?.terminal_backend() {
        name if name == "apptainer" => "singularity".to_owned(),
        name => name,
    };
    if common.json {
        let all: Vec<_> = ABOUT.iter().map(|(name, about)| json!({ "name": name, "about": about })).collect();
        print::json(&json!({ "current": current, "backends": all }));
        return Ok(Exit::Answered);
    }
    for (name, about) in ABOUT {
        let sign = if name == current { '*' } else { ' ' };
        term::print_line(&format!("{sign} {name:<12} {about}"));
    }
    if !ABOUT.iter().any(|(name, _)| *name == current) {
        term::print_line(&term::printable(&format!(
            "terminal.backend is {current}, which this version does not have"
        )));
    }
    Ok(Exit::Answered)
}

async fn test(args: NameArgs, common: &Common) -> Result<Exit, Failure> {
    let Opened { settings, home, shell, cwd } = open(args, common)?;
    let report = test_backend(&settings, &home, &shell, &cwd).await?;
    show(&report, common.json);
    let has_failed = report.checks.iter().any(|check| check.result.is_err());
    Ok(if has_failed { Exit::FailedTurn } else { Exit::Answered })
}

async fn stop(args: NameArgs, common: &Common) -> Result<Exit, Failure> {
    let Opened { settings, home, shell, cwd } = open(args, common)?;
    let backend = settings.terminal_backend();
    let Some(what) = stop_backend(&settings, &home, &shell, &cwd).await? else {
        return Err(Failure::new(
            Exit::Usage,
            format!("{backend} has nothing to stop; daytona and modal have a sandbox"),
        ));
    };
    match common.json {
        true => print::json(&json!({ "backend": backend, "result": what })),
        false => term::print_line(&term::printable(&what)),
    };
    Ok(Exit::Answered)
}

/// The settings with the backend of the arguments.
struct Opened {
    settings: Config,
    home: Home,
    shell: BTreeMap<String, String>,
    cwd: PathBuf,
}

fn open(args: NameArgs, common: &Common) -> Result<Opened, Failure> {
    let mut flags = launch::flags(common);
    if let Some(name) = args.name {
        flags.push((TerminalSettings::backend.name.to_owned(), name));
    }
    let (home, shell) = (launch::home()?, shell_variables(environment::variables()));
    let settings = load_config(&home, flags, shell.clone()).map_err(config::failure)?;
    let cwd = std::env::current_dir().map_err(|error| {
        Failure::new(Exit::Internal, format!("the working directory cannot be read: {error}"))
    })?;
    Ok(Opened { settings, home, shell, cwd })
}

/// Runs this program as the client program of a cloud sandbox.
pub(crate) fn place_client() -> ExitCode {
    match serve_place() {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            print::notice(&failure.line);
            // That of a client that did not run its program.
            ExitCode::from(255)
        }
    }
}

fn serve_place() -> Result<u8, Failure> {
    let home = launch::home()?;
    let shell = shell_variables(environment::variables());
    let settings = load_config(&home, Vec::new(), shell).map_err(config::failure)?;
    let arguments: Vec<String> =
        std::env::args_os().skip(2).filter_map(|word| word.into_string().ok()).collect();
    let waiting = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Internal, format!("could not start: {error}")))?;
    let code = waiting.block_on(hermes_clouds::place_client(&settings, home.path(), &arguments));
    // Standard input may still be read.
    waiting.shutdown_background();
    Ok(code)
}

fn show(report: &BackendReport, is_json: bool) {
    if is_json {
        let check = |check: &hermes_runtime::BackendCheck| {
            json!({ "name": check.name, "ok": check.result.is_ok(),
                "detail": check.result.as_ref().unwrap_or_else(|error| error) })
        };
        let checks: Vec<_> = report.checks.iter().map(check).collect();
        print::json(&json!({ "backend": report.backend, "place": report.label, "checks": checks }));
        return;
    }
    term::print_line(&term::printable(&format!("{}: {}", report.backend, report.label)));
    for check in &report.checks {
        let (sign, detail) = match &check.result {
            Ok(detail) => ('✓', detail),
            Err(error) => ('✗', error),
        };
        term::print_line(&term::printable(&format!("{sign} {}: {detail}", check.name)));
    }
}
