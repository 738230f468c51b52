//! Asks the user at the terminal for approval of calls, and for the answer to a question of the model.

use crate::approval_view::{self, BatchReply, Reply};
use crate::choices::{Meant, meant};
use crate::editor::{Editor, Remember, Typed};
use crate::keyboard::{Keyboard, Prompt, QuestionLine};
use crate::term::{self, Style};
use hermes_conversation::BoxFuture;
use hermes_tools::{Approval, ApprovalRequest, AskUser, BatchApproval, Clarified, Question};
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
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            self.question_shown.notified().await;
            let mut answers = self.answers().await;
            let columns = term::columns(&std::io::stdout());
            answers.show(&approval_view::options(request, columns));
            let approval = loop {
                let reply = match answers.line(Prompt::Approval).await {
                    Typed::Line(line) => approval_view::reply(&line, request),
                    Typed::End => break Approval::DENIED,
                    Typed::Interrupt => break Approval::Stopped,
                };
                match reply {
                    Reply::Answer(approval) => break approval,
                    Reply::Help => answers.show(&approval_view::help(request, columns)),
                    Reply::View => answers.show(&approval_view::whole(&request.what)),
                    Reply::AskReason => break answers.reason().await,
                }
            };
            answers.end().await;
            approval
        })
    }

    fn approve_batch<'a>(&'a self, requests: &'a [ApprovalRequest]) -> BoxFuture<'a, BatchApproval> {
        Box::pin(async move {
            self.question_shown.notified().await;
            let mut answers = self.answers().await;
            answers.show(&approval_view::batch_options(term::columns(&std::io::stdout())));
            let approval = loop {
                let line = match answers.line(Prompt::Approval).await {
                    Typed::Line(line) => line,
                    Typed::End => break BatchApproval::Each(Approval::DENIED),
                    Typed::Interrupt => break BatchApproval::Each(Approval::Stopped),
                };
                match approval_view::batch_reply(&line, requests.len()) {
                    BatchReply::Answer(approval) => break approval,
                    BatchReply::Help => answers.show(approval_view::BATCH_HELP),
                    BatchReply::View(place) => answers.show(&approval_view::whole(&requests[place].what)),
                    BatchReply::AskReason => break BatchApproval::Each(answers.reason().await),
                }
            };
            answers.end().await;
            approval
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

    /// The source of answers: the keyboard of the running turn, or a prompt of its own.
    async fn answers(&self) -> Answers<'_> {
        match self.keyboard.lend().await {
            Some(line) => Answers::Turn(line),
            None => {
                // Input from before the question was shown does not answer it.
                let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
                Answers::Prompt(&self.editor)
            }
        }
    }
}

/// A dialogue with the user about one request.
enum Answers<'a> {
    Turn(QuestionLine),
    Prompt(&'a Editor),
}

impl Answers<'_> {
    async fn line(&mut self, prompt: Prompt) -> Typed {
        match self {
            Self::Turn(line) => line.line(prompt).await.map_or(Typed::End, Typed::Line),
            Self::Prompt(editor) => loop {
                match editor.read(prompt.label(), Remember::No).await {
                    // An empty line is not an answer.
                    Typed::Line(line) if line.trim().is_empty() => {}
                    typed => break typed,
                }
            },
        }
    }

    /// A denial with the reason that the user types.
    async fn reason(&mut self) -> Approval {
        match self.line(Prompt::Reason).await {
            Typed::Line(reason) => Approval::Denied { reason: Some(reason.trim().to_owned()) },
            Typed::End => Approval::DENIED,
            Typed::Interrupt => Approval::Stopped,
        }
    }

    fn show(&self, text: &str) {
        let Style { dim, off, .. } = Style::for_stream(&std::io::stdout());
        let styled: Vec<String> = text.lines().map(|line| format!("{dim}{line}{off}")).collect();
        match self {
            Self::Turn(line) => line.show(styled.join("\n")),
            Self::Prompt(_) => {
                for line in styled {
                    term::print_line(&line);
                }
            }
        }
    }

    async fn end(self) {
        if let Self::Turn(line) = self {
            line.give_back().await;
        }
    }
}
