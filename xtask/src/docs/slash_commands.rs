//! The table of slash commands, from the rows that run them.

use hermes_runtime::commands::{Command, Surfaces, TABLE};

pub(super) fn table() -> String {
    let head = "| command | does | while a turn runs |\n|---|---|---|";
    let rows = TABLE.iter().map(row);
    std::iter::once(head.to_owned()).chain(rows).collect::<Vec<_>>().join("\n")
}

fn row(command: &Command) -> String {
    let call = format!("/{} {}", command.name, command.arguments).trim_end().replace('|', "\\|");
    let aliases: String = command.aliases.iter().map(|alias| format!(", `/{alias}`")).collect();
    let only = match command.surfaces {
        Surfaces::All => "",
        Surfaces::Terminal => " (terminal only)",
    };
    let busy = if command.runs_while_busy() { "yes" } else { "" };
    format!("| `{call}`{aliases} | {}{only} | {busy} |", command.help)
}
