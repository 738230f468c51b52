//! The files of a skill in memory: nothing is written before all of them are checked.

use icu_normalizer::ComposingNormalizerBorrowed;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Maximum entries, bytes of one file and bytes of all files.
pub(super) const MAX_ENTRIES: usize = 2_000;
pub(super) const MAX_FILE: usize = 1024 * 1024;
pub(super) const MAX_TOTAL: usize = 20 * 1024 * 1024;
/// Maximum bytes of an archive.
pub const MAX_PACKED: usize = 20 * 1024 * 1024;
const MAX_COMPONENT: usize = 200;
const MAX_DEPTH: usize = 12;

/// Errors when packing or unpacking. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackageError {
    #[error("cannot unpack `{path}`: {why}")]
    Path { path: String, why: &'static str },
    #[error("cannot unpack `{path}`: it is {what}; only regular files and folders are allowed")]
    Kind { path: String, what: &'static str },
    #[error("`{path}` and `{other}` are the same file on some file systems")]
    Twice { path: String, other: String },
    #[error("more than {limit} entries")]
    Entries { limit: usize },
    #[error("`{path}` is larger than {limit} bytes")]
    FileSize { path: String, limit: usize },
    #[error("larger than {limit} bytes")]
    Total { limit: usize },
    #[error("the archive expands to more than 100 times its size")]
    Bomb,
    #[error("damaged or unsupported archive: {0}")]
    Damaged(&'static str),
    #[error("no SKILL.md found")]
    NoSkill,
    #[error("several skills found: {}; choose one with --path", paths.join(", "))]
    Several { paths: Vec<String> },
    #[error("no skill at `{path}`{}", offered(paths))]
    NotThere { path: String, paths: Vec<String> },
}

fn offered(paths: &[String]) -> String {
    if paths.is_empty() { String::new() } else { format!("; found {}", paths.join(", ")) }
}

/// A file with its path relative to the skill's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedFile {
    /// Components are separated by `/`.
    pub path: String,
    pub bytes: Vec<u8>,
    pub is_executable: bool,
}

/// The files of a skill, sorted by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillPackage {
    pub files: Vec<PackedFile>,
}

impl SkillPackage {
    /// Returns the files below one folder.
    pub(super) fn only(self, folder: &str) -> Self {
        if folder.is_empty() {
            return self;
        }
        let inner = |mut file: PackedFile| {
            file.path = file.path.strip_prefix(folder)?.strip_prefix('/')?.to_owned();
            Some(file)
        };
        Self { files: self.files.into_iter().filter_map(inner).collect() }
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        let file = self.files.iter().find(|file| file.path == path)?;
        std::str::from_utf8(&file.bytes).ok()
    }

    /// Returns the hash of all paths and contents.
    pub fn hash(&self) -> String {
        let mut files: Vec<&PackedFile> = self.files.iter().collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut hash = Sha256::new();
        for file in files {
            // Lengths separate a path from the content that follows.
            for part in [file.path.as_bytes(), &file.bytes] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{digits}")
    }
}

/// Returns the folder of the skill among these paths: the wanted one, or the only one.
pub(super) fn choose<'a>(
    paths: impl Iterator<Item = &'a str>,
    wanted: Option<&str>,
) -> Result<String, PackageError> {
    let mut folders: Vec<String> = paths
        .filter_map(|path| match path.rsplit_once('/') {
            None => (path == super::discovery::SKILL_FILE).then(String::new),
            Some((folder, file)) => (file == super::discovery::SKILL_FILE).then(|| folder.to_owned()),
        })
        .collect();
    folders.sort();
    // Everything inside a skill belongs to it.
    let mut outer: Vec<String> = Vec::new();
    for folder in folders {
        let is_inside = |of: &String| {
            of.is_empty() || folder.strip_prefix(of.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        if !outer.iter().any(is_inside) {
            outer.push(folder);
        }
    }
    let first_paths = |mut paths: Vec<String>| {
        paths.truncate(20);
        paths
    };
    match wanted.map(|path| path.trim_matches('/')) {
        Some(path) => {
            let ends = |folder: &&String| **folder == path || folder.ends_with(&format!("/{path}"));
            let found: Vec<&String> = outer.iter().filter(ends).collect();
            match found.as_slice() {
                [one] => Ok((*one).clone()),
                _ => Err(PackageError::NotThere { path: path.to_owned(), paths: first_paths(outer) }),
            }
        }
        None => match outer.as_slice() {
            [] => Err(PackageError::NoSkill),
            [one] => Ok(one.clone()),
            _ => Err(PackageError::Several { paths: first_paths(outer) }),
        },
    }
}

/// Collects entries one by one and refuses unsafe ones.
#[derive(Debug, Default)]
pub(super) struct PackageBuilder {
    entries: usize,
    total: usize,
    /// Spelling and kind of every path, by its case-folded form.
    spelled: HashMap<String, (String, EntryKind)>,
    files: Vec<PackedFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    File,
    Folder,
}

impl PackageBuilder {
    /// Counts an entry of any kind.
    pub(super) fn count(&mut self) -> Result<(), PackageError> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES { Err(PackageError::Entries { limit: MAX_ENTRIES }) } else { Ok(()) }
    }

    /// Checks the size of the next file and returns it.
    pub(super) fn check_size(&self, path: &str, size: u64) -> Result<usize, PackageError> {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > MAX_FILE {
            return Err(PackageError::FileSize { path: escaped(path), limit: MAX_FILE });
        }
        if self.total + size > MAX_TOTAL { Err(PackageError::Total { limit: MAX_TOTAL }) } else { Ok(size) }
    }

    pub(super) fn folder(&mut self, path: &str) -> Result<(), PackageError> {
        let path = path.trim_end_matches('/');
        if path.is_empty() || path == "." {
            return Ok(());
        }
        let path = checked(path)?;
        self.spell(&path, EntryKind::Folder)
    }

    pub(super) fn file(
        &mut self,
        path: &str,
        bytes: Vec<u8>,
        is_executable: bool,
    ) -> Result<(), PackageError> {
        self.check_size(path, bytes.len() as u64)?;
        let path = checked(path)?;
        self.spell(&path, EntryKind::File)?;
        self.total += bytes.len();
        if !path.split('/').any(super::discovery::is_ignored) {
            self.files.push(PackedFile { path, bytes, is_executable });
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> SkillPackage {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        SkillPackage { files: self.files }
    }

    /// Records a path and its parent folders, each with one spelling and one kind.
    fn spell(&mut self, path: &str, kind: EntryKind) -> Result<(), PackageError> {
        for (at, _) in path.match_indices('/') {
            self.spell_one(&path[..at], EntryKind::Folder)?;
        }
        self.spell_one(path, kind)
    }

    fn spell_one(&mut self, path: &str, kind: EntryKind) -> Result<(), PackageError> {
        let earlier = self.spelled.get(&folded(path));
        match earlier {
            None => {
                self.spelled.insert(folded(path), (path.to_owned(), kind));
                Ok(())
            }
            Some((spelled, EntryKind::Folder)) if spelled == path && kind == EntryKind::Folder => Ok(()),
            Some((spelled, _)) => Err(PackageError::Twice { path: path.to_owned(), other: spelled.clone() }),
        }
    }
}

/// Checks that a path stays inside its folder on every system.
fn checked(path: &str) -> Result<String, PackageError> {
    let refuse = |why| Err(PackageError::Path { path: escaped(path), why });
    if path.starts_with('/') || path.starts_with('~') {
        return refuse("the path is absolute");
    }
    if path.contains('\\') || path.contains(':') {
        return refuse("the path contains a backslash or a colon");
    }
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "." => {}
            "" => return refuse("the path has an empty component"),
            ".." => return refuse("the path leads out of the folder"),
            name if name.len() > MAX_COMPONENT => return refuse("a path component is too long"),
            name if name.chars().any(char::is_control) => {
                return refuse("the path contains control characters");
            }
            name if name.ends_with([' ', '.']) => {
                return refuse("a path component ends with a blank or a dot");
            }
            name => names.push(name),
        }
    }
    match names.len() {
        0 => refuse("the path is empty"),
        depth if depth > MAX_DEPTH => refuse("the path is too deep"),
        _ => Ok(names.join("/")),
    }
}

/// Returns the path as a case-insensitive, normalising file system compares it.
fn folded(path: &str) -> String {
    let lower: String = path.chars().flat_map(char::to_lowercase).collect();
    ComposingNormalizerBorrowed::new_nfkc().normalize(&lower).into_owned()
}

fn escaped(path: &str) -> String {
    path.chars().take(120).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;
