//! The owner of the keyboard while a turn runs: the typed line, or a question.
//!
//! A question takes the keyboard and returns it; the typed line waits meanwhile.

mod question_line;

pub(crate) use question_line::QuestionLine;

use crate::editor::{Editor, Listening, Remember};
use crate::turn_printer::LocalOutput;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, watch};

/// The prompt before the typed line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Prompt {
    /// A message to the session.
    #[default]
    Line,
    /// The answer to a question.
    Answer,
    /// The answer to a question that is none of the choices.
    OwnAnswer,
    /// The answer to an approval request.
    Approval,
    /// The reason of a denial.
    Reason,
}

impl Prompt {
    /// The text before the typed line.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Line => "❯ ",
            Self::Answer => "  Your answer: ",
            Self::OwnAnswer => "  Your own answer: ",
            Self::Approval => "  Run it? ",
            Self::Reason => "  Reason: ",
        }
    }
}

/// The typed line as the screen shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) prompt: Prompt,
    pub(crate) text: String,
    /// The number of times the line got the keyboard. A question hides the line of its round.
    pub(crate) round: u32,
}

/// The keyboard during a turn. Clones share it.
#[derive(Clone)]
pub(crate) struct Keyboard {
    editor: Editor,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    turn: Option<Turn>,
    listening: Option<Listening>,
    /// Input that was not entered.
    draft: String,
    round: u32,
}

#[derive(Clone)]
struct Turn {
    lines: mpsc::UnboundedSender<String>,
    shown: Arc<watch::Sender<Shown>>,
    output: mpsc::UnboundedSender<LocalOutput>,
}

/// The input during a turn.
pub(crate) struct Typing {
    /// Entered lines. They end with [`Keyboard::end`].
    pub(crate) lines: mpsc::UnboundedReceiver<String>,
    pub(crate) shown: watch::Receiver<Shown>,
}

impl Keyboard {
    pub(crate) fn new(editor: Editor) -> Self {
        Self { editor, state: Arc::default() }
    }

    /// Reads keys from now on, starting with `draft`. Texts of questions go to `output`.
    pub(crate) fn begin(&self, draft: String, output: mpsc::UnboundedSender<LocalOutput>) -> Typing {
        let (into, lines) = mpsc::unbounded_channel();
        let (shown, seen) = watch::channel(Shown::default());
        self.with(|state| {
            state.draft = draft;
            state.turn = Some(Turn { lines: into, shown: Arc::new(shown), output });
        });
        self.give_back();
        Typing { lines, shown: seen }
    }

    /// Stops reading at the end of a turn and returns the input that was not entered.
    pub(crate) async fn end(&self) -> String {
        self.take().await;
        self.with(|state| {
            state.turn = None;
            std::mem::take(&mut state.draft)
        })
    }

    /// Takes the keyboard for a question.
    pub(crate) async fn take(&self) {
        let listening = self.with(|state| state.listening.take());
        if let Some(listening) = listening {
            let draft = listening.stop().await;
            self.with(|state| state.draft = draft);
        }
    }

    /// Returns the keyboard to the typed line, if a turn is still running.
    pub(crate) fn give_back(&self) {
        self.with(|state| {
            let Some(Turn { lines, shown, .. }) = state.turn.clone() else { return };
            state.round += 1;
            let round = state.round;
            let heard = move |text: &str, line: Option<String>| {
                shown.send_replace(Shown { prompt: Prompt::Line, text: text.to_owned(), round });
                if let Some(line) = line {
                    // The end of the turn reads all of them.
                    let _ = lines.send(line);
                }
            };
            state.listening = self.editor.listen(state.draft.clone(), Remember::Yes, Box::new(heard));
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
