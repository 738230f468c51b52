//! What a line means that a person enters while a turn runs.

use crate::commands::{self, Action, Line};
use hermes_conversation::MailMode;

/// What is to be done with the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhileBusy {
    /// Keep it for the session; an interrupting one then stops the turn.
    Say {
        mode: MailMode,
        text: String,
    },
    /// Stop the turn and say nothing.
    Stop,
    Help,
    /// Show what Enter does.
    ShowMode,
    /// Enter does this from now on.
    SetMode(MailMode),
    /// Tell the person what is wrong with the line.
    Refuse(String),
}

/// Reads a line that was entered while a turn runs. Words follow the mode; a command never interrupts.
pub fn while_busy(line: &str, mode: MailMode) -> WhileBusy {
    let text = line.trim();
    match commands::read(line) {
        Line::Words => WhileBusy::Say { mode, text: text.to_owned() },
        Line::Command(Action::Queue { text: Some(text) }) => WhileBusy::Say { mode: MailMode::Queue, text },
        Line::Command(Action::Steer { text: Some(text) }) => WhileBusy::Say { mode: MailMode::Steer, text },
        Line::Command(Action::Queue { text: None }) => WhileBusy::Refuse(needs_text("queue")),
        Line::Command(Action::Steer { text: None }) => WhileBusy::Refuse(needs_text("steer")),
        Line::Command(Action::Busy { mode }) => busy(mode.as_deref()),
        Line::Command(Action::Stop) => WhileBusy::Stop,
        Line::Command(Action::Help) => WhileBusy::Help,
        Line::Command(
            Action::New { .. }
            | Action::Resume { .. }
            | Action::Model { .. }
            | Action::Title { .. }
            | Action::Usage
            | Action::StatusBar
            | Action::Personality { .. }
            | Action::Compress { .. }
            | Action::Context
            | Action::Pin { .. }
            | Action::Unpin { .. }
            | Action::Quit,
        ) => {
            let name = text.split_whitespace().next().unwrap_or(text);
            WhileBusy::Refuse(format!("{name} has to wait until the turn is over; Ctrl-C stops it"))
        }
        Line::Unknown { name, nearest } => WhileBusy::Refuse(commands::unknown(&name, nearest)),
    }
}

/// What `/busy` and what follows it ask for.
pub fn busy(asked: Option<&str>) -> WhileBusy {
    match asked.unwrap_or("status") {
        "status" => WhileBusy::ShowMode,
        word => match MailMode::parse(word) {
            Some(mode) => WhileBusy::SetMode(mode),
            None => WhileBusy::Refuse(format!("/busy takes queue, steer, interrupt or status, not `{word}`")),
        },
    }
}

/// What to say about a command that came without its text.
pub fn needs_text(command: &str) -> String {
    format!("/{command} needs a message after it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use MailMode::{Interrupt, Queue, Steer};

    fn say(mode: MailMode, text: &str) -> WhileBusy {
        WhileBusy::Say { mode, text: text.to_owned() }
    }

    #[test]
    fn lines_find_their_way() {
        for (line, mode, want) in [
            ("wait", Interrupt, say(Interrupt, "wait")),
            (" wait ", Queue, say(Queue, "wait")),
            ("wait", Steer, say(Steer, "wait")),
            ("/queue then that", Interrupt, say(Queue, "then that")),
            ("/q then that", Steer, say(Queue, "then that")),
            ("/steer left", Interrupt, say(Steer, "left")),
            ("/etc/hosts is odd", Steer, say(Steer, "/etc/hosts is odd")),
            ("/stop", Queue, WhileBusy::Stop),
            ("/help", Interrupt, WhileBusy::Help),
            ("/busy", Interrupt, WhileBusy::ShowMode),
            ("/busy status", Interrupt, WhileBusy::ShowMode),
            ("/busy steer", Interrupt, WhileBusy::SetMode(Steer)),
        ] {
            assert_eq!(while_busy(line, mode), want, "{line}");
        }
    }

    #[test]
    fn what_cannot_be_done_now_is_said_and_never_interrupts() {
        for line in
            ["/queue", "/steer", "/busy often", "/new", "/model x", "/quit", "/title", "/usage", "/qeue x"]
        {
            assert!(matches!(while_busy(line, Interrupt), WhileBusy::Refuse(_)), "{line}");
        }
    }
}
