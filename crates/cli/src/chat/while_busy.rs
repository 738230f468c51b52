//! Takes what a person enters while a turn runs, beside the turn.

use crate::page::Said;
use crate::term::{self, Style};
use hermes_conversation::MailMode;
use hermes_runtime::Letterbox;
use hermes_runtime::busy::{WhileBusy, while_busy};
use hermes_runtime::commands;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What it takes to hear somebody out while a turn runs.
pub(super) struct Busy {
    pub(super) letterbox: Letterbox,
    pub(super) mode: MailMode,
    /// Stops the turn.
    pub(super) cancel: CancellationToken,
    pub(super) said: mpsc::UnboundedSender<Said>,
    pub(super) style: Style,
}

impl Busy {
    /// Takes lines until there are no more, and says what Enter does by then.
    pub(super) async fn serve(mut self, mut lines: mpsc::UnboundedReceiver<String>) -> MailMode {
        while let Some(line) = lines.recv().await {
            self.take(&line).await;
        }
        self.mode
    }

    async fn take(&mut self, line: &str) {
        match while_busy(line, self.mode) {
            WhileBusy::Say { mode, text } => self.post(mode, &text).await,
            WhileBusy::Stop => self.cancel.cancel(),
            WhileBusy::Help => self.say(Said::Block(commands::help())),
            WhileBusy::ShowMode => self.note(&mode_words(self.mode)),
            WhileBusy::SetMode(mode) => {
                self.mode = mode;
                self.note(&mode_words(mode));
            }
            WhileBusy::Refuse(why) => self.note(&why),
        }
    }

    /// Keeps a message, says so, and only then stops the turn if it is to be stopped.
    async fn post(&self, mode: MailMode, text: &str) {
        match self.letterbox.post(mode, text).await {
            Ok(event) => {
                self.say(Said::Event(event));
                if mode == MailMode::Interrupt {
                    self.cancel.cancel();
                }
            }
            Err(error) => {
                let Style { red, off, .. } = self.style;
                let (text, error) = (term::printable(text), crate::exit::Failure::from(error).line);
                self.say(Said::Block(format!(
                    "{red}  not taken: {text}\n  {}{off}",
                    term::printable(&error)
                )));
            }
        }
    }

    fn note(&self, text: &str) {
        self.say(Said::Note(text.to_owned()));
    }

    fn say(&self, said: Said) {
        // The screen goes last.
        let _ = self.said.send(said);
    }
}

/// What Enter does while a turn runs.
pub(super) fn mode_words(mode: MailMode) -> String {
    let what = match mode {
        MailMode::Interrupt => "interrupts it and says your message next",
        MailMode::Queue => "queues your message; it is said when the turn is over",
        MailMode::Steer => "steers it: your message is heard beside the next tool result",
    };
    format!("Enter while a turn runs: {} ({what})", mode.as_str())
}
