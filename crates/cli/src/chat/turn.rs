//! One turn after another: what was entered at the prompt, then whatever was said meanwhile.

use super::while_busy::Busy;
use super::{Chat, Flow};
use crate::exit::Failure;
use crate::page::{self, Beside};
use crate::screen::Screen;
use crate::{oneshot, signals, term};
use futures::FutureExt;
use hermes_conversation::{Mail, UserMessage, events, mail_for_next_turn};
use hermes_runtime::{Input, RuntimeError, TurnReport};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Whether what waits may be said next.
#[derive(PartialEq, Eq)]
enum Went {
    Well,
    /// Saying more now would only fail again.
    Wrong,
}

impl Chat<'_> {
    /// Says what was entered at the prompt, after what a failed turn left waiting.
    pub(super) async fn say(&mut self, line: &str) -> Flow {
        let waiting = match self.session.waiting().await {
            Ok(waiting) => waiting,
            Err(error) => {
                self.complain(&Failure::from(error).line);
                return Flow::Stay;
            }
        };
        let referred = match self.session.referring(line).await {
            Ok(referred) => referred,
            Err(error) => {
                self.complain(&Failure::from(error).line);
                return Flow::Stay;
            }
        };
        for warning in &referred.warnings {
            self.note(warning);
        }
        match self.turn(Input::after_mail(waiting, UserMessage::text(referred.text))).await {
            Went::Well => self.say_the_rest().await,
            Went::Wrong => self.leave_waiting().await,
        }
    }

    /// Says what waits for a session that was opened again.
    pub(super) async fn say_what_waits(&mut self) -> Flow {
        match self.waiting().await.len() {
            0 => return Flow::Stay,
            1 => self.note("a message was still waiting for this session; here it is"),
            many => self.note(&format!("{many} messages were still waiting for this session; here they are")),
        }
        self.say_the_rest().await
    }

    /// Says what was said while turns ran, until nothing waits any more.
    async fn say_the_rest(&mut self) -> Flow {
        while !signals::was_asked_to_leave() {
            let mail = mail_for_next_turn(self.waiting().await);
            if mail.is_empty() {
                return Flow::Stay;
            }
            if self.turn(Input::of_mail(mail)).await == Went::Wrong {
                return self.leave_waiting().await;
            }
        }
        Flow::Leave
    }

    /// After a failure nothing more is said by itself.
    async fn leave_waiting(&mut self) -> Flow {
        match self.waiting().await.len() {
            0 => {}
            1 => self.note("a message is still waiting; it goes along with your next one"),
            many => {
                self.note(&format!("{many} messages are still waiting; they go along with your next one"))
            }
        }
        if signals::was_asked_to_leave() { Flow::Leave } else { Flow::Stay }
    }

    async fn waiting(&mut self) -> Vec<Mail> {
        match self.session.waiting().await {
            Ok(waiting) => waiting,
            Err(error) => {
                self.complain(&Failure::from(error).line);
                Vec::new()
            }
        }
    }

    async fn turn(&mut self, input: Input) -> Went {
        self.has_spoken = true;
        match self.watched_turn(input).await {
            Ok(report) => {
                self.conclude(&report);
                if report.completed {
                    self.session.name_in_background();
                    self.session.review_in_background();
                }
                if report.failed { Went::Wrong } else { Went::Well }
            }
            Err(error) => {
                self.complain(&Failure::from(error).line);
                Went::Wrong
            }
        }
    }

    /// Runs a turn, shows it, and takes what is entered meanwhile.
    async fn watched_turn(&mut self, input: Input) -> Result<TurnReport, RuntimeError> {
        let letterbox = self.session.letterbox().await?;
        let cancel = CancellationToken::new();
        let (sink, stream) = events();
        let screen = Screen::new(self.style, self.shows_reasoning)
            .with_questions(self.question_shown.clone())
            .in_conversation();
        // A question that nobody answered in an earlier turn is not this turn's.
        let _ = self.question_shown.notified().now_or_never();
        term::print("\n");
        let watch = signals::watch(cancel.clone());
        let typing = self.keyboard.begin(std::mem::take(&mut self.draft));
        let (said, heard) = mpsc::unbounded_channel();
        let shown = tokio::spawn(page::show(stream, screen, Beside::new(typing.shown, heard)));
        let busy = Busy { letterbox, mode: self.busy_mode, cancel: cancel.clone(), said, style: self.style };
        let entered = tokio::spawn(busy.serve(typing.lines));
        let report = self.session.submit(input, &cancel, sink).await;
        drop(watch);
        // In this order: what was entered last is still kept and shown.
        self.draft = self.keyboard.end().await;
        self.busy_mode = entered.await.unwrap_or(self.busy_mode);
        let _ = shown.await;
        report
    }

    fn conclude(&self, report: &TurnReport) {
        if report.interrupted {
            self.note("stopped; everything so far is saved");
        } else if let Some(error) = &report.error {
            self.complain(&oneshot::explain(report, error, &self.session.endpoint().label()));
        }
    }
}
