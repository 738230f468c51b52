//! Takes lines that the user enters while a turn runs.

use super::command_replies;
use crate::term::{self, Style};
use crate::turn_printer::LocalOutput;
use hermes_conversation::MailMode;
use hermes_runtime::busy::mode_text;
use hermes_runtime::commands::{self, CommandReply, Effect};
use hermes_runtime::{Prompt, SessionHandle, Submitted};
use tokio::sync::mpsc;

/// Serves the lines of one turn.
pub(super) struct Busy {
    pub(super) session: SessionHandle,
    pub(super) mode: MailMode,
    pub(super) said: mpsc::UnboundedSender<LocalOutput>,
    pub(super) style: Style,
}

/// The state after the last line.
pub(super) struct Served {
    /// The mode of messages from now on.
    pub(super) mode: MailMode,
    /// A line came too late for the turn and started another one.
    pub(super) has_started_turn: bool,
}

impl Busy {
    /// Serves lines until there are no more.
    pub(super) async fn serve(mut self, mut lines: mpsc::UnboundedReceiver<String>) -> Served {
        let mut has_started_turn = false;
        while let Some(line) = lines.recv().await {
            has_started_turn |= self.take(&line).await;
        }
        Served { mode: self.mode, has_started_turn }
    }

    /// Serves one line; returns whether it started a turn.
    async fn take(&mut self, line: &str) -> bool {
        if commands::runs_beside(line) {
            return self.run_beside(line).await;
        }
        match commands::while_busy(line) {
            CommandReply::Effect(Effect::Submit(text)) => self.post(self.mode, &text).await,
            CommandReply::Effect(Effect::Queue { mode, text }) => self.post(mode, &text).await,
            CommandReply::Effect(Effect::SetBusyMode(mode)) => {
                self.mode = mode;
                self.note(mode_text(mode))
            }
            CommandReply::Effect(Effect::ShowBusyMode) => self.note(mode_text(self.mode)),
            CommandReply::Text(text) if !text.contains('\n') => self.note(text),
            other => self.say(LocalOutput::Block(command_replies::lines(&other, self.style).join("\n"))),
        }
    }

    /// Runs a command that needs no session. Never starts a turn.
    async fn run_beside(&self, line: &str) -> bool {
        match self.session.command(line).await {
            Ok(CommandReply::Text(text)) if !text.contains('\n') => self.note(text),
            Ok(reply) => self.say(LocalOutput::Block(command_replies::lines(&reply, self.style).join("\n"))),
            Err(error) => self.note(error.explained()),
        }
    }

    async fn post(&self, mode: MailMode, text: &str) -> bool {
        let prompt = Prompt { when_busy: mode, ..Prompt::typed(text) };
        match self.session.submit(prompt).await {
            Ok(submitted) => matches!(submitted, Submitted::Turn(_)),
            Err(error) => {
                let Style { red, off, .. } = self.style;
                let (text, error) = (term::printable(text), error.explained());
                let error = term::printable(&error);
                self.say(LocalOutput::Block(format!("{red}  not sent: {text}\n  {error}{off}")))
            }
        }
    }

    fn note(&self, text: String) -> bool {
        self.say(LocalOutput::Note(text))
    }

    fn say(&self, said: LocalOutput) -> bool {
        // The screen may be gone already.
        let _ = self.said.send(said);
        false
    }
}
