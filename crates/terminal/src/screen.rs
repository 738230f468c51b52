//! The text of a turn on the screen: streamed text, one line per tool, notices.
//!
//! [`Screen`] turns events into text and holds the little state that layout needs; `turn_printer` prints it.

use crate::approval_view::{self, Asked};
use crate::choices::numbered;
use crate::compaction_text::compaction_line;
use crate::term::{self, Style, one_line, printable, revealed};
use crate::tool_line::{self, Ended};
use hermes_conversation::{CallTitle, MailMode, SubagentEvent, TurnEvent};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Notify;

/// Columns of a message in a notice about it.
const MAIL_WIDTH: usize = 90;

/// The kind of text that is being streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Nothing,
    Text,
    Reasoning,
}

/// Layout of one turn.
pub(crate) struct Screen {
    style: Style,
    shows_reasoning: bool,
    block: Block,
    /// The cursor is not at the start of a line.
    open_line: bool,
    arguments: HashMap<String, String>,
    /// Notified when a question to the user has been printed; without it none is.
    questions: Option<Arc<Notify>>,
    /// Set if the model's questions can be answered, too.
    is_conversation: bool,
}

impl Screen {
    pub(crate) fn new(style: Style, shows_reasoning: bool) -> Self {
        Self {
            style,
            shows_reasoning,
            block: Block::Nothing,
            open_line: false,
            arguments: HashMap::new(),
            questions: None,
            is_conversation: false,
        }
    }

    /// A screen of a user who can answer approvals.
    pub(crate) fn with_questions(mut self, shown: Arc<Notify>) -> Self {
        self.questions = Some(shown);
        self
    }

    /// A screen of a chat, in which questions of the model can be answered.
    pub(crate) fn in_conversation(mut self) -> Self {
        self.is_conversation = true;
        self
    }

    /// The text to print for an event.
    pub(crate) fn event(&mut self, event: &TurnEvent) -> String {
        let Style { dim, off, .. } = self.style;
        match event {
            TurnEvent::Text(text) => self.streamed(Block::Text, text),
            TurnEvent::Reasoning(text) if self.shows_reasoning => self.streamed(Block::Reasoning, text),
            TurnEvent::ToolStarted { id, arguments, .. } => {
                self.arguments.insert(id.to_string(), arguments.clone());
                String::new()
            }
            TurnEvent::ToolFinished { id, name, result, failed, ending, millis } => {
                let arguments = self.arguments.remove(id.as_str()).unwrap_or_default();
                let (failed, ending, millis) = (*failed, *ending, *millis);
                let ended = Ended { name, arguments: &arguments, result, failed, ending, millis };
                let line = tool_line::finished(&ended, self.style);
                self.line(&line)
            }
            TurnEvent::ApprovalAsked { what, cwd, effects, .. } if self.questions.is_some() => {
                let (columns, rows) = term::size(&std::io::stdout());
                let question =
                    approval_view::request(&Asked { what, cwd, effects }, self.style, columns, rows);
                self.line(&question)
            }
            TurnEvent::BatchAsked { calls } if self.questions.is_some() => {
                let (columns, _) = term::size(&std::io::stdout());
                let calls: Vec<Asked<'_>> = calls
                    .iter()
                    .map(|call| Asked { what: &call.what, cwd: &call.cwd, effects: &call.effects })
                    .collect();
                let question = approval_view::batch(&calls, self.style, columns);
                self.line(&question)
            }
            TurnEvent::ClarifyAsked { question, choices, .. } if self.is_conversation => {
                let question = self.model_question(question, choices);
                self.line(&question)
            }
            TurnEvent::HookAsked { key, event, command, is_changed } if self.questions.is_some() => {
                let question = self.hook_question((key, event), command, *is_changed);
                self.line(&question)
            }
            TurnEvent::Retracted => {
                self.line(&format!("{dim}  (interrupted reply, not sent to the model){off}"))
            }
            TurnEvent::Subagent { task, event, .. } => match self.subagent(*task, event) {
                Some(line) => self.line(&line),
                None => String::new(),
            },
            TurnEvent::Status(text) => self.note(text),
            TurnEvent::Compacted(report) => self.note(&compaction_line(report)),
            TurnEvent::MailAccepted { mode, text, .. } => self.note(&accepted(*mode, text)),
            TurnEvent::MailDelivered { mode: MailMode::Steer, text, .. } => {
                self.note(&format!("↳ steered: {}", one_line(text, MAIL_WIDTH)))
            }
            TurnEvent::MailDelivered { text, .. } => {
                let Style { bold, .. } = self.style;
                self.line(&format!("{bold}❯ {}{off}\n", one_line(text, MAIL_WIDTH)))
            }
            TurnEvent::Accepted
            | TurnEvent::Reasoning(_)
            | TurnEvent::ApprovalAsked { .. }
            | TurnEvent::BatchAsked { .. }
            | TurnEvent::CallDecided { .. }
            | TurnEvent::ClarifyAsked { .. }
            | TurnEvent::Thinking { .. }
            | TurnEvent::HookAsked { .. }
            | TurnEvent::ToolPreparing { .. }
            | TurnEvent::StepFinished { .. } => String::new(),
        }
    }

    /// A line about a sub-agent.
    fn subagent(&self, task: usize, event: &SubagentEvent) -> Option<String> {
        let Style { dim, red, off, .. } = self.style;
        let number = task + 1;
        let line = match event {
            SubagentEvent::Started { goal } => format!("started: {}", one_line(goal, 60)),
            SubagentEvent::ToolStarted { name, arguments } => {
                let CallTitle { icon, verb, detail } = tool_line::describe(name, arguments);
                format!("{icon} {verb} {}", one_line(&detail, 50))
            }
            SubagentEvent::ToolFinished { failed: false, .. } => return None,
            SubagentEvent::ToolFinished { name, .. } => format!("{red}{} failed", printable(name)),
            SubagentEvent::Status(text) => printable(text).into_owned(),
            SubagentEvent::Ended { status, millis } => {
                format!("{}  {:.1}s", printable(status), *millis as f64 / 1000.0)
            }
        };
        Some(format!("{dim}  ┊   sub-agent {number}: {line}{off}"))
    }

    /// Appends the text of an event to `out`; returns true if it is a question to the user.
    pub(crate) fn take(&mut self, event: &TurnEvent, out: &mut String) -> bool {
        out.push_str(&self.event(event));
        match event {
            TurnEvent::ApprovalAsked { .. } | TurnEvent::BatchAsked { .. } | TurnEvent::HookAsked { .. } => {
                true
            }
            TurnEvent::ClarifyAsked { .. } => self.is_conversation,
            _ => false,
        }
    }

    /// Notifies the asking task that the question has been printed.
    pub(crate) fn question_is_shown(&self) {
        if let Some(shown) = &self.questions {
            shown.notify_one();
        }
    }

    /// The text that ends the turn.
    pub(crate) fn end(&mut self) -> String {
        self.close_block()
    }

    /// A question of the model with its choices.
    fn model_question(&self, question: &str, choices: &[String]) -> String {
        let Style { bold, off, .. } = self.style;
        let asked = printable(question);
        let asked = asked.lines().map(|line| format!("{bold}{line}{off}"));
        let choices = numbered(choices);
        let choices = choices.iter().flat_map(|choice| choice.lines()).map(str::to_owned);
        let lines: Vec<String> = asked.chain(choices).collect();
        format!("  ❓ {}", lines.join("\n     "))
    }

    /// The approval request for a hook.
    fn hook_question(&self, (key, event): (&str, &str), command: &str, is_changed: bool) -> String {
        let Style { bold, off, dim, .. } = self.style;
        let (key, event, shown) = (revealed(key), revealed(event), revealed(command));
        let lines: Vec<_> = shown.lines().map(|line| format!("    {bold}{line}{off}")).collect();
        let why = if is_changed { "  Its script was changed since you approved it.\n" } else { "" };
        format!(
            "  {dim}{key}{off} in config.yaml runs this hook at every {event}; your approval is stored:\n{why}{}",
            lines.join("\n")
        )
    }

    fn streamed(&mut self, block: Block, text: &str) -> String {
        let mut out = String::new();
        if self.block != block {
            out.push_str(&self.close_block());
            self.block = block;
            if block == Block::Reasoning {
                out.push_str(self.style.dim);
            }
        }
        let text = printable(text);
        // Models like to begin with blank lines; a fresh block does not.
        let text = if self.open_line { &*text } else { text.trim_start_matches('\n') };
        out.push_str(text);
        if !text.is_empty() {
            self.open_line = !text.ends_with('\n');
        }
        out
    }

    /// A notice: a line that is not part of the conversation.
    pub(crate) fn note(&mut self, text: &str) -> String {
        let Style { dim, off, .. } = self.style;
        self.line(&format!("{dim}  {}{off}", printable(text)))
    }

    /// Returns true if the last printed text did not end its line.
    pub(crate) fn is_mid_line(&self) -> bool {
        self.open_line
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// A line of its own.
    pub(crate) fn line(&mut self, line: &str) -> String {
        format!("{}{line}\n", self.close_block())
    }

    fn close_block(&mut self) -> String {
        let mut out = String::new();
        if std::mem::take(&mut self.open_line) {
            out.push('\n');
        }
        if self.block == Block::Reasoning {
            out.push_str(self.style.off);
        }
        self.block = Block::Nothing;
        out
    }
}

/// The notice about a message that was accepted while a turn runs.
pub(crate) fn accepted(mode: MailMode, text: &str) -> String {
    let word = match mode {
        MailMode::Interrupt => "interrupting",
        MailMode::Queue => "queued",
        MailMode::Steer => "steering",
    };
    format!("↳ {word}: {}", one_line(text, MAIL_WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::{CallEnding, CallId};

    fn subagent(event: SubagentEvent) -> TurnEvent {
        let (call, session) = (CallId::new("c2"), hermes_conversation::SessionId::new("s"));
        TurnEvent::Subagent { call, session, task: 1, event }
    }

    #[test]
    fn turn_is_laid_out() {
        let mut screen = Screen::new(Style::PLAIN, true);
        let id = CallId::new("c1");
        let events = [
            TurnEvent::Accepted,
            TurnEvent::Reasoning("hm".into()),
            TurnEvent::Text("\n\nLook".into()),
            TurnEvent::Text("ing.".into()),
            TurnEvent::ToolStarted {
                id: id.clone(),
                name: "terminal".into(),
                arguments: r#"{"command":"ls"}"#.into(),
            },
            TurnEvent::ToolFinished {
                id,
                name: "terminal".into(),
                result: "{}".into(),
                failed: false,
                ending: CallEnding::Answered,
                millis: 40,
            },
            TurnEvent::Status("HTTP 503; retrying in 2.0 s".into()),
            subagent(SubagentEvent::Started { goal: "look\naround".into() }),
            subagent(SubagentEvent::ToolStarted {
                name: "read_file".into(),
                arguments: r#"{"path":"a.rs"}"#.into(),
            }),
            subagent(SubagentEvent::ToolFinished {
                name: "read_file".into(),
                failed: false,
                millis: 3,
                ending: Default::default(),
            }),
            subagent(SubagentEvent::Ended { status: "completed".into(), millis: 1200 }),
            TurnEvent::Text("Done.\n".into()),
        ];
        let mut shown: String = events.iter().map(|event| screen.event(event)).collect();
        shown.push_str(&screen.end());
        assert_eq!(
            shown,
            "hm\nLooking.\n  ┊ 💻 $         ls  0.0s\n  HTTP 503; retrying in 2.0 s\n  ┊   sub-agent 2: started: look around\n  ┊   sub-agent 2: 📖 read a.rs\n  ┊   sub-agent 2: completed  1.2s\nDone.\n"
        );
    }

    #[test]
    fn question_is_shown_only_where_it_can_be_answered() {
        let event = TurnEvent::ClarifyAsked {
            id: CallId::new("c1"),
            question: "Which?\nReally\x1b[2J".into(),
            choices: vec!["red".into(), "dark\nblue".into()],
        };
        let mut shown = String::new();
        let mut screen = Screen::new(Style::PLAIN, false).in_conversation();
        assert!(screen.take(&event, &mut shown));
        assert!(!shown.contains('\x1b'), "{shown:?}");
        assert!(shown.starts_with("  ❓ Which?\n     Really"), "{shown:?}");
        assert!(
            shown.ends_with("\n     1. red\n     2. dark\n     blue\n     3. other: type your own answer\n"),
            "{shown:?}"
        );

        let mut silent = String::new();
        assert!(!Screen::new(Style::PLAIN, false).take(&event, &mut silent));
        assert_eq!(silent, "");
    }

    #[test]
    fn reasoning_can_be_hidden() {
        let mut screen = Screen::new(Style::PLAIN, false);
        assert_eq!(screen.event(&TurnEvent::Reasoning("hm".into())), "");
    }
}

#[cfg(test)]
#[path = "screen_hostile_tests.rs"]
mod hostile_tests;
