//! `hermes approvals`: verdicts of the command gate, and the allow list.

use crate::commands::config;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::{environment, launch};
use clap::{Args, Subcommand};
use hermes_config::change_list;
use hermes_config::settings::Settings;
use hermes_runtime::{RuntimeError, approval_scene, command_check};
use hermes_terminal::text::counted;
use hermes_terminal::{print, term};
use serde_json::{Value, json};
use std::io::BufRead;
use std::path::PathBuf;

/// Check which commands need approval, and manage permanent approvals
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes approvals check \"git push --force\"
  hermes approvals list
  hermes approvals revoke \"recursive delete\"")]
pub(crate) enum ApprovalsCommand {
    /// Show whether a command would run, ask or be denied, and why
    ///
    /// Nothing is run. The exit code is 0 for allow, 2 for ask, 3 for deny.
    #[command(alias = "test")]
    Check(CheckArgs),
    /// List the rules and commands that run without approval (command_allowlist)
    List,
    /// Remove a rule or command from the list
    Revoke {
        /// The entry exactly as `hermes approvals list` shows it
        entry: String,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CheckArgs {
    /// The command
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
    /// Read one JSON object per line, {"command": "...", "cwd": "..."}, and print one per line
    #[arg(long, conflicts_with = "command")]
    stdin: bool,
}

pub(crate) fn run(command: ApprovalsCommand, common: &Common) -> Result<Exit, Failure> {
    match command {
        ApprovalsCommand::Check(args) if args.stdin => check_lines(common),
        ApprovalsCommand::Check(args) => check_one(&args.command, common),
        ApprovalsCommand::List => list(common),
        ApprovalsCommand::Revoke { entry } => revoke(&entry, common),
    }
}

fn check_one(words: &[String], common: &Common) -> Result<Exit, Failure> {
    let command = match words {
        [] => return Err(Failure::usage("no command given; see `hermes approvals check --help`")),
        [one] => one.clone(),
        many => many.join(" "),
    };
    let cwd = std::env::current_dir().map_err(|error| Failure::new(Exit::Internal, error.to_string()))?;
    let checked = check(&command, cwd, common)?;
    if common.json {
        print::json(&checked);
    } else {
        term::print_line(&term::printable(&shown(&checked)));
    }
    Ok(match checked["verdict"].as_str() {
        Some("allow") => Exit::Answered,
        Some("ask") => Exit::Usage,
        _ => Exit::Denied,
    })
}

fn check_lines(common: &Common) -> Result<Exit, Failure> {
    let here = std::env::current_dir().map_err(|error| Failure::new(Exit::Internal, error.to_string()))?;
    for (place, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let expected = "expected {\"command\": \"...\", \"cwd\": \"...\"}";
        let wrong = |why: String| Failure::usage(format!("line {}: {expected}{why}", place + 1));
        let object: Value = serde_json::from_str(&line).map_err(|error| wrong(format!(": {error}")))?;
        let command = object["command"].as_str().ok_or_else(|| wrong(String::new()))?;
        let cwd = object["cwd"].as_str().map_or_else(|| here.clone(), |cwd| here.join(cwd));
        let checked = check(command, cwd, common)?;
        if !print::json(&checked) {
            break;
        }
    }
    Ok(Exit::Answered)
}

/// The verdict on a command as JSON.
fn check(command: &str, cwd: PathBuf, common: &Common) -> Result<Value, Failure> {
    let settings = config::read(common)?;
    let shell = hermes_config::shell_variables(environment::variables());
    let scene = approval_scene(&settings, &launch::home()?, &shell, cwd)?;
    let checked = command_check(command, &scene, &settings)?;
    Ok(
        json!({ "verdict": checked.verdict, "effects": checked.effects, "rule": checked.rule, "reason": checked.reason }),
    )
}

fn shown(checked: &Value) -> String {
    let text = |key: &str| checked[key].as_str().unwrap_or_default().to_owned();
    let mut out = text("verdict");
    if !text("reason").is_empty() {
        out = format!("{out}: {}\n   rule: {}", text("reason"), text("rule"));
    }
    let effects: Vec<&str> =
        checked["effects"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !effects.is_empty() {
        out = format!("{out}\neffects: {}", effects.join(", "));
    }
    out
}

fn list(common: &Common) -> Result<Exit, Failure> {
    let settings = config::read(common)?;
    let entries = settings.settings.command_allowlist.get().map_err(config::failure)?;
    if common.json {
        print::json(&json!(entries));
    } else if entries.is_empty() {
        term::print_line("No permanent approvals. Answer an approval request with `a` to add one.");
    } else {
        print::lines(entries.iter().map(|entry| term::printable(entry).into_owned()));
    }
    Ok(Exit::Answered)
}

fn revoke(entry: &str, common: &Common) -> Result<Exit, Failure> {
    let home = launch::home()?;
    let mut count = 0;
    let without = |list: Vec<String>| {
        let before = list.len();
        let left: Vec<String> = list.into_iter().filter(|one| one != entry).collect();
        count = before - left.len();
        left
    };
    change_list(&home, Settings::command_allowlist.name, without).map_err(RuntimeError::from)?;
    match count {
        0 => Err(Failure::new(
            Exit::FailedTurn,
            format!("`{entry}` is not in command_allowlist; `hermes approvals list` shows the entries"),
        )),
        count if common.json => {
            print::json(&json!({ "revoked": count }));
            Ok(Exit::Answered)
        }
        count => {
            term::print_line(&format!("Revoked {}", counted(count, "approval")));
            Ok(Exit::Answered)
        }
    }
}
