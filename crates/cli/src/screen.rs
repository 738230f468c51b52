//! A turn as a person sees it: streamed text, one line per tool, notices.
//!
//! [`Screen`] turns events into text and holds the little state that layout needs; [`show`]
//! prints what it says, at most once in sixteen milliseconds.

use crate::term::{self, Style, one_line, printable, revealed};
use crate::tool_line::{self, Ended};
use hermes_conversation::{EventStream, HelperNews, TurnEvent};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The shortest time between two writes to the terminal.
const FRAME: Duration = Duration::from_millis(16);

/// What is being printed at the moment.
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
    /// Rung when a question to the person has been printed; without it none is.
    questions: Option<Arc<Notify>>,
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
        }
    }

    /// A screen with a person before it, who can be asked.
    pub(crate) fn with_questions(mut self, shown: Arc<Notify>) -> Self {
        self.questions = Some(shown);
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
            TurnEvent::ToolFinished { id, name, result, failed, millis } => {
                let arguments = self.arguments.remove(id.as_str()).unwrap_or_default();
                let ended = Ended { name, arguments: &arguments, result, failed: *failed, millis: *millis };
                let line = tool_line::finished(&ended, self.style);
                self.line(&line)
            }
            TurnEvent::ApprovalAsked { what, cwd, .. } if self.questions.is_some() => {
                let question = self.question(what, cwd);
                self.line(&question)
            }
            TurnEvent::Retracted => {
                self.line(&format!("{dim}  (that reply was not finished and does not count){off}"))
            }
            TurnEvent::Helper { task, news, .. } => match self.helper(*task, news) {
                Some(line) => self.line(&line),
                None => String::new(),
            },
            TurnEvent::Status(text) => self.line(&format!("{dim}  {}{off}", printable(text))),
            TurnEvent::Accepted
            | TurnEvent::Reasoning(_)
            | TurnEvent::ApprovalAsked { .. }
            | TurnEvent::ToolPreparing { .. }
            | TurnEvent::StepFinished { .. } => String::new(),
        }
    }

    /// A line about a session that works for this one.
    fn helper(&self, task: usize, news: &HelperNews) -> Option<String> {
        let Style { dim, red, off, .. } = self.style;
        let number = task + 1;
        let line = match news {
            HelperNews::Started { goal } => format!("begins: {}", one_line(goal, 60)),
            HelperNews::ToolStarted { name, arguments } => {
                let (sign, verb, detail) = tool_line::describe(name, arguments);
                format!("{sign} {verb} {}", one_line(&detail, 50))
            }
            HelperNews::ToolFinished { failed: false, .. } => return None,
            HelperNews::ToolFinished { name, .. } => format!("{red}{} failed", printable(name)),
            HelperNews::Status(text) => printable(text).into_owned(),
            HelperNews::Ended { status, millis } => {
                format!("{}  {:.1}s", printable(status), *millis as f64 / 1000.0)
            }
        };
        Some(format!("{dim}  ┊   helper {number}: {line}{off}"))
    }

    /// Adds what an event prints, and says whether it asks the person something.
    fn take(&mut self, event: &TurnEvent, out: &mut String) -> bool {
        out.push_str(&self.event(event));
        matches!(event, TurnEvent::ApprovalAsked { .. })
    }

    /// What closes the turn.
    pub(crate) fn end(&mut self) -> String {
        self.close_block()
    }

    /// The command in full: what is shown is what runs.
    fn question(&self, what: &str, cwd: &str) -> String {
        let Style { bold, off, dim, .. } = self.style;
        let shown = revealed(what);
        let lines: Vec<_> = shown.lines().map(|line| format!("    {bold}{line}{off}")).collect();
        format!("  The model wants to run this in {dim}{}{off}:\n{}", revealed(cwd), lines.join("\n"))
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

    fn line(&mut self, line: &str) -> String {
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

/// Prints the events of a turn until it is over. `false` when nobody reads any more.
pub(crate) async fn show(mut events: EventStream, mut screen: Screen) -> bool {
    let mut open = true;
    let mut written: Option<Instant> = None;
    while let Some(first) = events.next().await {
        let mut waiting = String::new();
        let mut is_question = screen.take(&first, &mut waiting);
        // Within a frame text piles up in the channel and is fetched in one go. A question does
        // not wait: the person who is asked does.
        if let (false, Some(written)) = (is_question, written) {
            tokio::time::sleep_until(written + FRAME).await;
        }
        while let Some(next) = events.try_next() {
            is_question |= screen.take(&next, &mut waiting);
        }
        if !waiting.is_empty() {
            open = open && term::print(&waiting);
            written = Some(Instant::now());
        }
        if let (true, Some(shown)) = (is_question, &screen.questions) {
            shown.notify_one();
        }
    }
    let end = screen.end();
    open && (end.is_empty() || term::print(&end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::CallId;

    fn helper(news: HelperNews) -> TurnEvent {
        let (call, session) = (CallId::new("c2"), hermes_conversation::SessionId::new("s"));
        TurnEvent::Helper { call, session, task: 1, news }
    }

    #[test]
    fn a_turn_is_laid_out() {
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
                millis: 40,
            },
            TurnEvent::Status("HTTP 503; trying again in 2.0 s".into()),
            helper(HelperNews::Started { goal: "look\naround".into() }),
            helper(HelperNews::ToolStarted {
                name: "read_file".into(),
                arguments: r#"{"path":"a.rs"}"#.into(),
            }),
            helper(HelperNews::ToolFinished { name: "read_file".into(), failed: false, millis: 3 }),
            helper(HelperNews::Ended { status: "completed".into(), millis: 1200 }),
            TurnEvent::Text("Done.\n".into()),
        ];
        let mut shown: String = events.iter().map(|event| screen.event(event)).collect();
        shown.push_str(&screen.end());
        assert_eq!(
            shown,
            "hm\nLooking.\n  ┊ 💻 $         ls  0.0s\n  HTTP 503; trying again in 2.0 s\n  ┊   helper 2: begins: look around\n  ┊   helper 2: 📖 read a.rs\n  ┊   helper 2: completed  1.2s\nDone.\n"
        );
    }

    #[test]
    fn reasoning_can_be_hidden() {
        let mut screen = Screen::new(Style::PLAIN, false);
        assert_eq!(screen.event(&TurnEvent::Reasoning("hm".into())), "");
    }
}
