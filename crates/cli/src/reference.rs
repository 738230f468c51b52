//! Tables of the documentation that follow from the command line: commands and exit codes.

use crate::args::{Cli, GROUPS};
use crate::exit::Exit;
use clap::{Command, CommandFactory};

/// The commands in the groups of the root's help, each with its subcommands.
pub fn commands() -> String {
    let root = Cli::command();
    let group = |(title, names): &(&str, &[&str])| {
        let found = names.iter().filter_map(|name| root.find_subcommand(name));
        let rows: String = found.flat_map(|command| rows("hermes", command)).collect();
        format!("**{title}**\n\n| command | does |\n|---|---|\n{rows}")
    };
    GROUPS.iter().map(group).collect::<Vec<_>>().join("\n")
}

fn rows(parent: &str, command: &Command) -> Vec<String> {
    let name = format!("{parent} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default().replace('|', "\\|");
    let own = format!("| `{name}` | {about} |\n");
    let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set());
    std::iter::once(own).chain(inner.flat_map(|inner| rows(&name, inner))).collect()
}

/// The exit codes and their meanings.
pub fn exit_codes() -> String {
    let row = |exit: &Exit| format!("| {} | {} |\n", *exit as u8, exit.meaning());
    let rows: String = Exit::ALL.iter().map(row).collect();
    format!("| code | meaning |\n|---|---|\n{rows}")
}
