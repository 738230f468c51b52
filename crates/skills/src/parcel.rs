//! A skill on its way in, held in memory: nothing of it touches the disk before all of it is checked.

use icu_normalizer::ComposingNormalizerBorrowed;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Entries, bytes of one file and bytes of all files that are taken at most.
pub(super) const MAX_ENTRIES: usize = 2_000;
pub(super) const MAX_FILE: usize = 1024 * 1024;
pub(super) const MAX_TOTAL: usize = 20 * 1024 * 1024;
/// Bytes of an archive as it comes.
pub const MAX_PACKED: usize = 20 * 1024 * 1024;
const MAX_COMPONENT: usize = 200;
const MAX_DEPTH: usize = 12;

/// Why something is not unpacked. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParcelError {
    #[error("`{path}` is not a path that may be unpacked: {why}")]
    Path { path: String, why: &'static str },
    #[error("`{path}` is {what}; only plain files and folders are unpacked")]
    Kind { path: String, what: &'static str },
    #[error("`{path}` and `{other}` would be the same file on some systems")]
    Twice { path: String, other: String },
    #[error("there are more than {limit} entries in it")]
    Entries { limit: usize },
    #[error("`{path}` is larger than {limit} bytes")]
    FileSize { path: String, limit: usize },
    #[error("it is larger than {limit} bytes")]
    Total { limit: usize },
    #[error("it unpacks to more than a hundred times its size")]
    Bomb,
    #[error("the archive is damaged or of an unknown kind: {0}")]
    Damaged(&'static str),
    #[error("there is no SKILL.md in it")]
    NoSkill,
    #[error("there are several skills in it: {}; choose one with --path", paths.join(", "))]
    Several { paths: Vec<String> },
    #[error("there is no skill at `{path}` in it{}", offered(paths))]
    NotThere { path: String, paths: Vec<String> },
}

fn offered(paths: &[String]) -> String {
    if paths.is_empty() { String::new() } else { format!("; there are {}", paths.join(", ")) }
}

/// A file and where it goes, below the skill's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedFile {
    /// With `/` between names.
    pub path: String,
    pub bytes: Vec<u8>,
    pub is_executable: bool,
}

/// The files of a skill, sorted by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parcel {
    pub files: Vec<PackedFile>,
}

impl Parcel {
    /// Only what is below one folder.
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

    /// The hash of all paths and contents.
    pub fn hash(&self) -> String {
        let mut files: Vec<&PackedFile> = self.files.iter().collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut hash = Sha256::new();
        for file in files {
            // Lengths keep a path from running into a content.
            for part in [file.path.as_bytes(), &file.bytes] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{digits}")
    }
}

/// The folder of the skill among these paths: the wanted one, or the only one.
pub(super) fn choose<'a>(
    paths: impl Iterator<Item = &'a str>,
    wanted: Option<&str>,
) -> Result<String, ParcelError> {
    let mut folders: Vec<String> = paths
        .filter_map(|path| match path.rsplit_once('/') {
            None => (path == super::find::SKILL_FILE).then(String::new),
            Some((folder, file)) => (file == super::find::SKILL_FILE).then(|| folder.to_owned()),
        })
        .collect();
    folders.sort();
    // What lies inside of a skill belongs to it.
    let mut outer: Vec<String> = Vec::new();
    for folder in folders {
        let is_inside = |of: &String| {
            of.is_empty() || folder.strip_prefix(of.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        if !outer.iter().any(is_inside) {
            outer.push(folder);
        }
    }
    let shown = |mut paths: Vec<String>| {
        paths.truncate(20);
        paths
    };
    match wanted.map(|path| path.trim_matches('/')) {
        Some(path) => {
            let ends = |folder: &&String| **folder == path || folder.ends_with(&format!("/{path}"));
            let found: Vec<&String> = outer.iter().filter(ends).collect();
            match found.as_slice() {
                [one] => Ok((*one).clone()),
                _ => Err(ParcelError::NotThere { path: path.to_owned(), paths: shown(outer) }),
            }
        }
        None => match outer.as_slice() {
            [] => Err(ParcelError::NoSkill),
            [one] => Ok(one.clone()),
            _ => Err(ParcelError::Several { paths: shown(outer) }),
        },
    }
}

/// Takes entries one by one and refuses what may not come in.
#[derive(Debug, Default)]
pub(super) struct Packing {
    entries: usize,
    total: usize,
    /// How every file and folder is spelled, by what some systems make of it.
    spelled: HashMap<String, (String, Is)>,
    files: Vec<PackedFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    File,
    Folder,
}

impl Packing {
    /// Counts an entry, whatever it is.
    pub(super) fn count(&mut self) -> Result<(), ParcelError> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES { Err(ParcelError::Entries { limit: MAX_ENTRIES }) } else { Ok(()) }
    }

    /// Bytes that a file may have that comes next.
    pub(super) fn check_size(&self, path: &str, size: u64) -> Result<usize, ParcelError> {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > MAX_FILE {
            return Err(ParcelError::FileSize { path: shown(path), limit: MAX_FILE });
        }
        if self.total + size > MAX_TOTAL { Err(ParcelError::Total { limit: MAX_TOTAL }) } else { Ok(size) }
    }

    pub(super) fn folder(&mut self, path: &str) -> Result<(), ParcelError> {
        let path = path.trim_end_matches('/');
        if path.is_empty() || path == "." {
            return Ok(());
        }
        let path = checked(path)?;
        self.spell(&path, Is::Folder)
    }

    pub(super) fn file(
        &mut self,
        path: &str,
        bytes: Vec<u8>,
        is_executable: bool,
    ) -> Result<(), ParcelError> {
        self.check_size(path, bytes.len() as u64)?;
        let path = checked(path)?;
        self.spell(&path, Is::File)?;
        self.total += bytes.len();
        if !path.split('/').any(super::find::is_ignored) {
            self.files.push(PackedFile { path, bytes, is_executable });
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Parcel {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        Parcel { files: self.files }
    }

    /// Notes a path and the folders above it, each under one spelling and as one kind.
    fn spell(&mut self, path: &str, is: Is) -> Result<(), ParcelError> {
        for (at, _) in path.match_indices('/') {
            self.spell_one(&path[..at], Is::Folder)?;
        }
        self.spell_one(path, is)
    }

    fn spell_one(&mut self, path: &str, is: Is) -> Result<(), ParcelError> {
        let earlier = self.spelled.get(&folded(path));
        match earlier {
            None => {
                self.spelled.insert(folded(path), (path.to_owned(), is));
                Ok(())
            }
            Some((spelled, Is::Folder)) if spelled == path && is == Is::Folder => Ok(()),
            Some((spelled, _)) => Err(ParcelError::Twice { path: path.to_owned(), other: spelled.clone() }),
        }
    }
}

/// The path, if it stays where it belongs on every system.
fn checked(path: &str) -> Result<String, ParcelError> {
    let refuse = |why| Err(ParcelError::Path { path: shown(path), why });
    if path.starts_with('/') || path.starts_with('~') {
        return refuse("it is absolute");
    }
    if path.contains('\\') || path.contains(':') {
        return refuse("it has a backslash or a colon in it");
    }
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "." => {}
            "" => return refuse("it has an empty name in it"),
            ".." => return refuse("it leads out of the folder"),
            name if name.len() > MAX_COMPONENT => return refuse("a name in it is too long"),
            name if name.chars().any(char::is_control) => return refuse("it has control characters in it"),
            name if name.ends_with([' ', '.']) => return refuse("a name in it ends with a blank or a dot"),
            name => names.push(name),
        }
    }
    match names.len() {
        0 => refuse("it names nothing"),
        depth if depth > MAX_DEPTH => refuse("it is too deep"),
        _ => Ok(names.join("/")),
    }
}

/// What a file system that does not tell large letters from small ones makes of a path.
fn folded(path: &str) -> String {
    let lower: String = path.chars().flat_map(char::to_lowercase).collect();
    ComposingNormalizerBorrowed::new_nfkc().normalize(&lower).into_owned()
}

fn shown(path: &str) -> String {
    path.chars().take(120).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
#[path = "parcel_tests.rs"]
mod tests;
