//! Shows the turns of the session, and takes lines that are entered meanwhile.

use super::busy_input::{Busy, Served};
use super::{Chat, Flow};
use crate::screen::Screen;
use crate::turn_printer::{self, LocalSources, TurnEnd};
use crate::{fault_text, signals, term};
use futures::FutureExt;
use hermes_runtime::{Prompt, SessionEvent, TurnReport};
use tokio::sync::mpsc;

impl Chat {
    /// Submits a line and shows its turn, and those of messages that are queued meanwhile.
    pub(super) async fn submit(&mut self, line: &str) -> Flow {
        match self.session.submit(Prompt { when_busy: self.busy_mode, ..Prompt::typed(line) }).await {
            Ok(_) => self.show_turns().await,
            Err(error) => {
                self.print_error(&error.explained());
                Flow::Stay
            }
        }
    }

    /// Submits the messages that wait for a session that was opened again.
    pub(super) async fn submit_queued(&mut self) -> Flow {
        match self.session.deliver_waiting().await {
            Ok(None) => Flow::Stay,
            Ok(Some(delivered)) => {
                match delivered.messages {
                    1 => self.note("sending 1 queued message of this session"),
                    many => self.note(&format!("sending {many} queued messages of this session")),
                }
                self.show_turns().await
            }
            Err(error) => {
                self.print_error(&error.explained());
                Flow::Stay
            }
        }
    }

    /// Shows turns until the session is idle.
    async fn show_turns(&mut self) -> Flow {
        while let Some(event) = self.observer.next().await {
            match event {
                SessionEvent::TurnStarted { .. } => self.show_turn().await,
                SessionEvent::Notice(text) => self.note(&text),
                SessionEvent::Idle { queued } if !std::mem::take(&mut self.has_late_turn) => {
                    self.note_queued(queued);
                    break;
                }
                _ => {}
            }
        }
        if signals::was_asked_to_leave() { Flow::Leave } else { Flow::Stay }
    }

    fn note_queued(&self, queued: usize) {
        match queued {
            0 => {}
            1 => self.note("1 message is queued; it is sent with your next one"),
            many => self.note(&format!("{many} messages are queued; they are sent with your next one")),
        }
    }

    /// Shows one turn to its end.
    async fn show_turn(&mut self) {
        self.has_new_turn = true;
        let screen = Screen::new(self.style, self.shows_reasoning)
            .with_questions(self.question_shown.clone())
            .in_conversation();
        // Drops the notification of an earlier turn's question that was not answered.
        let _ = self.question_shown.notified().now_or_never();
        term::print("\n");
        let watch = signals::watch_session(&self.session);
        let (said, heard) = mpsc::unbounded_channel();
        let typing = self.keyboard.begin(std::mem::take(&mut self.draft), said.clone());
        let busy = Busy { session: self.session.clone(), mode: self.busy_mode, said, style: self.style };
        let entered = tokio::spawn(busy.serve(typing.lines));
        let mut printer = turn_printer::TurnPrinter::new(screen, LocalSources::new(typing.shown, heard));
        let end = printer.show(&mut self.observer).await;
        drop(watch);
        // In this order: the last entered lines are still served and shown.
        self.draft = self.keyboard.end().await;
        if let Ok(Served { mode, has_started_turn }) = entered.await {
            self.busy_mode = mode;
            self.has_late_turn |= has_started_turn;
        }
        printer.finish().await;
        match end {
            TurnEnd::Report(report) => self.conclude(&report),
            TurnEnd::Failed(error) => self.print_error(&error),
            TurnEnd::Closed => {}
        }
    }

    fn conclude(&self, report: &TurnReport) {
        if report.interrupted {
            self.note("interrupted; everything so far is saved");
        } else if let Some(error) = &report.error {
            self.print_error(&fault_text::explain(report, error, &self.provider));
        }
    }
}
