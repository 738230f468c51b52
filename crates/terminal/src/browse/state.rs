//! The state of the picker: what is shown, and the effect of each key.
//!
//! [`Picker`] holds no handles and never waits. It takes events and returns the next step; the queries it
//! wants are [`Picker::wanted_search`] and [`Picker::wanted_tail`]. The result of an outdated query is dropped.

use super::fullscreen::Size;
use super::layout::Layout;
use crate::keys::Key;
use hermes_conversation::SessionId;

/// One session of the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) id: SessionId,
    /// Its title, or its first message.
    pub(super) name: String,
    pub(super) source: String,
    pub(super) messages: u64,
    /// The time of its last activity, as shown.
    pub(super) when: String,
    /// The text that the query is compared with, in lower case.
    pub(super) haystack: String,
}

/// A session with a message that matches the query.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hit {
    pub(super) id: SessionId,
    pub(super) name: String,
    pub(super) role: String,
    /// The message, with `>>>` and `<<<` around the match.
    pub(super) snippet: String,
    pub(super) when: String,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct SearchResult {
    pub(super) hits: Vec<Hit>,
    /// A remark for the user: the search failed, or is not complete.
    pub(super) remark: Option<String>,
}

/// A message or tool call of a session, for the preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PreviewMessage {
    /// The role; empty for a tool call.
    pub(super) who: &'static str,
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Event {
    Key(Key),
    Resized(Size),
    Searched { query: String, found: SearchResult },
    Tail { id: SessionId, said: Vec<PreviewMessage> },
}

/// The next step of the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Stay,
    Resume(SessionId),
    Leave,
    Interrupt,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Picker {
    entries: Vec<Entry>,
    query: String,
    /// Indexes of the entries that match the query.
    shown: Vec<usize>,
    /// The result of the query, once it is there.
    found: Option<SearchResult>,
    selected: usize,
    /// The first row on the screen.
    top: usize,
    shows_preview: bool,
    tail: Option<(SessionId, Vec<PreviewMessage>)>,
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

    pub(super) fn apply(&mut self, event: Event) -> Action {
        let step = match event {
            Event::Key(key) => self.press(key),
            Event::Resized(size) => {
                self.size = size;
                Action::Stay
            }
            Event::Searched { query, found } => {
                if self.wanted_search() == Some(&query) {
                    self.found = Some(found);
                }
                Action::Stay
            }
            Event::Tail { id, said } => {
                if self.wanted_tail() == Some(&id) {
                    self.tail = Some((id, said));
                }
                Action::Stay
            }
        };
        self.scroll();
        step
    }

    /// The query that has no result yet.
    pub(super) fn wanted_search(&self) -> Option<&str> {
        let query = self.query.trim();
        (self.found.is_none() && is_worth_a_search(query)).then_some(query)
    }

    /// The session whose preview is shown and not loaded yet.
    pub(super) fn wanted_tail(&self) -> Option<&SessionId> {
        let id = self.shows_preview.then(|| self.selected_id())??;
        let is_known = self.tail.as_ref().is_some_and(|(known, _)| known == id);
        (!is_known).then_some(id)
    }

    fn press(&mut self, key: Key) -> Action {
        let page = self.layout().list.lines.max(1);
        match key {
            Key::Control('c') => return Action::Interrupt,
            Key::Escape if self.query.is_empty() => return Action::Leave,
            Key::Escape | Key::Control('u') => self.retype(String::new()),
            Key::Enter => {
                if let Some(id) = self.selected_id() {
                    return Action::Resume(id.clone());
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
        Action::Stay
    }

    /// Changes the query: the list is filtered again, and the old hits are dropped.
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

    /// Keeps the selection inside the list and on the screen.
    fn scroll(&mut self) {
        let (count, height) = (self.count(), self.layout().list.lines.max(1));
        self.selected = self.selected.min(count.saturating_sub(1));
        let lowest = (self.selected + 1).saturating_sub(height);
        self.top = self.top.clamp(lowest, self.selected).min(count.saturating_sub(height).max(lowest));
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::new(self.size, self.shows_preview)
    }

    /// The rows: sessions first, then hits in messages.
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

    /// The messages of the preview; `None` while they are loaded.
    pub(super) fn preview(&self) -> Option<&[PreviewMessage]> {
        let selected = self.selected_id()?;
        self.tail.as_ref().filter(|(id, _)| id == selected).map(|(_, said)| said.as_slice())
    }
}

/// Returns true for queries worth a search: one letter is in every message, but one character of a script without
/// spaces may be a word.
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
