//! Prints a turn while it runs, at most once in sixteen milliseconds, and keeps what is being typed
//! below it.

use crate::foot::{self, Foot};
use crate::keyboard::Shown;
use crate::screen::{self, Screen};
use crate::term::{self, Style};
use hermes_conversation::{EventStream, TurnEvent};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// The shortest time between two writes to the terminal.
const FRAME: Duration = Duration::from_millis(16);

/// What comes to the screen beside the turn's own events.
pub(crate) struct Beside {
    /// The line that is being typed.
    shown: watch::Receiver<Shown>,
    /// What the front end itself has to say.
    said: mpsc::UnboundedReceiver<Said>,
}

/// Something the front end says while a turn runs.
#[derive(Debug)]
pub(crate) enum Said {
    Event(TurnEvent),
    /// One line; it does not tear what is being streamed apart.
    Note(String),
    /// Several lines, styled, shown at once.
    Block(String),
}

impl Beside {
    pub(crate) fn new(shown: watch::Receiver<Shown>, said: mpsc::UnboundedReceiver<Said>) -> Self {
        Self { shown, said }
    }

    /// Nobody types and nobody says anything.
    pub(crate) fn nothing() -> Self {
        Self::new(watch::channel(Shown::default()).1, mpsc::unbounded_channel().1)
    }
}

/// Prints the events of a turn until it is over. `false` when nobody reads any more.
pub(crate) async fn show(events: EventStream, screen: Screen, beside: Beside) -> bool {
    let (foot, pinned, waiting) = (Foot::default(), Vec::new(), String::new());
    let mut page = Page { screen, foot, hidden_round: 0, pinned, waiting, open: true };
    page.run(events, beside).await;
    let end = page.screen.end();
    page.waiting.push_str(&end);
    page.unpin();
    page.flush(None);
    page.open
}

/// The screen, with what is typed below it.
struct Page {
    screen: Screen,
    foot: Foot,
    /// The typed line of this round is hidden by a question.
    hidden_round: u32,
    /// Notes that came in the middle of a streamed line: they stand below it until it ends.
    pinned: Vec<String>,
    /// Not yet written.
    waiting: String,
    open: bool,
}

impl Page {
    async fn run(&mut self, mut events: EventStream, beside: Beside) {
        let Beside { mut shown, mut said } = beside;
        let (mut is_over, mut is_silent, mut is_typing) = (false, false, true);
        let mut written: Option<Instant> = None;
        while !(is_over && is_silent) {
            let mut is_question = false;
            tokio::select! {
                event = events.next(), if !is_over => match event {
                    Some(event) => is_question = self.take(event),
                    None => is_over = true,
                },
                line = said.recv(), if !is_silent => match line {
                    Some(line) => self.hear(line),
                    None => is_silent = true,
                },
                changed = shown.changed(), if is_typing => is_typing = changed.is_ok(),
            }
            // Within a frame text piles up in the channel and is fetched in one go. A question does
            // not wait: the person who is asked does.
            if let (false, Some(written)) = (is_question, written) {
                tokio::time::sleep_until(written + FRAME).await;
            }
            while let Some(next) = events.try_next() {
                is_question |= self.take(next);
            }
            let typed = shown.borrow_and_update().clone();
            if is_question {
                self.hidden_round = typed.round;
            }
            let is_shown = typed.round > self.hidden_round;
            if self.flush(is_shown.then_some(&typed)) {
                written = Some(Instant::now());
            }
            if is_question {
                self.screen.question_is_shown();
            }
        }
    }

    /// Adds what an event prints, and says whether it asks the person something.
    fn take(&mut self, event: TurnEvent) -> bool {
        let is_question = match event {
            // Pinned notes go where the line ends, and what follows comes after them.
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

    fn hear(&mut self, said: Said) {
        match said {
            Said::Event(TurnEvent::MailAccepted { mode, text, .. }) => {
                self.hear(Said::Note(screen::accepted(mode, &text)));
            }
            Said::Event(event) => _ = self.take(event),
            Said::Note(note) => {
                self.pinned.push(note);
                self.unpin();
            }
            Said::Block(text) => {
                let text = self.screen.line(&text);
                self.waiting.push_str(&text);
                self.unpin();
            }
        }
    }

    /// Puts pinned notes above, unless a line is being streamed.
    fn unpin(&mut self) {
        if self.screen.is_mid_line() {
            return;
        }
        for note in std::mem::take(&mut self.pinned) {
            let note = self.screen.note(&note);
            self.waiting.push_str(&note);
        }
    }

    /// Writes what waits, with pinned notes and the typed line below it. `false` when there was nothing to write.
    fn flush(&mut self, typed: Option<&Shown>) -> bool {
        let width = term::columns(&std::io::stdout());
        let mut out = self.foot.erase(width);
        let waiting = std::mem::take(&mut self.waiting);
        let waiting = term::escaped(&waiting, self.screen.style().is_coloured());
        out.push_str(&waiting);
        self.foot.printed(&waiting, width);
        out.push_str(&self.foot.draw(&self.rows(typed, width)));
        if out.is_empty() {
            return false;
        }
        self.open = self.open && term::control(&out);
        true
    }

    fn rows(&self, typed: Option<&Shown>, width: usize) -> Vec<String> {
        let Style { dim, off, .. } = self.screen.style();
        let pinned = self.pinned.iter();
        let notes =
            pinned.map(|note| format!("{dim}  {}{off}", term::one_line(note, width.saturating_sub(2))));
        notes.chain(typed.and_then(|typed| foot::typed_row(typed.prompt, &typed.text, width))).collect()
    }
}
