//! Asks the user at the terminal for approval of a command, and for the answer to a question of the model.

use crate::choices::{Meant, meant};
use crate::editor::{Editor, Remember, Typed};
use crate::keyboard::{Keyboard, Prompt};
use crate::print::is_yes;
use hermes_conversation::BoxFuture;
use hermes_tools::{Approval, ApprovalRequest, AskUser, Clarified, Question};
use rustix::termios::{QueueSelector, tcflush};
use std::sync::Arc;
use tokio::sync::Notify;

/// Reads the answers to approvals and questions. The screen shows the question itself, in order with other output.
pub(crate) struct TerminalAsk {
    pub(crate) editor: Editor,
    pub(crate) keyboard: Keyboard,
    pub(crate) question_shown: Arc<Notify>,
}

impl AskUser for TerminalAsk {
    fn approve<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            self.question_shown.notified().await;
            self.keyboard.take().await;
            // Input from before the question was shown does not answer it.
            let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
            let answer = self.editor.read("  Run it? [y/N] ", Remember::No).await;
            self.keyboard.give_back();
            match answer {
                Typed::Line(answer) if is_yes(&answer) => Approval::Allowed,
                Typed::Line(_) | Typed::End => Approval::Denied,
                Typed::Interrupt => Approval::Stopped,
            }
        })
    }

    fn clarify<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Clarified> {
        Box::pin(async move {
            // Without a keyboard during the turn, the screen does not show the question either.
            if !self.keyboard.is_heard() {
                return Clarified::NoUser;
            }
            self.question_shown.notified().await;
            match self.answer(&question.choices).await {
                Some(answer) => Clarified::Answered(answer),
                None => Clarified::NoUser,
            }
        })
    }
}

impl TerminalAsk {
    async fn answer(&self, choices: &[String]) -> Option<String> {
        let mut keyboard = self.keyboard.lend().await?;
        let answer = match meant(&keyboard.line(Prompt::Answer).await?, choices) {
            Meant::Answer(answer) => answer,
            Meant::Other => keyboard.line(Prompt::OwnAnswer).await?.trim().to_owned(),
        };
        keyboard.give_back().await;
        Some(answer)
    }
}
