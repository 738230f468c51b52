//! Asks the person at the terminal before a command is run.

use crate::editor::{Editor, Remember, Typed};
use crate::keyboard::Keyboard;
use hermes_conversation::BoxFuture;
use hermes_tools::{Approval, ApprovalRequest, AskUser};
use rustix::termios::{QueueSelector, tcflush};
use std::sync::Arc;
use tokio::sync::Notify;

/// Waits for a yes. The command itself is shown by the screen, in order with everything else.
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
            // Whatever was typed before the question was seen is no answer to it.
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
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
