//! Asks the person at the terminal before a command is run.

use crate::editor::{Editor, Remember, Typed};
use crate::term::{self, Style, printable};
use hermes_conversation::BoxFuture;
use hermes_tools::{Approval, ApprovalRequest, AskUser};
use std::sync::Arc;
use tokio::sync::Notify;

/// Shows the whole command and waits for a yes.
pub(crate) struct TerminalAsk {
    pub(crate) editor: Editor,
    pub(crate) style: Style,
    /// Rung when the person answers with Ctrl-C, which stops the turn too.
    pub(crate) interrupted: Arc<Notify>,
}

impl AskUser for TerminalAsk {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            term::print(&self.question(request));
            match self.editor.read("  Run it? [y/N] ", Remember::No).await {
                Typed::Line(answer) if is_yes(&answer) => Approval::Allowed,
                Typed::Line(_) | Typed::End => Approval::Denied,
                Typed::Interrupt => {
                    self.interrupted.notify_one();
                    Approval::Denied
                }
            }
        })
    }
}

impl TerminalAsk {
    /// The command in full: what is shown is what runs.
    fn question(&self, request: &ApprovalRequest) -> String {
        let Style { bold, off, dim, .. } = self.style;
        let lines: String =
            printable(&request.what).lines().map(|line| format!("    {bold}{line}{off}\n")).collect();
        let cwd = request.cwd.display().to_string();
        format!("\n  The model wants to run this in {dim}{}{off}:\n{lines}", printable(&cwd))
    }
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
