//! Finds skills below a folder.
//!
//! Results of the last run are reused where modification times and sizes are equal, so that a second run
//! reads metadata only. A folder with the same time has the same entries. Times close to the last run
//! are not trusted, since file systems have coarse clocks.

use super::front_matter::{self, FrontMatter, one_line};
use hermes_guard::{Scope, neutralise};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(super) const SKILL_FILE: &str = "SKILL.md";
pub(super) const ABOUT_FILE: &str = "DESCRIPTION.md";
/// Folders for the support files of a skill.
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
/// A UTF-8 character has at most four bytes.
const MAX_SKILL_BYTES: u64 = 4 * front_matter::MAX_SKILL_CHARS as u64;
const MAX_ABOUT_BYTES: u64 = 64 * 1024;
/// Changes this close to a run may have been missed by it.
const TICK_NS: i64 = 2_000_000_000;

/// One folder at the time of discovery.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Folder {
    #[serde(rename = "m")]
    mtime: i64,
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub(super) skill: Option<CachedFile<FrontMatter>>,
    /// The description of the category, from `DESCRIPTION.md`.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<CachedFile<String>>,
    #[serde(rename = "d", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) below: Vec<(String, Folder)>,
}

/// The parsed content of a file, or the reason why it is unusable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CachedFile<T> {
    #[serde(rename = "m")]
    mtime: i64,
    #[serde(rename = "z")]
    size: u64,
    #[serde(rename = "v")]
    pub(super) value: Result<T, String>,
}

/// One discovery run.
pub(super) struct Discovery {
    /// Start of the previous run and of this one.
    earlier: i64,
    now: i64,
    visited: HashSet<(u64, u64)>,
    /// Set when the cache should be written: something changed, or a time became trustworthy.
    pub(super) is_cache_stale: bool,
}

/// The relevant entries of a folder.
#[derive(Default)]
struct FolderEntries {
    skill: bool,
    about: bool,
    dirs: Vec<String>,
}

impl Discovery {
    pub(super) fn new(earlier: i64, now: i64) -> Self {
        Self { earlier, now, visited: HashSet::new(), is_cache_stale: false }
    }

    /// Returns everything below `root`, or `None` if that is not a folder.
    pub(super) fn at(&mut self, root: &Path, earlier: Option<Folder>) -> Option<Folder> {
        let had_one = earlier.is_some();
        let found = self.folder(&mut root.to_owned(), earlier, 0);
        self.is_cache_stale |= had_one != found.is_some();
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
                (FolderEntries::of(&earlier), earlier)
            }
            earlier => (FolderEntries::read(path), earlier.unwrap_or_default()),
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
        earlier: Option<CachedFile<T>>,
        read: impl Fn(&Path) -> Result<T, String>,
    ) -> Option<CachedFile<T>> {
        folder.push(name);
        let seen = std::fs::metadata(&*folder).ok().map(|metadata| {
            let (mtime, size) = (nanoseconds(&metadata), metadata.len());
            match earlier {
                Some(kept) if (kept.mtime, kept.size) == (mtime, size) && self.is_settled(mtime) => kept,
                _ => {
                    self.is_cache_stale = true;
                    let value =
                        if metadata.is_file() { read(folder) } else { Err("not a regular file".into()) };
                    CachedFile { mtime, size, value }
                }
            }
        });
        folder.pop();
        seen
    }

    /// Returns true if a change after the previous run would show in the modification time.
    fn is_settled(&mut self, mtime: i64) -> bool {
        let is_settled = mtime < self.earlier - TICK_NS;
        self.is_cache_stale |= !is_settled && mtime < self.now - TICK_NS;
        is_settled
    }
}

impl FolderEntries {
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

fn read_skill(path: &Path) -> Result<FrontMatter, String> {
    let mut front_matter = front_matter::parse(&read_text(path, MAX_SKILL_BYTES)?)?;
    front_matter.description = neutralised(&front_matter.description);
    Ok(front_matter)
}

fn read_about(path: &Path) -> Result<String, String> {
    let text = read_text(path, MAX_ABOUT_BYTES)?;
    let described = front_matter::description_in(&text);
    let first =
        front_matter::body(&text).lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let about = described.or_else(|| first.map(one_line)).unwrap_or_default();
    Ok(neutralised(&about))
}

/// Returns the text without prompt injections, on one line: it becomes part of prompts.
fn neutralised(text: &str) -> String {
    one_line(&neutralise(text, Scope::Strict).text)
}

/// Reads a text file of at most `most` bytes.
pub(super) fn read_text(path: &Path, most: u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| format!("cannot read it: {error}"))?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot read it: {error}"))?;
    if bytes.len() as u64 > most {
        return Err(format!("larger than {most} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "not UTF-8 text".to_owned())
}

/// Returns true for folders that discovery skips.
pub(super) fn is_ignored(name: &str) -> bool {
    IGNORED_DIRS.contains(&name)
}

fn nanoseconds(metadata: &Metadata) -> i64 {
    metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec())
}
