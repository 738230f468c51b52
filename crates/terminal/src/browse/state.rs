//! What the picker shows and what a key does to it.
//!
//! [`Picker`] holds no handles and never waits. It is told what happened and says whether the
//! person is done; what it would like to know from the store is asked of it with
//! [`Picker::wanted_search`] and [`Picker::wanted_tail`]. An answer to a question that it no
//! longer has is dropped.

use super::fullscreen::Size;
use super::layout::Layout;
use crate::keys::Key;
use hermes_conversation::SessionId;

/// One session of the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) id: SessionId,
    /// Its title, or what was said first.
    pub(super) name: String,
    pub(super) source: String,
    pub(super) messages: u64,
    /// When it was last active, ready to be shown.
    pub(super) when: String,
    /// What typed words are compared with, in lower case.
    pub(super) haystack: String,
}

/// One session in which the words were said.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hit {
    pub(super) id: SessionId,
    pub(super) name: String,
    pub(super) role: String,
    /// With `>>>` and `<<<` around what matched.
    pub(super) snippet: String,
    pub(super) when: String,
}

/// What a search brought.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Found {
    pub(super) hits: Vec<Hit>,
    /// What the person should know about it: it failed, or it is not complete.
    pub(super) remark: Option<String>,
}

/// Something said in a session, for the preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// Empty for something done, not said.
    pub(super) who: &'static str,
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Event {
    Key(Key),
    Resized(Size),
    Found { query: String, found: Found },
    Tail { id: SessionId, said: Vec<Said> },
}

/// Whether the person is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Stay,
    Resume(SessionId),
    Leave,
    Interrupt,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Picker {
    entries: Vec<Entry>,
    query: String,
    /// Places of the entries that the query lets through.
    shown: Vec<usize>,
    /// The answer to the query, once it is there.
    found: Option<Found>,
    selected: usize,
    /// The first row on the screen.
    top: usize,
    shows_preview: bool,
    tail: Option<(SessionId, Vec<Said>)>,
    size: Size,
}

/// A row of the list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Row<'a> {
    Session(&'a Entry),
    Hit(&'a Hit),
}

impl<'a> Row<'a> {
    fn id(self) -> &'a SessionId {
        match self {
            Self::Session(entry) => &entry.id,
            Self::Hit(hit) => &hit.id,
        }
    }
}

impl Picker {
    pub(super) fn new(entries: Vec<Entry>, size: Size) -> Self {
        let shown = (0..entries.len()).collect();
        Self {
            entries,
            query: String::new(),
            shown,
            found: None,
            selected: 0,
            top: 0,
            shows_preview: false,
            tail: None,
            size,
        }
    }

    pub(super) fn apply(&mut self, event: Event) -> Step {
        let step = match event {
            Event::Key(key) => self.press(key),
            Event::Resized(size) => {
                self.size = size;
                Step::Stay
            }
            Event::Found { query, found } => {
                if self.wanted_search() == Some(&query) {
                    self.found = Some(found);
                }
                Step::Stay
            }
            Event::Tail { id, said } => {
                if self.wanted_tail() == Some(&id) {
                    self.tail = Some((id, said));
                }
                Step::Stay
            }
        };
        self.scroll();
        step
    }

    /// The query that has no answer yet.
    pub(super) fn wanted_search(&self) -> Option<&str> {
        let query = self.query.trim();
        (self.found.is_none() && is_worth_a_search(query)).then_some(query)
    }

    /// The session whose end should be shown and is not known yet.
    pub(super) fn wanted_tail(&self) -> Option<&SessionId> {
        let id = self.shows_preview.then(|| self.selected_id())??;
        let is_known = self.tail.as_ref().is_some_and(|(known, _)| known == id);
        (!is_known).then_some(id)
    }

    fn press(&mut self, key: Key) -> Step {
        let page = self.layout().list.lines.max(1);
        match key {
            Key::Control('c') => return Step::Interrupt,
            Key::Escape if self.query.is_empty() => return Step::Leave,
            Key::Escape | Key::Control('u') => self.retype(String::new()),
            Key::Enter => {
                if let Some(id) = self.selected_id() {
                    return Step::Resume(id.clone());
                }
            }
            Key::Text(text) | Key::Paste(text) => self.retype(format!("{}{text}", self.query)),
            Key::Backspace | Key::Control('h') => {
                let mut query = self.query.clone();
                query.pop();
                self.retype(query);
            }
            Key::Control('w') => {
                let kept = self.query.trim_end().rfind(char::is_whitespace).map_or(0, |space| space + 1);
                self.retype(self.query.get(..kept).unwrap_or_default().to_owned());
            }
            Key::Up | Key::Control('p') => self.selected = self.selected.saturating_sub(1),
            Key::Down | Key::Control('n') => self.selected = self.selected.saturating_add(1),
            Key::PageUp => self.selected = self.selected.saturating_sub(page),
            Key::PageDown => self.selected = self.selected.saturating_add(page),
            Key::Home => self.selected = 0,
            Key::End => self.selected = usize::MAX,
            Key::Tab => self.shows_preview = !self.shows_preview,
            Key::Right => self.shows_preview = true,
            Key::Left => self.shows_preview = false,
            Key::Control(_) => {}
        }
        Step::Stay
    }

    /// Another query: the list is filtered again, and what was found for the old one is gone.
    fn retype(&mut self, query: String) {
        if query == self.query {
            return;
        }
        if query.trim() != self.query.trim() {
            self.found = None;
        }
        self.query = query;
        let words: Vec<String> = self.query.split_whitespace().map(str::to_lowercase).collect();
        let matches = |entry: &Entry| words.iter().all(|word| entry.haystack.contains(word));
        let places = self.entries.iter().enumerate().filter(|(_, entry)| matches(entry));
        self.shown = places.map(|(place, _)| place).collect();
        (self.selected, self.top) = (0, 0);
    }

    /// Keeps the selection in the list and the list around the selection.
    fn scroll(&mut self) {
        let (count, height) = (self.count(), self.layout().list.lines.max(1));
        self.selected = self.selected.min(count.saturating_sub(1));
        let lowest = (self.selected + 1).saturating_sub(height);
        self.top = self.top.clamp(lowest, self.selected).min(count.saturating_sub(height).max(lowest));
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::new(self.size, self.shows_preview)
    }

    /// Sessions first, then what was found in messages.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let sessions = self.shown.iter().filter_map(|place| self.entries.get(*place)).map(Row::Session);
        sessions.chain(self.hits().iter().map(Row::Hit))
    }

    fn count(&self) -> usize {
        self.shown.len() + self.hits().len()
    }

    fn selected_id(&self) -> Option<&SessionId> {
        self.rows().nth(self.selected).map(Row::id)
    }

    pub(super) fn hits(&self) -> &[Hit] {
        self.found.as_ref().map(|found| found.hits.as_slice()).unwrap_or_default()
    }

    pub(super) fn remark(&self) -> Option<&str> {
        self.found.as_ref().and_then(|found| found.remark.as_deref())
    }

    pub(super) fn query(&self) -> &str {
        &self.query
    }

    pub(super) fn name_of(&self, id: &SessionId) -> Option<&str> {
        self.entries.iter().find(|entry| entry.id == *id).map(|entry| entry.name.as_str())
    }

    pub(super) fn matching(&self) -> (usize, usize) {
        (self.shown.len(), self.entries.len())
    }

    pub(super) fn selected(&self) -> usize {
        self.selected
    }

    pub(super) fn top(&self) -> usize {
        self.top
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// What the preview shows; `None` while it is being read.
    pub(super) fn preview(&self) -> Option<&[Said]> {
        let selected = self.selected_id()?;
        self.tail.as_ref().filter(|(id, _)| id == selected).map(|(_, said)| said.as_slice())
    }
}

/// One letter is in every message; one character of a script without spaces may be a word.
fn is_worth_a_search(query: &str) -> bool {
    let mut characters = query.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) => {
            matches!(only, '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..)
        }
        (Some(_), Some(_)) => true,
        (None, _) => false,
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
