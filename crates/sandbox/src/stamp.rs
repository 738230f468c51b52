//! Noticing that files have changed since a policy was prepared.
//!
//! Rules and mounts belong to inodes. If a listed path is another inode now, or a directory has other entries, or the
//! mounts of this process have changed, everything is prepared again.

use crate::view::{Level, Place, View};
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The state of files at a time.
pub(crate) struct Stamps {
    /// Signals a change of mounts.
    mounts: Option<File>,
    files: Vec<(PathBuf, Option<Stamp>, Kind)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The same file.
    Identity,
    /// The same directory with the same entries.
    Entries,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl Stamps {
    pub(crate) fn new() -> Self {
        Self { mounts: File::open("/proc/self/mountinfo").ok(), files: Vec::new() }
    }

    /// Adds the paths of a view, and directories whose entries were listed.
    pub(crate) fn finish<'a>(mut self, view: &'a View, listed: impl Iterator<Item = &'a PathBuf>) -> Self {
        let is_outside = |path: &Path| {
            let replaced = |(_, entry): (&Path, &crate::view::Entry)| {
                matches!(entry.place, Place::From(_) | Place::Emptied)
            };
            !path
                .ancestors()
                .filter_map(|path| view.entries.get_key_value(path))
                .any(|(path, entry)| replaced((path, entry)))
        };
        let entries = view
            .entries
            .iter()
            .filter(|(_, entry)| entry.level != Level::Hidden || entry.place == Place::Itself);
        for (path, _) in entries {
            self.add(path, Kind::Identity);
        }
        for path in view.watched.iter().chain(listed).filter(|path| is_outside(path)) {
            self.add(path, Kind::Entries);
        }
        self
    }

    fn add(&mut self, path: &Path, kind: Kind) {
        self.files.push((path.to_owned(), stamp(path, kind), kind));
    }

    pub(crate) fn are_current(&self) -> bool {
        !self.mounts_changed() && self.files.iter().all(|(path, before, kind)| stamp(path, *kind) == *before)
    }

    /// Asks the kernel, which marks the file as urgent when mounts have changed.
    fn mounts_changed(&self) -> bool {
        let Some(file) = &self.mounts else { return false };
        let mut polled = [PollFd::new(file, PollFlags::PRI)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut polled, Some(&now)).is_ok_and(|_| polled[0].revents().contains(PollFlags::PRI))
    }
}

fn stamp(path: &Path, kind: Kind) -> Option<Stamp> {
    let found: Metadata = std::fs::symlink_metadata(path).ok()?;
    let changed = match kind {
        Kind::Identity => (0, 0),
        Kind::Entries => (found.mtime(), found.mtime_nsec()),
    };
    Some(Stamp { device: found.dev(), inode: found.ino(), changed })
}
