//! `hermes sessions browse`: a list of sessions to search in and to go on with.
//!
//! What is shown and what a key does is decided in `state`; here the terminal, the keyboard and
//! the store are brought together. The store is asked in the background, one question of a kind
//! at a time, so that no key ever waits for it.

mod draw;
mod excerpt;
mod fullscreen;
mod layout;
mod paint;
mod queries;
mod state;

use super::{NO_SESSIONS, local_time};
use crate::exit::{Exit, Failure};
use crate::flags::{Common, ConversationFlags, ModelFlags, ToolFlags, TurnFlags};
use crate::keys::{Key, Keys};
use crate::signals;
use crate::term::{self, Style};
use clap::Args;
use fullscreen::{Fullscreen, Keyboard};
use hermes_conversation::SessionId;
use hermes_store::{ListFilter, SessionDb, SessionSummary};
use paint::Frame;
use queries::Queries;
use state::{Entry, Event, Picker, Step};
use std::io::IsTerminal;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// How long an escape byte may be the beginning of a longer key.
const ESCAPE_WAIT: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Args)]
pub(crate) struct BrowseArgs {
    /// Number of sessions to list; the search covers all
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub(super) limit: usize,
    /// List only sessions with this tag
    #[arg(long, value_name = "TAG")]
    source: Option<String>,
    /// Stay in the current directory when resuming a session of another one
    #[arg(long)]
    no_restore_cwd: bool,
    #[command(flatten)]
    model: ModelFlags,
    #[command(flatten)]
    tools: ToolFlags,
    #[command(flatten)]
    turns: TurnFlags,
}

impl BrowseArgs {
    /// The shared flags that stand after the subcommand.
    pub(super) fn flags(&self) -> Common {
        let Self { source, no_restore_cwd, model, tools, turns, .. } = self.clone();
        let conversation = ConversationFlags { no_restore_cwd, ..ConversationFlags::default() };
        Common { source, conversation, model, tools, turns, ..Common::default() }
    }
}

/// How browsing ended.
pub(super) enum Chosen {
    Session(SessionId),
    Nothing(Exit),
}

/// There must be somebody to show it to.
pub(super) fn require_terminal() -> Result<(), Failure> {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure::usage(
        "browsing needs a terminal; use `hermes sessions list` or `hermes sessions search` instead",
    ))
}

/// Lets a person choose among the newest `limit` sessions.
pub(super) async fn choose(store: &SessionDb, limit: usize, common: &Common) -> Result<Chosen, Failure> {
    require_terminal()?;
    let filter = ListFilter { source: common.source.clone(), limit, ..ListFilter::default() };
    let now = hermes_runtime::clock::timestamp().as_second() as f64;
    let entries: Vec<Entry> =
        store.list(filter).await?.into_iter().map(|summary| entry(summary, now)).collect();
    if entries.is_empty() {
        term::print_line(NO_SESSIONS);
        return Ok(Chosen::Nothing(Exit::Answered));
    }
    let mut resized = signal(SignalKind::window_change())?;
    let mut stopped = std::pin::pin!(signals::stop_asked());
    // In this order: the keyboard is left alone before the terminal is as it was.
    let screen = Fullscreen::enter()?;
    let mut keyboard = Keyboard::start()?;
    let mut keys = Keys::default();
    let mut queries = Queries::new(store.clone(), common.source.clone(), now);
    let mut picker = Picker::new(entries, screen.size());
    let mut shown = Frame::default();
    let style = Style::for_stream(&std::io::stdout());
    loop {
        queries.ask(&picker);
        let frame = draw::frame(&picker);
        if frame != shown && !screen.write(&paint::paint(&shown, &frame, style)) {
            return Ok(Chosen::Nothing(Exit::Interrupted));
        }
        shown = frame;
        let events = tokio::select! {
            bytes = keyboard.next() => match bytes {
                Some(bytes) => keys.feed(&bytes).into_iter().map(Key::on_one_line).map(Event::Key).collect(),
                None => return Ok(Chosen::Nothing(Exit::Interrupted)),
            },
            () = tokio::time::sleep(ESCAPE_WAIT), if keys.is_waiting() => {
                keys.give_up().into_iter().map(Event::Key).collect()
            }
            answer = queries.answer() => vec![answer],
            _ = resized.recv() => {
                shown = Frame::default();
                vec![Event::Resized(screen.size())]
            }
            () = &mut stopped => return Ok(Chosen::Nothing(Exit::Interrupted)),
        };
        for event in events {
            match picker.apply(event) {
                Step::Stay => {}
                Step::Resume(id) => return Ok(Chosen::Session(id)),
                Step::Leave => return Ok(Chosen::Nothing(Exit::Answered)),
                Step::Interrupt => return Ok(Chosen::Nothing(Exit::Interrupted)),
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

/// A time as a distance; far away, as a day.
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
    fn times_are_told_as_distances() {
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
