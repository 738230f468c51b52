//! Looks for skills below a folder, and remembers what it saw.
//!
//! What was seen last time is used again where times and sizes are the same, so that a second look
//! reads nothing but metadata. A folder whose time is the same has the same names in it; only what
//! was written at about the moment of that look is not believed, since clocks of file systems tick
//! slowly.

use super::front::{self, Front, one_line};
use hermes_guard::{Scope, neutralise};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(super) const SKILL_FILE: &str = "SKILL.md";
pub(super) const ABOUT_FILE: &str = "DESCRIPTION.md";
/// Folders of a skill that hold what belongs to it.
pub(super) const SUPPORT_DIRS: [&str; 4] = ["references", "templates", "scripts", "assets"];
const IGNORED_DIRS: [&str; 14] = [
    ".git",
    ".github",
    ".hub",
    ".archive",
    ".venv",
    "venv",
    "node_modules",
    "site-packages",
    "__pycache__",
    ".tox",
    ".nox",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
];
const MAX_DEPTH: usize = 8;
const MAX_FOLDERS: usize = 200_000;
/// A character has at most four bytes.
const MAX_SKILL_BYTES: u64 = 4 * front::MAX_SKILL_CHARS as u64;
const MAX_ABOUT_BYTES: u64 = 64 * 1024;
/// Changes this close to a look may have been missed by it.
const TICK_NS: i64 = 2_000_000_000;

/// One folder as it was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Folder {
    #[serde(rename = "m")]
    mtime: i64,
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub(super) skill: Option<Kept<Front>>,
    /// What `DESCRIPTION.md` says about the category.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<Kept<String>>,
    #[serde(rename = "d", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) below: Vec<(String, Folder)>,
}

/// What was read from a file, or why it could not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept<T> {
    #[serde(rename = "m")]
    mtime: i64,
    #[serde(rename = "z")]
    size: u64,
    #[serde(rename = "v")]
    pub(super) value: Result<T, String>,
}

/// One look at the disk.
pub(super) struct Look {
    /// When the earlier look was taken, and when this one.
    earlier: i64,
    now: i64,
    visited: HashSet<(u64, u64)>,
    /// Whether anything is different from the earlier look, or can be believed from now on.
    pub(super) has_news: bool,
}

/// The names in a folder that matter.
#[derive(Default)]
struct Names {
    skill: bool,
    about: bool,
    dirs: Vec<String>,
}

impl Look {
    pub(super) fn new(earlier: i64, now: i64) -> Self {
        Self { earlier, now, visited: HashSet::new(), has_news: false }
    }

    /// Everything below `root`; `None` when it is no folder.
    pub(super) fn at(&mut self, root: &Path, earlier: Option<Folder>) -> Option<Folder> {
        let had_one = earlier.is_some();
        let found = self.folder(&mut root.to_owned(), earlier, 0);
        self.has_news |= had_one != found.is_some();
        found
    }

    fn folder(&mut self, path: &mut PathBuf, earlier: Option<Folder>, depth: usize) -> Option<Folder> {
        let metadata = std::fs::metadata(&*path).ok().filter(Metadata::is_dir)?;
        let is_new = self.visited.insert((metadata.dev(), metadata.ino()));
        if !is_new || depth > MAX_DEPTH || self.visited.len() > MAX_FOLDERS {
            return None;
        }
        let mtime = nanoseconds(&metadata);
        let (names, earlier) = match earlier {
            Some(earlier) if earlier.mtime == mtime && self.is_settled(mtime) => {
                (Names::of(&earlier), earlier)
            }
            earlier => (Names::read(path), earlier.unwrap_or_default()),
        };
        let Folder { skill, about, below, .. } = earlier;
        let skill = names.skill.then(|| self.file(path, SKILL_FILE, skill, read_skill)).flatten();
        let about = names.about.then(|| self.file(path, ABOUT_FILE, about, read_about)).flatten();
        let mut folders = Vec::with_capacity(names.dirs.len());
        // Both lists are sorted.
        let mut below = below.into_iter().peekable();
        for name in names.dirs {
            if skill.is_some() && SUPPORT_DIRS.contains(&name.as_str()) {
                continue;
            }
            while below.next_if(|(known, _)| *known < name).is_some() {}
            let known = below.next_if(|(known, _)| *known == name).map(|(_, folder)| folder);
            path.push(&name);
            folders.extend(self.folder(path, known, depth + 1).map(|folder| (name, folder)));
            path.pop();
        }
        Some(Folder { mtime, skill, about, below: folders })
    }

    fn file<T>(
        &mut self,
        folder: &mut PathBuf,
        name: &str,
        earlier: Option<Kept<T>>,
        read: impl Fn(&Path) -> Result<T, String>,
    ) -> Option<Kept<T>> {
        folder.push(name);
        let seen = std::fs::metadata(&*folder).ok().map(|metadata| {
            let (mtime, size) = (nanoseconds(&metadata), metadata.len());
            match earlier {
                Some(kept) if (kept.mtime, kept.size) == (mtime, size) && self.is_settled(mtime) => kept,
                _ => {
                    self.has_news = true;
                    let value = if metadata.is_file() { read(folder) } else { Err("it is no file".into()) };
                    Kept { mtime, size, value }
                }
            }
        });
        folder.pop();
        seen
    }

    /// Whether what had this time at the earlier look cannot have changed since without a new time.
    fn is_settled(&mut self, mtime: i64) -> bool {
        let is_settled = mtime < self.earlier - TICK_NS;
        self.has_news |= !is_settled && mtime < self.now - TICK_NS;
        is_settled
    }
}

impl Names {
    fn of(folder: &Folder) -> Self {
        Self {
            skill: folder.skill.is_some(),
            about: folder.about.is_some(),
            dirs: folder.below.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    fn read(path: &Path) -> Self {
        let mut names = Self::default();
        let Ok(entries) = std::fs::read_dir(path) else {
            return names;
        };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            match (name.as_str(), entry.file_type()) {
                (SKILL_FILE, _) => names.skill = true,
                (ABOUT_FILE, _) => names.about = true,
                (ignored, _) if IGNORED_DIRS.contains(&ignored) => {}
                (_, Ok(kind)) if kind.is_dir() => names.dirs.push(name),
                (_, Ok(kind)) if kind.is_symlink() && entry.path().is_dir() => names.dirs.push(name),
                _ => {}
            }
        }
        names.dirs.sort_unstable();
        names
    }
}

fn read_skill(path: &Path) -> Result<Front, String> {
    let mut front = front::parse(&read_text(path, MAX_SKILL_BYTES)?)?;
    front.description = harmless(&front.description);
    Ok(front)
}

fn read_about(path: &Path) -> Result<String, String> {
    let text = read_text(path, MAX_ABOUT_BYTES)?;
    let described = front::description_in(&text);
    let first = front::body(&text).lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let about = described.or_else(|| first.map(one_line)).unwrap_or_default();
    Ok(harmless(&about))
}

/// A text that becomes part of prompts, without what tries to steer the agent.
fn harmless(text: &str) -> String {
    one_line(&neutralise(text, Scope::Strict).text)
}

/// A text file of at most `most` bytes.
pub(super) fn read_text(path: &Path, most: u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| format!("it cannot be read: {error}"))?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.len() as u64 > most {
        return Err(format!("it is larger than {most} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// Whether discovery never looks into a folder of this name.
pub(super) fn is_ignored(name: &str) -> bool {
    IGNORED_DIRS.contains(&name)
}

fn nanoseconds(metadata: &Metadata) -> i64 {
    metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec())
}
