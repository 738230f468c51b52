//! A shorter history: what stays at the beginning, one summary, what stays at the end.

use super::checks::harmless;
use super::fallback::Material;
use super::files::files;
use super::marker::framed;
use super::reading::{Reading, read};
use super::sections::{ASKED_AFTER, SNAPSHOT, Sections};
use super::summary::{Previous, previous};
use super::text::cut;
use super::{images, scale};
use crate::{Assembled, Plan, View, Weights};
use hermes_conversation::{KeptCounts, Message, SummaryBy, TokenCount, UserMessage, repair};
use std::collections::HashSet;
use std::sync::Arc;

/// The maximum characters of the newest summarised request.
const SNAPSHOT_CHARS: usize = 1_400;
/// Characters of the list of files.
pub(crate) const FILES_CHARS: usize = 16_000;
/// The reason why a history stays as it is.
pub(crate) const NOTHING_SHORTER: &str =
    "no summary is shorter than what it would stand for; unpin something, or start afresh with /new";

/// Everything about one compaction that does not depend on who writes the summary.
pub(crate) struct Work<'a> {
    pub(crate) view: &'a View<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) reading: Reading,
    pub(crate) previous: Option<Previous>,
    /// The newest request, if it is in the stretch and so must be repeated.
    ask: Option<UserMessage>,
    /// The newest summarised request.
    pub(crate) snapshot: String,
    /// The files that the stretch and earlier summaries name, newest first.
    pub(crate) files: Vec<String>,
    /// The number of those that the range names.
    pub(crate) files_here: usize,
    tokens_before: u64,
}

impl<'a> Work<'a> {
    pub(crate) fn new(view: &'a View<'a>, plan: &'a Plan) -> Result<Self, String> {
        if plan.replace.start >= plan.replace.end || plan.replace.end > view.history.len() {
            return Err("the plan is not about this history; plan again".to_owned());
        }
        let reading = read(view.history);
        let replace = plan.replace.clone();
        let previous = previous(view, &reading, &replace);
        let ask = reading.newest_user.filter(|newest| replace.contains(newest));
        let snapshot = snapshot(view, &reading, plan, ask, previous.as_ref());
        let spoken = |place: usize| match reading.is_summary(place) {
            false => Some(view.history[place].clone()),
            true => reading.said(view.history, place).map(|said| Arc::new(Message::User(said))),
        };
        let mut files = files(&replace.filter_map(spoken).collect::<Vec<_>>());
        let files_here = files.len();
        let mut seen: HashSet<String> = files.iter().cloned().collect();
        let earlier = previous.iter().flat_map(|previous| &previous.files);
        files.extend(earlier.filter(|file| seen.insert((*file).clone())).cloned());
        let ask = ask.and_then(|ask| reading.said(view.history, ask));
        let tokens_before = view.weights.tokens(0..view.history.len());
        Ok(Self { view, plan, reading, previous, ask, snapshot, files, files_here, tokens_before })
    }

    pub(crate) fn material(&self) -> Material<'_> {
        Material { history: self.view.history, reading: &self.reading, tools: self.view.tools }
    }

    /// The history with this text in place of the range; `None` if it is not smaller. The caller adds the
    /// author of the text and the nodes.
    pub(crate) fn with(&self, introduction: &str, own: &str, files: usize) -> Option<Assembled> {
        let messages = valid(self.messages(&framed(introduction, own)));
        let tokens = Weights::of(&messages).tokens(0..messages.len());
        if tokens >= self.tokens_before {
            return None;
        }
        let tail = unchanged(&messages, &self.view.history[self.plan.replace.end..]);
        Some(Assembled {
            tail,
            nodes: Vec::new(),
            by: SummaryBy::Excerpts,
            kept: self.kept(tail, files),
            after: self.after(tokens),
            messages,
        })
    }

    fn kept(&self, tail: usize, files: usize) -> KeptCounts {
        let keep = self.view.keep;
        KeptCounts {
            tail: tail as u64,
            pins: keep.pins.len() as u64,
            todos: keep.todos.len() as u64,
            files: files as u64,
        }
    }

    /// Head, summary, tail. The summary is a user message, joined with the user's next message if that
    /// follows at once; only between two user messages it is an assistant message.
    fn messages(&self, summary: &str) -> Vec<Arc<Message>> {
        let newest_image = images::newest(self.view.history);
        let kept = |place: usize| images::historical(&self.view.history[place], place, newest_image);
        let mut messages: Vec<Arc<Message>> = (0..self.plan.replace.start).map(kept).collect();
        let mut tail: Vec<Arc<Message>> =
            (self.plan.replace.end..self.view.history.len()).map(kept).collect();
        if let Some(ask) = &self.ask {
            tail.insert(0, Arc::new(Message::User(ask.clone())));
        }
        let is_after_user = matches!(messages.last().map(|message| &**message), Some(Message::User(_)));
        match tail.first().map(|message| &**message) {
            _ if is_after_user => messages.push(Arc::new(Message::assistant(summary))),
            Some(Message::User(next)) => {
                tail[0] = Arc::new(Message::User(next.clone().preceded_by(summary)));
            }
            _ => messages.push(Arc::new(Message::user(summary))),
        }
        messages.extend(tail);
        messages
    }

    /// The size of the next request, by the same measure as the size before.
    fn after(&self, tokens: u64) -> TokenCount {
        let before = self.plan.before.value();
        let (fixed, all) = (self.view.fixed as f64, self.tokens_before as f64);
        let share = (fixed + tokens as f64) / (fixed + all).max(1.0);
        let by_share = (before as f64 * share) as u64;
        let by_scale = ((fixed + tokens as f64) * scale(self.view)) as u64;
        TokenCount::Estimated(if before > 0 { by_share } else { by_scale })
    }
}

fn snapshot(
    view: &View<'_>,
    reading: &Reading,
    plan: &Plan,
    ask: Option<usize>,
    previous: Option<&Previous>,
) -> String {
    let mut places = plan.replace.clone().rev().filter(|place| Some(*place) != ask);
    let said = places.find_map(|place| reading.said_words(view.history, place));
    let said = said.filter(|said| !said.trim().is_empty());
    let earlier = || Sections::parse(&previous?.text).body(SNAPSHOT).map(str::to_owned);
    let snapshot = said.map(|said| harmless(&cut(&said, SNAPSHOT_CHARS))).or_else(earlier);
    snapshot.unwrap_or_else(|| ASKED_AFTER.to_owned())
}

/// As providers accept it. Our own cuts never need repair; a history that was odd before may.
fn valid(messages: Vec<Arc<Message>>) -> Vec<Arc<Message>> {
    let plain: Vec<Message> = messages.iter().map(|message| (**message).clone()).collect();
    let repaired = repair(plain);
    let is_same = repaired.len() == messages.len()
        && repaired.iter().zip(&messages).all(|(repaired, message)| *repaired == **message);
    if is_same { messages } else { repaired.into_iter().map(Arc::new).collect() }
}

/// The number of unchanged messages at the end.
fn unchanged(messages: &[Arc<Message>], tail: &[Arc<Message>]) -> usize {
    let pairs = messages.iter().rev().zip(tail.iter().rev());
    pairs.take_while(|(new, old)| Arc::ptr_eq(new, old) || new == old).count()
}
