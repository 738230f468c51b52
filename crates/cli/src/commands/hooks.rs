//! `hermes hooks`: hooks of config.yaml and their approvals.

use crate::commands::config;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use clap::Subcommand;
use hermes_plugins::hooks::{HookList, ListedHook, hooks, revoke_hook};
use hermes_runtime::RuntimeError;
use hermes_terminal::text::counted;
use hermes_terminal::{print, term};
use serde_json::json;

/// Manage hooks: scripts that run on turn events
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes hooks list
  hermes hooks revoke ~/.hermes/hooks/notify.sh")]
pub(crate) enum HooksCommand {
    /// List the hooks of config.yaml with their events and approvals
    ///
    /// `changed` means that the script was changed since its approval; it needs a new one before it runs.
    List,
    /// Revoke the approval of a hook
    Revoke {
        /// The command exactly as in config.yaml
        command: String,
    },
}

pub(crate) fn run(command: HooksCommand, common: &Common) -> Result<Exit, Failure> {
    let home = launch::home()?;
    match command {
        HooksCommand::List => {
            let list = hooks(&config::read(common)?, &home).map_err(RuntimeError::from)?;
            show(&list, common.json);
            Ok(Exit::Answered)
        }
        HooksCommand::Revoke { command } => match revoke_hook(&home, &command).map_err(RuntimeError::from)? {
            0 => Err(Failure::new(
                Exit::FailedTurn,
                format!("`{command}` has no approval; `hermes hooks list` shows the approvals"),
            )),
            count => {
                let answer = format!("Revoked {}", counted(count, "approval"));
                term::print_line(&if common.json { json!({ "revoked": count }).to_string() } else { answer });
                Ok(Exit::Answered)
            }
        },
    }
}

fn show(list: &HookList, is_json: bool) {
    if is_json {
        let hooks: Vec<_> = list.hooks.iter().map(as_json).collect();
        let (accepts_all, warnings) = (list.accepts_all, &list.warnings);
        let all = json!({ "hooks": hooks, "hooks_auto_accept": accepts_all, "warnings": warnings });
        print::json(&all);
        return;
    }
    for warning in &list.warnings {
        print::notice(warning);
    }
    if list.hooks.is_empty() {
        term::print_line("No hooks are configured; see docs/hooks.md.");
    }
    for hook in &list.hooks {
        let tools = hook.matcher.as_ref().map_or(String::new(), |tools| format!(" for {tools}"));
        let (event, approval, seconds) = (hook.event, hook.approval, hook.timeout.as_secs());
        let line = format!("{event}{tools}: {} ({approval}, timeout {seconds} s)", hook.command);
        term::print_line(&term::printable(&line));
    }
    if list.accepts_all && !list.hooks.is_empty() {
        term::print_line("All hooks run without approval: hooks_auto_accept is on.");
    }
}

fn as_json(hook: &ListedHook) -> serde_json::Value {
    let ListedHook { key, event, matcher, command, timeout, approval } = hook;
    json!({ "key": key, "event": event, "matcher": matcher, "command": command,
        "timeout": timeout.as_secs(), "consent": approval })
}
