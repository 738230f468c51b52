//! The keyboard of this terminal, and sessions that are resumed from it.

use crate::ask_user::TerminalAsk;
use crate::editor::Editor;
use crate::keyboard::Keyboard;
use crate::{signals, term};
use hermes_runtime::{Opening, Resuming, Runtime, RuntimeError, Session};
use hermes_tools::AskUser;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The terminal of a user who can answer approvals and questions.
pub struct Terminal {
    pub(crate) editor: Editor,
    pub(crate) keyboard: Keyboard,
    pub(crate) ask: Arc<dyn AskUser>,
    /// Notified by the screen when a question to the user is on it.
    pub(crate) question_shown: Arc<Notify>,
}

impl Terminal {
    /// Starts the line editor. Entered lines are kept in the file `history`.
    pub fn open(history: PathBuf) -> std::io::Result<Self> {
        let editor = Editor::start(history)?;
        let keyboard = Keyboard::new(editor.clone());
        let question_shown = Arc::new(Notify::new());
        let ask = Arc::new(TerminalAsk {
            editor: editor.clone(),
            keyboard: keyboard.clone(),
            question_shown: question_shown.clone(),
        });
        Ok(Self { editor, keyboard, ask, question_shown })
    }

    /// The front end that asks the user for approvals and answers.
    pub fn ask(&self) -> Arc<dyn AskUser> {
        self.ask.clone()
    }
}

/// Resumes a stored session. A command of its last turn may still run; Ctrl-C stops the wait for it.
pub async fn resume(
    runtime: &Runtime,
    which: &str,
    opening: &Opening,
    ask: Arc<dyn AskUser>,
    restores_cwd: bool,
) -> Result<Session, RuntimeError> {
    let stop = CancellationToken::new();
    let _signals = signals::watch(stop.clone());
    let tell = |notice: &str| term::print_error(&format!("hermes: {notice}"));
    runtime.resume_on(which, opening, ask, Resuming { restores_cwd, stop: &stop, tell: &tell }).await
}
