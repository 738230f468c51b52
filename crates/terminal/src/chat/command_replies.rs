//! Replies to slash commands as lines of the terminal.

use crate::compaction_text::{compaction_line, meter_lines};
use crate::term::{Style, printable};
use crate::text::local_time;
use hermes_runtime::commands::{Choice, CommandReply, Panel};

/// The lines of a reply. Effects have none.
pub(super) fn lines(reply: &CommandReply, style: Style) -> Vec<String> {
    let Style { dim, off, .. } = style;
    let note = |text: &str| format!("{dim}  {}{off}", printable(text));
    match reply {
        CommandReply::Text(text) => text.lines().map(note).collect(),
        CommandReply::Table { title, rows } => {
            let rows = rows.iter().map(|row| note(&row.join("  ")));
            title.iter().map(|title| note(title)).chain(rows).collect()
        }
        CommandReply::Choices { title, choices } => {
            let row = |choice: &Choice| format!("{}  {}  {}", choice.id, local_time(choice.at), choice.label);
            std::iter::once(note(title)).chain(choices.iter().map(|choice| note(&row(choice)))).collect()
        }
        CommandReply::Panel(Panel::Context(meter)) => {
            meter_lines(meter, style).into_iter().map(|line| format!("  {line}")).collect()
        }
        CommandReply::Panel(Panel::Compacted(report)) => vec![note(&compaction_line(report))],
        CommandReply::Effect(_) => Vec::new(),
    }
}
