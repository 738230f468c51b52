//! Commands about the size of the conversation: making it shorter, looking at it, pinning words.

use super::Chat;
use crate::compaction_words::{compaction_line, meter_lines};
use crate::exit::Failure;
use crate::{signals, term};
use hermes_conversation::{TurnEvent, events};
use hermes_runtime::Compacted;
use tokio_util::sync::CancellationToken;

impl Chat<'_> {
    /// Sums up older messages now.
    pub(super) async fn compress(&mut self, focus: Option<&str>) {
        self.note("summing up older messages; Ctrl-C stops it and changes nothing");
        let cancel = CancellationToken::new();
        // What it tells on the way is told at its end.
        let (sink, mut told) = events();
        let watch = signals::watch(cancel.clone());
        let done = self.session.compress(focus, &cancel, sink).await;
        drop(watch);
        while let Some(event) = told.next().await {
            if let TurnEvent::Status(line) = event {
                self.note(&line);
            }
        }
        match done {
            Ok(Compacted::Done(report)) => self.note(&compaction_line(&report)),
            Ok(Compacted::NotNeeded) => self.note("there is nothing to sum up"),
            Ok(Compacted::Stuck(why)) => self.note(&why),
            Ok(Compacted::Cancelled) => self.note("stopped; the conversation is as it was"),
            Ok(Compacted::StoreFailed(error)) => self.complain(&error.to_string()),
            Err(error) => self.complain(&Failure::from(error).line),
        }
    }

    pub(super) fn show_context(&self) {
        match self.session.meter() {
            Ok(meter) => {
                for line in meter_lines(&meter, self.style) {
                    term::print_line(&format!("  {line}"));
                }
            }
            Err(error) => self.complain(&Failure::from(error).line),
        }
    }

    pub(super) async fn pin(&mut self, text: Option<&str>) {
        let Some(text) = text else { return self.show_pins().await };
        match self.session.pin(text).await {
            Ok(number) => self.note(&format!("pinned as {number}; it stays in view whatever is summed up")),
            Err(error) => self.complain(&Failure::from(error).line),
        }
    }

    async fn show_pins(&self) {
        match self.session.pins().await {
            Ok(pins) if pins.is_empty() => self.note("nothing is pinned; /pin WORDS pins some"),
            Ok(pins) => pins.iter().for_each(|pin| self.note(&format!("{}  {}", pin.number, pin.text))),
            Err(error) => self.complain(&Failure::from(error).line),
        }
    }

    pub(super) async fn unpin(&mut self, number: Option<&str>) {
        let Some(number) = number.and_then(|text| text.trim().parse().ok()) else {
            return self.note("say which: /unpin NUMBER; /pin lists them");
        };
        match self.session.unpin(number).await {
            Ok(true) => self.note("no longer pinned"),
            Ok(false) => self.note(&format!("nothing is pinned as {number}; /pin lists what is")),
            Err(error) => self.complain(&Failure::from(error).line),
        }
    }
}
