//! The session picker: a list of sessions with search as you type, on the whole screen.
//!
//! `state` decides what is shown and what a key does; this module connects it with the terminal, the
//! keyboard and the store. Queries run in the background, one of a kind at a time, so that no key waits
//! for the store.

mod draw;
mod excerpt;
mod fullscreen;
mod layout;
mod paint;
mod queries;
mod state;

use crate::keys::{Key, Keys};
use crate::signals;
use crate::term::Style;
use crate::text::local_time;
use fullscreen::{Fullscreen, Keyboard};
use hermes_conversation::SessionId;
use hermes_store::{ListFilter, SessionDb, SessionSummary, StoreError};
use paint::Frame;
use queries::Queries;
use state::{Action, Entry, Event, Picker};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// The time in which an escape byte may turn out to be the start of a longer key.
const ESCAPE_WAIT: Duration = Duration::from_millis(50);

/// The end of browsing.
#[derive(Debug)]
pub enum Chosen {
    /// The session to resume.
    Session(SessionId),
    /// The list of sessions is empty.
    Empty,
    /// The user left without a choice.
    Left,
    /// A signal, or Ctrl-C, or the terminal is gone.
    Interrupted,
}

/// An error of the screen or of the store.
#[derive(Debug, thiserror::Error)]
pub enum BrowseError {
    /// The terminal could not be used.
    #[error("the terminal could not be used")]
    Terminal(#[from] std::io::Error),
    /// The sessions could not be read.
    #[error("the sessions could not be read")]
    Store(#[from] StoreError),
}

/// Lets the user pick one of the sessions that `filter` lists, on the whole screen.
pub async fn choose(store: &SessionDb, filter: ListFilter) -> Result<Chosen, BrowseError> {
    let source = filter.source.clone();
    let now = hermes_runtime::clock::timestamp().as_second() as f64;
    let entries: Vec<Entry> =
        store.list(filter).await?.into_iter().map(|summary| entry(summary, now)).collect();
    if entries.is_empty() {
        return Ok(Chosen::Empty);
    }
    let mut resized = signal(SignalKind::window_change())?;
    let mut stopped = std::pin::pin!(signals::stop_asked());
    // In this order: on drop, the keyboard thread ends before the terminal is restored.
    let screen = Fullscreen::enter()?;
    let mut keyboard = Keyboard::start()?;
    let mut keys = Keys::default();
    let mut queries = Queries::new(store.clone(), source, now);
    let mut picker = Picker::new(entries, screen.size());
    let mut shown = Frame::default();
    let style = Style::for_stream(&std::io::stdout());
    loop {
        queries.ask(&picker);
        let frame = draw::frame(&picker);
        if frame != shown && !screen.write(&paint::paint(&shown, &frame, style)) {
            return Ok(Chosen::Interrupted);
        }
        shown = frame;
        let events = tokio::select! {
            bytes = keyboard.next() => match bytes {
                Some(bytes) => keys.feed(&bytes).into_iter().map(Key::on_one_line).map(Event::Key).collect(),
                None => return Ok(Chosen::Interrupted),
            },
            () = tokio::time::sleep(ESCAPE_WAIT), if keys.is_waiting() => {
                keys.give_up().into_iter().map(Event::Key).collect()
            }
            answer = queries.answer() => vec![answer],
            _ = resized.recv() => {
                shown = Frame::default();
                vec![Event::Resized(screen.size())]
            }
            () = &mut stopped => return Ok(Chosen::Interrupted),
        };
        for event in events {
            match picker.apply(event) {
                Action::Stay => {}
                Action::Resume(id) => return Ok(Chosen::Session(id)),
                Action::Leave => return Ok(Chosen::Left),
                Action::Interrupt => return Ok(Chosen::Interrupted),
            }
        }
    }
}

fn entry(summary: SessionSummary, now: f64) -> Entry {
    let title = summary.title.unwrap_or_default();
    let haystack = format!("{title}\n{}\n{}", summary.preview, summary.id).to_lowercase();
    let name = [title, summary.preview, summary.id.to_string()].into_iter().find(|name| !name.is_empty());
    Entry {
        name: name.unwrap_or_default(),
        haystack,
        source: summary.source,
        messages: summary.message_count,
        when: ago(now, summary.last_active),
        id: summary.id,
    }
}

/// A time relative to now; beyond a month, the date.
fn ago(now: f64, then: f64) -> String {
    let minutes = ((now - then) / 60.0) as i64;
    match minutes {
        ..1 => "now".to_owned(),
        1..60 => format!("{minutes}m ago"),
        60..1_440 => format!("{}h ago", minutes / 60),
        1_440..43_200 => format!("{}d ago", minutes / 1_440),
        _ => local_time(then).chars().take(10).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative_to_now() {
        let now = 1_800_000_000.0;
        for (before, want) in [
            (-30.0, "now"),
            (59.0, "now"),
            (60.0, "1m ago"),
            (7_300.0, "2h ago"),
            (86_400.0, "1d ago"),
            (29.9 * 86_400.0, "29d ago"),
        ] {
            assert_eq!(ago(now, now - before), want, "{before}");
        }
        assert_eq!(ago(now, 1_000_000_000.0).get(..5), Some("2001-"));
    }
}
