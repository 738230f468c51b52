//! The parts of files that the model has already read.
//!
//! Reading the same unchanged text again costs tokens without benefit. The log also knows whether a file
//! changed since it was last read, which a writer needs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Pages that are remembered.
const MOST_PAGES: usize = 1000;
/// Files whose state is remembered.
const MOST_FILES: usize = 1000;
/// Files whose failed changes are counted.
const MOST_FAILURES: usize = 500;

/// One page of one file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    pub(crate) offset: usize,
    pub(crate) limit: usize,
}

/// A file's state, as far as cheap looks tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) modified: Option<SystemTime>,
    pub(crate) size: u64,
    /// Known of files of another place, which report their times more coarsely.
    pub(crate) inode: Option<u64>,
}

impl Version {
    pub(crate) fn of(metadata: &std::fs::Metadata) -> Self {
        Self { modified: metadata.modified().ok(), size: metadata.len(), inode: None }
    }
}

/// The reaction to a read request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advice {
    Read,
    /// Read, but say that this is becoming a habit.
    ReadAndWarn,
    /// The model has this text already.
    Unchanged,
    /// The model got the reminder and asks again.
    Block,
}

/// The state of a file that is about to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Never,
    Whole,
    Part,
    /// It changed after it was read.
    Stale,
}

#[derive(Debug, Default)]
pub(crate) struct ReadLog {
    pages: HashMap<Page, (Version, u32)>,
    files: HashMap<PathBuf, (Version, bool)>,
    /// The newest page and how often it was asked for in a row.
    streak: Option<(Page, u32)>,
    /// The same for searches, which have no pages worth remembering.
    searches: Option<(String, u32)>,
    /// Failed changes in a row, by file.
    failures: HashMap<PathBuf, u32>,
}

impl ReadLog {
    /// Notes a request for `page` and says what to do with it.
    pub(crate) fn ask(&mut self, page: &Page, now: Version) -> Advice {
        let streak = match &self.streak {
            Some((last, count)) if last == page => count + 1,
            _ => 1,
        };
        self.streak = Some((page.clone(), streak));
        self.searches = None;
        let repeats = match self.pages.get_mut(page) {
            Some((version, repeats)) if *version == now => {
                *repeats += 1;
                *repeats
            }
            _ => 0,
        };
        match (repeats, streak) {
            (1, _) => Advice::Unchanged,
            (2.., _) | (_, 4..) => Advice::Block,
            (_, 3) => Advice::ReadAndWarn,
            _ => Advice::Read,
        }
    }

    /// Notes a search and says what to do with it; `search` tells it from others.
    pub(crate) fn ask_search(&mut self, search: String) -> Advice {
        let count = match self.searches.take() {
            Some((last, count)) if last == search => count + 1,
            _ => 1,
        };
        self.searches = Some((search, count));
        self.streak = None;
        match count {
            0..=2 => Advice::Read,
            3 => Advice::ReadAndWarn,
            4.. => Advice::Block,
        }
    }

    /// Notes that `page` was handed out; `whole` if it was the entire file.
    pub(crate) fn gave(&mut self, page: Page, version: Version, whole: bool) {
        // A full log starts anew: an early page is read again.
        if self.pages.len() >= MOST_PAGES {
            self.pages.clear();
        }
        self.gave_to_script(page.path.clone(), version, whole);
        self.pages.insert(page, (version, 0));
    }

    /// Notes that a script read a file. The model has not seen the text, so it can still ask for it.
    pub(crate) fn gave_to_script(&mut self, path: PathBuf, version: Version, whole: bool) {
        let whole = whole || self.files.get(&path).is_some_and(|(known, all)| *all && *known == version);
        // A full log starts anew: a writer hears less.
        if self.files.len() >= MOST_FILES {
            self.files.clear();
        }
        self.files.insert(path, (version, whole));
    }

    pub(crate) fn seen(&self, path: &Path, now: Option<Version>) -> Seen {
        match self.files.get(path) {
            None => Seen::Never,
            Some((version, _)) if Some(*version) != now => Seen::Stale,
            Some((_, true)) => Seen::Whole,
            Some((_, false)) => Seen::Part,
        }
    }

    /// Notes that Hermes itself wrote the file: its author knows what is in it.
    pub(crate) fn wrote(&mut self, path: &Path, version: Option<Version>) {
        self.pages.retain(|page, _| page.path != path);
        match version {
            Some(version) => self.files.insert(path.to_owned(), (version, true)),
            None => self.files.remove(path),
        };
    }

    /// Counts a change of the file that could not be made. Returns the failures in a row.
    pub(crate) fn patch_failed(&mut self, path: &Path) -> u32 {
        if self.failures.len() >= MOST_FAILURES {
            self.failures.clear();
        }
        let count = self.failures.entry(path.to_owned()).or_default();
        *count = count.saturating_add(1);
        *count
    }

    /// Ends a run of failed changes.
    pub(crate) fn patch_worked(&mut self, path: &Path) {
        self.failures.remove(path);
    }

    /// Ends a run of identical reads or searches.
    pub(crate) fn other_tool_ran(&mut self) {
        self.streak = None;
        self.searches = None;
    }

    /// Forgets what was handed out, for when the conversation no longer has it.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(offset: usize) -> Page {
        Page { path: "/a".into(), offset, limit: 10 }
    }

    fn version(size: u64) -> Version {
        Version { modified: None, size, inode: None }
    }

    fn read(log: &mut ReadLog, page: Page, version: Version) -> Advice {
        let advice = log.ask(&page, version);
        if matches!(advice, Advice::Read | Advice::ReadAndWarn) {
            log.gave(page, version, false);
        }
        advice
    }

    #[test]
    fn an_unchanged_page_is_given_once() {
        let mut log = ReadLog::default();
        let advice: Vec<_> = (0..4).map(|_| read(&mut log, page(1), version(1))).collect();
        assert_eq!(advice, [Advice::Read, Advice::Unchanged, Advice::Block, Advice::Block]);
        assert_eq!(read(&mut log, page(2), version(1)), Advice::Read);
        log.forget();
        assert_eq!(read(&mut log, page(1), version(1)), Advice::Read);
        log.wrote(Path::new("/a"), Some(version(1)));
        assert_eq!(read(&mut log, page(1), version(1)), Advice::Read);
    }

    #[test]
    fn watching_a_changing_file_is_stopped_in_the_end() {
        let mut log = ReadLog::default();
        let advice: Vec<_> = (0..4).map(|size| read(&mut log, page(1), version(size))).collect();
        assert_eq!(advice, [Advice::Read, Advice::Read, Advice::ReadAndWarn, Advice::Block]);
        log.other_tool_ran();
        assert_eq!(read(&mut log, page(1), version(9)), Advice::Read);
    }

    #[test]
    fn repeating_a_search_is_stopped_too() {
        let mut log = ReadLog::default();
        let advice: Vec<_> = (0..4).map(|_| log.ask_search("x".into())).collect();
        assert_eq!(advice, [Advice::Read, Advice::Read, Advice::ReadAndWarn, Advice::Block]);
        assert_eq!(log.ask_search("y".into()), Advice::Read);
        log.other_tool_ran();
        assert_eq!(log.ask_search("y".into()), Advice::Read);
    }

    #[test]
    fn writers_hear_what_was_seen() {
        let mut log = ReadLog::default();
        assert_eq!(log.seen(Path::new("/a"), Some(version(1))), Seen::Never);
        log.gave(page(1), version(1), false);
        assert_eq!(log.seen(Path::new("/a"), Some(version(1))), Seen::Part);
        assert_eq!(log.seen(Path::new("/a"), Some(version(2))), Seen::Stale);
        log.wrote(Path::new("/a"), Some(version(2)));
        assert_eq!(log.seen(Path::new("/a"), Some(version(2))), Seen::Whole);
    }
}
