//! The file system as a command sees it: a level of access for each path.
//!
//! The level of a path is that of its nearest listed ancestor. Landlock rules and mounts are both made from this
//! table, and denials are explained with it.

use crate::git::Repository;
use crate::policy::{Network, PRIVATE, Policy, Profile};
use crate::system_paths::{CACHES, DEVICES, HOMES, RUN_RESOLVERS, RUN_VISIBLE, SERVICES};
use hermes_gate::{credential_files, readable_credential_files, startup_files, system_credential_files};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};

/// The access to a path and all below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Hidden,
    Read,
    /// Reading and writing of existing files: devices.
    Device,
    Write,
}

/// The reason for which a path is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// The path itself, with another level than its surroundings.
    Itself,
    /// Another directory in its place.
    From(PathBuf),
    /// An empty directory in its place, with parts of the original.
    Emptied,
    /// A part of a writable tree in which files are created, for instance of a git repository: held by mounts only,
    /// because Landlock cannot exclude such parts.
    Part,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) level: Level,
    pub(crate) place: Place,
}

/// The table of levels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) entries: BTreeMap<PathBuf, Entry>,
    /// Directories in which a listed path may appear.
    pub(crate) watched: BTreeSet<PathBuf>,
    /// Files that a command must not leave behind.
    pub(crate) unwanted: Vec<PathBuf>,
}

impl View {
    /// The view of a policy. `has_mounts` says if mounts can replace directories.
    pub(crate) fn new(policy: &Policy, has_mounts: bool) -> Self {
        let mut view = Self::default();
        let places = &policy.places;
        view.set("/", Level::Read);
        view.hide_system(policy);
        view.add_devices(policy, has_mounts);
        view.add_temporary(policy, has_mounts);
        let home = places.user_home.as_deref().filter(|home| home.parent().is_some() && home.is_dir());
        if let Some(home) = home {
            view.set(home, Level::Read);
        }
        let project = if policy.profile == Profile::Workspace { Level::Write } else { Level::Read };
        if let (Some(home), Level::Write) = (home, project) {
            for name in CACHES.iter().filter(|name| is_own(home, name)) {
                view.set_existing(&home.join(name), Level::Write);
            }
        }
        view.set(&places.project, project);
        if let Some(home) = home {
            view.protect_home(home);
        }
        for path in policy.read_only.iter().filter(|path| !path.starts_with(&places.project)) {
            view.lower_to_read(path);
        }
        view.set(&places.temporary, Level::Write);
        if has_mounts {
            // Mount points cannot be renamed.
            for (_, name) in PRIVATE {
                view.insert(&places.temporary.join(name), Level::Write, Place::Part);
            }
        }
        if project == Level::Write {
            view.add_git(policy, has_mounts);
        }
        view.add_exceptions(policy);
        view.drop_unreachable();
        view
    }

    /// The level of a path.
    pub(crate) fn level(&self, path: &Path) -> Level {
        self.nearest(path).map_or(Level::Read, |(_, entry)| entry.level)
    }

    /// The nearest listed ancestor of a path, or the path itself.
    pub(crate) fn nearest(&self, path: &Path) -> Option<(&Path, &Entry)> {
        path.ancestors()
            .find_map(|path| self.entries.get_key_value(path))
            .map(|(path, entry)| (&**path, entry))
    }

    /// The listed ancestor above a path.
    pub(crate) fn above(&self, path: &Path) -> Option<(&Path, &Entry)> {
        self.nearest(path.parent()?)
    }

    /// The listed paths below a path.
    pub(crate) fn below<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = (&'a Path, &'a Entry)> {
        let all = self.entries.range::<Path, _>((Bound::Included(path), Bound::Unbounded));
        all.map(|(below, entry)| (&**below, entry))
            .take_while(move |(below, _)| below.starts_with(path))
            .filter(move |(below, _)| *below != path)
    }

    /// Removes hidden paths that another directory replaces anyway.
    fn drop_unreachable(&mut self) {
        let is_gone = |(path, entry): (&PathBuf, &Entry)| {
            let is_replaced = self.above(path).is_some_and(|(_, above)| above.replaces_content());
            (entry.level == Level::Hidden && is_replaced).then(|| path.clone())
        };
        let gone: Vec<PathBuf> = self.entries.iter().filter_map(is_gone).collect();
        for path in gone {
            self.entries.remove(&path);
        }
    }

    fn set(&mut self, path: impl AsRef<Path>, level: Level) {
        self.insert(path.as_ref(), level, Place::Itself);
    }

    fn insert(&mut self, path: &Path, level: Level, place: Place) {
        self.entries.insert(path.to_owned(), Entry { level, place });
    }

    /// Lists a path with links resolved; a missing one may appear later.
    fn set_existing(&mut self, path: &Path, level: Level) {
        match path.canonicalize() {
            Ok(path) => self.set(path, level),
            Err(_) => {
                let existing = path.ancestors().skip(1).find(|parent| parent.is_dir());
                self.watched.extend(existing.map(Path::to_owned));
            }
        }
    }

    fn hide_system(&mut self, policy: &Policy) {
        let services = SERVICES.iter().map(Path::new);
        for path in system_credential_files().chain(services) {
            self.set_existing(path, Level::Hidden);
        }
        let homes = HOMES.iter().map(Path::new);
        let single = homes.clone().filter(|path| path.ends_with("root")).map(Path::to_owned);
        let listed = homes.filter(|path| path.ends_with("home")).flat_map(children).chain(single);
        let own = policy.places.user_home.as_deref();
        for path in listed.filter(|path| own.is_none_or(|own| !own.starts_with(path))) {
            if path.is_dir() {
                self.set(path, Level::Hidden);
            }
        }
        self.watched.insert(PathBuf::from("/home"));
    }

    fn add_devices(&mut self, policy: &Policy, has_mounts: bool) {
        if has_mounts {
            self.insert(Path::new("/dev"), Level::Device, Place::Emptied);
            self.insert(Path::new("/run"), Level::Read, Place::Emptied);
            let resolvers = if policy.network == Network::On { RUN_RESOLVERS } else { &[] };
            let visible = RUN_VISIBLE.iter().chain(resolvers).map(Path::new);
            for path in visible.filter(|path| path.exists()) {
                self.set(path, Level::Read);
            }
            return;
        }
        self.set("/dev", Level::Hidden);
        for path in DEVICES.iter().copied().chain(["/dev/ptmx", "/dev/pts"]) {
            self.set(path, Level::Device);
        }
    }

    fn add_temporary(&mut self, policy: &Policy, has_mounts: bool) {
        for (path, name) in PRIVATE {
            let path = Path::new(path);
            match path.canonicalize() {
                Ok(path) if has_mounts => {
                    let from = policy.places.temporary.join(name);
                    self.insert(&path, Level::Write, Place::From(from));
                }
                Ok(path) if policy.profile == Profile::Workspace => self.set(path, Level::Write),
                _ => {}
            }
        }
    }

    /// Hides the secrets of the home directory, and keeps what runs by itself from being written.
    fn protect_home(&mut self, home: &Path) {
        for path in credential_files(home) {
            self.set_existing(&path, Level::Hidden);
        }
        for path in readable_credential_files(home) {
            if let Ok(path) = path.canonicalize()
                && path.is_file()
            {
                self.set(path, Level::Read);
            }
        }
        for path in startup_files(home) {
            self.lower_to_read(&path);
        }
    }

    /// Makes a path in a writable tree readable only.
    fn lower_to_read(&mut self, path: &Path) {
        if let Ok(path) = path.canonicalize()
            && self.level(&path) == Level::Write
        {
            self.set(path, Level::Read);
        }
    }

    fn add_git(&mut self, policy: &Policy, has_mounts: bool) {
        let Some(found) = Repository::of(&policy.places.project, has_mounts) else { return };
        for path in found.writable.iter().filter(|path| path.exists()) {
            self.insert(path, Level::Write, Place::Itself);
        }
        if policy.git_settings {
            return;
        }
        for path in found.fixed {
            self.insert(&path, Level::Write, Place::Part);
        }
        for path in found.read_only {
            if !found.writable.contains(&path) {
                self.insert(&path, Level::Read, Place::Part);
            }
        }
        self.unwanted = found.unwanted;
    }

    /// Adds approved paths, and hides the directories of Hermes, which no approval opens.
    fn add_exceptions(&mut self, policy: &Policy) {
        let own = &policy.places.hermes_home;
        let is_own = |path: &Path| {
            path.starts_with(own) || policy.hidden.iter().any(|hidden| path.starts_with(hidden))
        };
        for path in policy.extra_read.iter().filter(|path| !is_own(path)) {
            if let Ok(path) = path.canonicalize()
                && self.level(&path) < Level::Read
            {
                self.set(path, Level::Read);
            }
        }
        for path in policy.extra_write.iter().filter(|path| !is_own(path)) {
            if let Ok(path) = path.canonicalize() {
                self.set(path, Level::Write);
            }
        }
        for path in std::iter::once(own).chain(&policy.hidden) {
            if path.parent().is_some() {
                self.set_existing(path, Level::Hidden);
            }
        }
        for path in &policy.shared {
            self.set_existing(path, Level::Read);
        }
    }
}

impl Entry {
    /// Returns true if the entries of a directory are not those of the directory itself.
    pub(crate) fn replaces_content(&self) -> bool {
        self.level == Level::Hidden || matches!(self.place, Place::From(_) | Place::Emptied)
    }
}

/// Returns true if a cache is a directory of the home directory, and not a link out of it.
fn is_own(home: &Path, name: &str) -> bool {
    home.join(name).canonicalize().is_ok_and(|path| path.starts_with(home))
}

fn children(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
