//! Runs a command through another program.

use std::process::{Command, Stdio};

/// Makes `wrapper` run `command` with the same directory and environment, which must have been cleared.
pub(crate) fn wrapped(mut wrapper: Command, command: &Command) -> Command {
    wrapper.arg(command.get_program()).args(command.get_args()).env_clear().stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        wrapper.env(name, value.unwrap_or_default());
    }
    if let Some(folder) = command.get_current_dir() {
        wrapper.current_dir(folder);
    }
    wrapper
}
