//! Prints a turn while it runs, at most once in sixteen milliseconds, and keeps the typed line below it.

use crate::input_area::{self, InputArea};
use crate::keyboard::Shown;
use crate::screen::{self, Screen};
use crate::term::{self, Style};
use hermes_conversation::TurnEvent;
use hermes_runtime::{Observer, SessionEvent, TurnReport};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// The shortest time between two writes to the terminal.
const FRAME: Duration = Duration::from_millis(16);

/// Output that does not come from events of the session.
pub(crate) struct LocalSources {
    /// The line that is being typed.
    shown: watch::Receiver<Shown>,
    /// Output of the front end itself.
    output: mpsc::UnboundedReceiver<LocalOutput>,
}

/// Output of the front end itself while a turn runs.
#[derive(Debug)]
pub(crate) enum LocalOutput {
    Event(TurnEvent),
    /// One line; it is shown below a line that is being streamed until that ends.
    Note(String),
    /// Several lines, styled, shown at once.
    Block(String),
}

impl LocalSources {
    pub(crate) fn new(shown: watch::Receiver<Shown>, output: mpsc::UnboundedReceiver<LocalOutput>) -> Self {
        Self { shown, output }
    }

    /// No input and no output of the front end.
    pub(crate) fn none() -> Self {
        Self::new(watch::channel(Shown::default()).1, mpsc::unbounded_channel().1)
    }
}

/// The end of a turn that was shown.
pub(crate) enum TurnEnd {
    Report(Arc<TurnReport>),
    /// The turn could not run.
    Failed(String),
    /// The session was closed meanwhile.
    Closed,
}

/// The screen, with the typed line below it.
pub(crate) struct TurnPrinter {
    screen: Screen,
    local: LocalSources,
    input_area: InputArea,
    /// The typed line of this round is hidden by a question.
    hidden_round: u32,
    /// Notes that arrived in the middle of a streamed line: they are shown below it until it ends.
    pinned: Vec<String>,
    /// Text that is not written yet.
    waiting: String,
    is_typing: bool,
    written: Option<Instant>,
}

impl TurnPrinter {
    pub(crate) fn new(screen: Screen, local: LocalSources) -> Self {
        let (input_area, pinned, waiting) = (InputArea::default(), Vec::new(), String::new());
        Self { screen, local, input_area, hidden_round: 0, pinned, waiting, is_typing: true, written: None }
    }

    /// Prints the events of a turn that has started, until it ends.
    pub(crate) async fn show(&mut self, observer: &mut Observer) -> TurnEnd {
        loop {
            let mut is_question = false;
            let mut end = None;
            tokio::select! {
                event = observer.next() => match event {
                    Some(event) => (is_question, end) = self.observe(event),
                    None => return TurnEnd::Closed,
                },
                Some(output) = self.local.output.recv() => self.add(output),
                changed = self.local.shown.changed(), if self.is_typing => self.is_typing = changed.is_ok(),
            }
            // Within a frame, text piles up in the queue and is fetched at once. A question does not wait.
            if let (false, None, Some(written)) = (is_question, &end, self.written) {
                tokio::time::sleep_until(written + FRAME).await;
            }
            while end.is_none()
                && let Some(next) = observer.try_next()
            {
                let (asks, ended) = self.observe(next);
                is_question |= asks;
                end = ended;
            }
            self.draw(is_question);
            if let Some(end) = end {
                return end;
            }
        }
    }

    /// Prints the rest: output of the front end, and the end of the turn.
    pub(crate) async fn finish(mut self) {
        while let Some(output) = self.local.output.recv().await {
            self.add(output);
        }
        let end = self.screen.end();
        self.waiting.push_str(&end);
        self.unpin();
        self.flush(None);
    }

    /// Takes an event of the session. Returns whether it is a question to the user, and the end of the turn.
    fn observe(&mut self, event: SessionEvent) -> (bool, Option<TurnEnd>) {
        match event {
            SessionEvent::Turn(event @ TurnEvent::MailAccepted { .. }) => self.add(LocalOutput::Event(event)),
            SessionEvent::Turn(event) => return (self.take(event), None),
            SessionEvent::Notice(text) => self.add(LocalOutput::Note(text)),
            SessionEvent::TurnEnded { report, .. } => return (false, Some(TurnEnd::Report(report))),
            SessionEvent::TurnFailed { error, .. } => return (false, Some(TurnEnd::Failed(error))),
            SessionEvent::Closed => return (false, Some(TurnEnd::Closed)),
            _ => {}
        }
        (false, None)
    }

    /// Writes a frame.
    fn draw(&mut self, is_question: bool) {
        let typed = self.local.shown.borrow_and_update().clone();
        if is_question {
            self.hidden_round = typed.round;
        }
        let is_shown = typed.round > self.hidden_round;
        if self.flush(is_shown.then_some(&typed)) {
            self.written = Some(Instant::now());
        }
        if is_question {
            self.screen.question_is_shown();
        }
    }

    /// Adds the text of an event; returns true if it is a question to the user.
    fn take(&mut self, event: TurnEvent) -> bool {
        let is_question = match event {
            // Pinned notes go where the line ends, before the rest of the text.
            TurnEvent::Text(text) if !self.pinned.is_empty() && text.contains('\n') => {
                let (line, rest) = text.split_at(text.find('\n').map_or(text.len(), |at| at + 1));
                self.screen.take(&TurnEvent::Text(line.to_owned()), &mut self.waiting);
                self.unpin();
                self.screen.take(&TurnEvent::Text(rest.to_owned()), &mut self.waiting)
            }
            event => self.screen.take(&event, &mut self.waiting),
        };
        self.unpin();
        is_question
    }

    fn add(&mut self, output: LocalOutput) {
        match output {
            LocalOutput::Event(TurnEvent::MailAccepted { mode, text, .. }) => {
                self.add(LocalOutput::Note(screen::accepted(mode, &text)));
            }
            LocalOutput::Event(event) => _ = self.take(event),
            LocalOutput::Note(note) => {
                self.pinned.push(note);
                self.unpin();
            }
            LocalOutput::Block(text) => {
                let text = self.screen.line(&text);
                self.waiting.push_str(&text);
                self.unpin();
            }
        }
    }

    /// Moves pinned notes into the stream, unless a line is being streamed.
    fn unpin(&mut self) {
        if self.screen.is_mid_line() {
            return;
        }
        for note in std::mem::take(&mut self.pinned) {
            let note = self.screen.note(&note);
            self.waiting.push_str(&note);
        }
    }

    /// Writes the waiting text, with pinned notes and the typed line below it. Returns `false` if there was none.
    fn flush(&mut self, typed: Option<&Shown>) -> bool {
        let width = term::columns(&std::io::stdout());
        let mut out = self.input_area.erase(width);
        let waiting = std::mem::take(&mut self.waiting);
        let waiting = term::escaped(&waiting, self.screen.style().is_coloured());
        out.push_str(&waiting);
        self.input_area.printed(&waiting, width);
        out.push_str(&self.input_area.draw(&self.rows(typed, width)));
        if out.is_empty() {
            return false;
        }
        term::control(&out);
        true
    }

    fn rows(&self, typed: Option<&Shown>, width: usize) -> Vec<String> {
        let Style { dim, off, .. } = self.screen.style();
        let pinned = self.pinned.iter();
        let notes =
            pinned.map(|note| format!("{dim}  {}{off}", term::one_line(note, width.saturating_sub(2))));
        notes.chain(typed.and_then(|typed| input_area::typed_row(typed.prompt, &typed.text, width))).collect()
    }
}
