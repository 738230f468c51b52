//! Files that tools leave alone: keys, system files, and Hermes' own settings.
//!
//! Paths come in resolved, so a link to a protected file is protected too.

mod names;

use crate::{paths, user_home};
use names::{
    BLOCKING, DEVICES, KEY_PLACES, KEY_PLACES_READABLE, OWN_SECRETS, OWN_STORE, OWN_WRITABLE, PROCESS,
    RUN_BY_ITSELF, SYSTEM,
};
use std::path::{Component, Path, PathBuf};

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

/// Why `path` must not be read, if so.
pub(crate) fn unreadable(path: &Path, places: &Places) -> Option<String> {
    let shown = path.display();
    if starts_with_any(path, &DEVICES) || starts_with_any(path, &BLOCKING) || is_process_file(path) {
        return Some(format!("{shown} is a device or process file and cannot be read as text"));
    }
    if is_own_store(path, places) {
        return Some(format!("{shown} is Hermes' own session store and is not shown"));
    }
    if holds_credentials(path, places) {
        return Some(format!(
            "{shown} holds credentials and is not shown; ask the user if you need something from it"
        ));
    }
    None
}

/// Why `path` must not be written, if so.
pub(crate) fn unwritable(path: &Path, places: &Places) -> Option<String> {
    let shown = path.display();
    if starts_with_any(path, &SYSTEM) {
        return Some(format!("{shown} belongs to the system and is not written"));
    }
    if is_own(path, places) {
        return Some(format!("{shown} belongs to Hermes itself; only the user changes it"));
    }
    if is_below_a_home(path, places, &KEY_PLACES) {
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

fn holds_credentials(path: &Path, places: &Places) -> bool {
    let key_file = is_below_a_home(path, places, &KEY_PLACES)
        && !is_below_a_home(path, places, &KEY_PLACES_READABLE)
        && path.extension().is_none_or(|extension| extension != "pub");
    is_environment_file(path) || is_below(path, &places.home, &OWN_SECRETS) || key_file
}

/// All of Hermes' directory is its own, because one stray file there can undo it: a log of the
/// session database that does not belong to it destroys every session.
fn is_own(path: &Path, places: &Places) -> bool {
    !places.home.as_os_str().is_empty()
        && path.starts_with(&places.home)
        && !is_below(path, &places.home, &OWN_WRITABLE)
}

/// The session database, its logs and its copies.
fn is_own_store(path: &Path, places: &Places) -> bool {
    let first = path.strip_prefix(&places.home).ok().and_then(|rest| rest.components().next());
    let Some(Component::Normal(name)) = first else {
        return false;
    };
    !places.home.as_os_str().is_empty() && name.to_str().is_some_and(|name| name.starts_with(OWN_STORE))
}

/// Below the user's home, or below what is somebody's home by its place: the user may have
/// another home than the environment says, and other people's keys are keys too.
fn is_below_a_home(path: &Path, places: &Places, names: &[&str]) -> bool {
    places.user_home.as_deref().is_some_and(|home| is_below(path, home, names))
        || is_below(path, Path::new("/root"), names)
        || ["/home", "/Users"].iter().any(|homes| {
            let rest = path.strip_prefix(homes).map(|rest| rest.components()).ok();
            rest.is_some_and(|mut rest| {
                rest.next();
                names.iter().any(|name| rest.as_path().starts_with(name))
            })
        })
}

fn is_below(path: &Path, root: &Path, names: &[&str]) -> bool {
    if root.as_os_str().is_empty() {
        return false;
    }
    path.strip_prefix(root).is_ok_and(|rest| names.iter().any(|name| rest.starts_with(name)))
}

fn starts_with_any(path: &Path, roots: &[&str]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

/// What makes git run programs: hooks and settings, also of modules inside the repository, and
/// a `.git` that is a file and names another directory.
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
#[path = "protect/tests.rs"]
mod tests;
