//! Files that tools leave alone: keys, system files, and Hermes' own settings.
//!
//! Paths come in resolved, so a link to a protected file is protected too.

mod names;

use crate::{paths, user_home};
use names::{
    BLOCKING, CREDENTIALS, DEVICES, OTHERS_SETTINGS, OWN_SECRETS, OWN_STORE, OWN_TEMPORARY, OWN_WRITABLE,
    PROCESS, Place, READABLE, RUN_BY_ITSELF, SYSTEM,
};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The directories that give a path its meaning.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Hermes' own directory.
    pub(crate) home: PathBuf,
    /// The user's home directory.
    pub(crate) user_home: Option<PathBuf>,
}

impl Places {
    /// The directories with links followed; a missing home of the user is looked up in the system's list.
    pub fn new(home: &Path, user_home: Option<&Path>) -> Self {
        let user_home = user_home.map(Path::to_owned).or_else(user_home::from_system);
        Self { home: paths::real(home), user_home: user_home.as_deref().map(paths::real) }
    }

    /// The user's home directory.
    pub fn user_home(&self) -> Option<&Path> {
        self.user_home.as_deref()
    }
}

/// The reason why `path` must not be read, if any.
pub(crate) fn unreadable(path: &Path, places: &Places) -> Option<String> {
    let shown = path.display();
    if starts_with_any(path, &DEVICES) || starts_with_any(path, &BLOCKING) || is_process_file(path) {
        return Some(format!("{shown} is a device or process file and cannot be read as text"));
    }
    let hermes = HermesFile::of(path, places);
    if hermes.as_ref().is_some_and(|file| file.begins_with(&OWN_STORE)) {
        return Some(format!("{shown} is Hermes' own session store and is not shown"));
    }
    if hermes.is_some_and(|file| file.holds_credentials()) || is_unreadable_credential(path, places) {
        return Some(format!(
            "{shown} holds credentials and is not shown; ask the user if you need something from it"
        ));
    }
    None
}

/// The reason why `path` must not be written, if any.
pub(crate) fn unwritable(path: &Path, places: &Places) -> Option<String> {
    let shown = path.display();
    if starts_with_any(path, &SYSTEM) {
        return Some(format!("{shown} belongs to the system and is not written"));
    }
    if HermesFile::of(path, places).is_some_and(|file| !file.is_working_file()) {
        return Some(format!("{shown} belongs to Hermes itself; only the user changes it"));
    }
    if is_credential(path, places) {
        return Some(format!("{shown} is a place for keys or services and is not written"));
    }
    if is_below_a_home(path, places, &RUN_BY_ITSELF) || is_git_program_setting(path) {
        return Some(format!(
            "{shown} is run or read by other programs without asking and is not written; ask the user to \
             change it"
        ));
    }
    None
}

/// Returns true if `path` has the device and inode of a hidden file of Hermes: a hard link or a mount has
/// another path.
pub(crate) fn is_hidden_file(metadata: &Metadata, places: &Places) -> bool {
    if places.home.as_os_str().is_empty() {
        return false;
    }
    let named = [".env", "auth.json", "fence.key", "state.db"].map(|name| places.home.join(name));
    let of_user = |home: &PathBuf| {
        let files = CREDENTIALS.iter().filter_map(|place| match place {
            Place::Home(name) | Place::Anywhere(name) => Some(home.join(name)),
            Place::At(_) => None,
        });
        files.collect::<Vec<_>>()
    };
    // A file with one name can only be mounted, which users do not do by accident.
    let linked = (metadata.nlink() > 1).then(|| places.user_home.as_ref().map(of_user)).flatten();
    let same = |path: &PathBuf| {
        path.metadata().is_ok_and(|other| (other.dev(), other.ino()) == (metadata.dev(), metadata.ino()))
    };
    named.iter().chain(linked.iter().flatten()).any(same)
}

/// Files of credentials that may not be read: public keys and lists of hosts may.
fn is_unreadable_credential(path: &Path, places: &Places) -> bool {
    let is_public = path.extension().is_some_and(|extension| extension == "pub");
    let is_plain = is_below_a_home(path, places, &READABLE);
    is_environment_file(path) || is_credential(path, places) && !is_public && !is_plain
}

/// Returns true if the table of credentials has the path.
fn is_credential(path: &Path, places: &Places) -> bool {
    CREDENTIALS.iter().any(|place| match place {
        Place::Home(name) => is_below_a_home(path, places, &[name]),
        Place::Anywhere(name) => path.ancestors().take(2).any(|part| part.ends_with(name)),
        Place::At(root) => path.starts_with(root),
    })
}

/// A file in a home of Hermes: this one, that of another profile, or the usual one of a user.
struct HermesFile<'a> {
    /// Seen from that home.
    inside: &'a Path,
    is_own: bool,
}

impl<'a> HermesFile<'a> {
    fn of(path: &'a Path, places: &Places) -> Option<Self> {
        let own = &places.home;
        let is_profile = own.parent().is_some_and(|parent| parent.ends_with("profiles"));
        let root = if is_profile { own.ancestors().nth(2) } else { Some(own.as_path()) };
        let root = root.filter(|root| !root.as_os_str().is_empty());
        let inside =
            root.and_then(|root| path.strip_prefix(root).ok()).or_else(|| usual_home(path, places))?;
        // Profiles are homes inside the first one.
        let mut parts = inside.components();
        let inside = match (parts.next().is_some_and(|part| part.as_os_str() == "profiles"), parts.next()) {
            (true, Some(_)) => parts.as_path(),
            _ => inside,
        };
        let is_own = !own.as_os_str().is_empty() && path.strip_prefix(own).is_ok_and(|rest| rest == inside);
        Some(Self { inside, is_own })
    }

    /// Returns true if the first component of its path begins with one of these.
    fn begins_with(&self, names: &[&str]) -> bool {
        let first = self.inside.components().next().and_then(|part| part.as_os_str().to_str());
        first.is_some_and(|first| names.iter().any(|name| first.starts_with(name)))
    }

    fn holds_credentials(&self) -> bool {
        self.begins_with(&OWN_SECRETS)
            || self.begins_with(&OWN_TEMPORARY)
            || self.inside.extension().is_some_and(|extension| extension == "tmp")
            || !self.is_own && self.begins_with(&OTHERS_SETTINGS)
    }

    /// All of the directory is Hermes' own, because one stray file there can undo it: a log of the
    /// session database that does not belong to it destroys every session.
    fn is_working_file(&self) -> bool {
        self.is_own && OWN_WRITABLE.iter().any(|name| self.inside.starts_with(name))
    }
}

/// A path inside the usual home of Hermes of some user.
fn usual_home<'a>(path: &'a Path, places: &Places) -> Option<&'a Path> {
    let inside = user_homes(path, places).find_map(|rest| rest.strip_prefix(".hermes").ok());
    inside.filter(|inside| !inside.as_os_str().is_empty())
}

/// Returns true below the user's home directory and below any directory that is a home directory by its
/// location: the environment may name another one, and other users' keys are keys too.
fn is_below_a_home(path: &Path, places: &Places, names: &[&str]) -> bool {
    user_homes(path, places).any(|rest| names.iter().any(|name| rest.starts_with(name)))
}

/// The path as seen from each home that it is in.
fn user_homes<'a>(path: &'a Path, places: &Places) -> impl Iterator<Item = &'a Path> {
    let own = places.user_home.as_deref().and_then(|home| path.strip_prefix(home).ok());
    let root = path.strip_prefix("/root").ok();
    let others = ["/home", "/Users"].into_iter().filter_map(move |homes| {
        let mut rest = path.strip_prefix(homes).ok()?.components();
        rest.next()?;
        Some(rest.as_path())
    });
    own.into_iter().chain(root).chain(others)
}

fn starts_with_any(path: &Path, roots: &[&str]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

/// Returns true for files that make git run programs: hooks and settings, also of submodules, and a `.git`
/// file that names another directory.
fn is_git_program_setting(path: &Path) -> bool {
    let mut parts = path.iter().skip_while(|part| *part != ".git");
    if parts.next().is_none() {
        return false;
    }
    let rest: Vec<_> = parts.filter_map(|part| part.to_str()).collect();
    let is_setting = |part: &str| matches!(part, "hooks" | "config" | "config.worktree");
    match rest.first().copied() {
        None => true,
        Some("modules" | "worktrees") => rest.iter().any(|part| is_setting(part)),
        Some(first) => is_setting(first),
    }
}

/// `.env` and its variants, but not the examples that are meant to be read.
fn is_environment_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let example = [".example", ".sample", ".template", ".dist", ".defaults"];
    name == ".env" || (name.starts_with(".env.") && !example.iter().any(|end| name.ends_with(end)))
}

fn is_process_file(path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix("/proc") else {
        return false;
    };
    let mut parts = rest.iter().skip(1).filter_map(|part| part.to_str());
    let kind = parts.find(|part| *part != "task" && part.parse::<u32>().is_err());
    kind.is_some_and(|kind| PROCESS.contains(&kind))
}

#[cfg(test)]
#[path = "protect_tests.rs"]
mod tests;
