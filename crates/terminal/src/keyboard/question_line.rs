//! The keyboard of a question that is answered with a line.
//!
//! The line is read key by key, like the one that is typed ahead, so that the question can be withdrawn at any time
//! and Ctrl-C stays a signal.

use super::{Keyboard, Prompt, Turn};
use crate::editor::{Listening, Remember};
use crate::turn_printer::LocalOutput;
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::mpsc;

/// The keyboard, lent to a question. Dropping it withdraws the question and returns the keyboard to the typed line.
pub(crate) struct QuestionLine {
    keyboard: Keyboard,
    turn: Turn,
    listening: Option<Listening>,
    entered: mpsc::UnboundedReceiver<String>,
}

impl Keyboard {
    /// Returns true if lines can be read: a turn runs in a terminal.
    pub(crate) fn is_heard(&self) -> bool {
        self.with(|state| state.turn.is_some())
    }

    /// Takes the keyboard for a question that is on the screen; `None` if no line can be read.
    pub(crate) async fn lend(&self) -> Option<QuestionLine> {
        let turn = self.with(|state| state.turn.clone())?;
        let (into, entered) = mpsc::unbounded_channel();
        let mut line = QuestionLine { keyboard: self.clone(), turn: turn.clone(), listening: None, entered };
        self.take().await;
        // Input from before the question was shown does not answer it.
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
        let round = self.with(|state| {
            state.round += 1;
            state.round
        });
        let heard = move |text: &str, line: Option<String>| {
            turn.shown.send_modify(|shown| {
                shown.text = text.to_owned();
                shown.round = round;
            });
            if let Some(line) = line {
                // Fails if the question was withdrawn meanwhile.
                let _ = into.send(line);
            }
        };
        line.listening = Some(self.editor.listen(String::new(), Remember::No, Box::new(heard))?);
        Some(line)
    }
}

impl QuestionLine {
    /// Waits for a line that is not blank; `None` if no line can be read any more.
    pub(crate) async fn line(&mut self, prompt: Prompt) -> Option<String> {
        self.turn.shown.send_modify(|shown| shown.prompt = prompt);
        self.entered.recv().await
    }

    /// Shows a text above the line.
    pub(crate) fn show(&self, text: String) {
        // Fails if the turn has ended, and the question with it.
        let _ = self.turn.output.send(LocalOutput::Block(text));
    }

    /// Returns the keyboard to the typed line.
    pub(crate) async fn give_back(mut self) {
        if let Some(listening) = self.listening.take() {
            let begun = listening.stop().await;
            self.keep(&begun);
        }
    }

    /// Keeps input beyond the answer for the conversation.
    fn keep(&mut self, begun: &str) {
        while let Ok(line) = self.entered.try_recv() {
            let _ = self.turn.lines.send(line);
        }
        self.keyboard.with(|state| state.draft = joined(&state.draft, begun));
    }
}

impl Drop for QuestionLine {
    fn drop(&mut self) {
        if self.listening.take().is_some() {
            let begun = self.turn.shown.borrow().text.clone();
            self.keep(&begun);
        }
        self.keyboard.give_back();
    }
}

/// The draft from before the question, followed by the one begun at it.
fn joined(before: &str, begun: &str) -> String {
    match (before.is_empty(), begun.is_empty()) {
        (_, true) => before.to_owned(),
        (true, false) => begun.to_owned(),
        (false, false) => format!("{before} {begun}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_are_joined() {
        for (before, begun, want) in
            [("", "", ""), ("a", "", "a"), ("", "b", "b"), ("also", "this", "also this")]
        {
            assert_eq!(joined(before, begun), want, "{before:?} {begun:?}");
        }
    }
}
