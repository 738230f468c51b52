//! The files of a skill: its text, its support files, and its folder as a package.

use super::discovery::{SKILL_FILE, SUPPORT_DIRS, is_ignored, read_text};
use super::package::{MAX_ENTRIES, MAX_FILE, PackageBuilder, PackageError, SkillPackage, choose};
use super::{Skill, SkillError, SkillShelf, bundled};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// Maximum entries of a repository or folder that are searched for skills.
const MAX_LOOKED_AT: usize = 50_000;
/// Maximum support files that are listed to the model, per kind.
const MAX_LINKED: usize = 100;

/// Support files of a skill by kind: `references`, `templates`, `scripts`, `assets`.
pub type LinkedFiles = BTreeMap<&'static str, Vec<String>>;

/// The text of one file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillText {
    pub text: String,
    /// The path of the file; `None` for a bundled skill.
    pub path: Option<PathBuf>,
}

impl SkillShelf {
    /// Reads the whole `SKILL.md`, or another file of the skill.
    pub fn read(&self, skill: &Skill, file: Option<&str>) -> Result<SkillText, SkillError> {
        let name = file.unwrap_or(SKILL_FILE);
        let Some(dir) = &skill.dir else {
            let text = bundled::text(skill.name()).filter(|_| name == SKILL_FILE);
            let text = text.ok_or_else(|| missing(skill, name))?.to_owned();
            return Ok(SkillText { text, path: None });
        };
        let path = inside(dir, name)?;
        let broken =
            |reason: String| SkillError::Broken { name: skill.name().to_owned(), path: path.clone(), reason };
        match std::fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return Err(broken("not a regular file".to_owned())),
            Err(_) => return Err(missing(skill, name)),
        }
        let text = read_text(&path, MAX_FILE as u64).map_err(broken)?;
        Ok(SkillText { text, path: Some(path) })
    }

    /// Returns the support files of a skill.
    pub fn linked(&self, skill: &Skill) -> LinkedFiles {
        let mut linked = LinkedFiles::new();
        let Some(dir) = &skill.dir else {
            return linked;
        };
        for kind in SUPPORT_DIRS {
            let mut files = Vec::new();
            let _ = each_file(&dir.join(kind), kind, MAX_ENTRIES, &mut |path, metadata| {
                if metadata.is_file() {
                    files.push(path.to_owned());
                }
            });
            files.sort();
            files.truncate(MAX_LINKED);
            if !files.is_empty() {
                linked.insert(kind, files);
            }
        }
        linked
    }
}

fn missing(skill: &Skill, file: &str) -> SkillError {
    SkillError::Refused(format!(
        "skill `{}` has no file `{file}`; linked_files lists its files",
        skill.name()
    ))
}

/// Returns the path of `file` in `dir`. A path that leads out of `dir`, also through a link, is an error.
pub(super) fn inside(dir: &Path, file: &str) -> Result<PathBuf, SkillError> {
    let refuse = || SkillError::Refused(format!("`{file}` is outside the folder of the skill"));
    let relative = Path::new(file);
    let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_plain || file.trim().is_empty() || file.contains('\0') {
        return Err(refuse());
    }
    let path = dir.join(relative);
    let root = dir.canonicalize().map_err(SkillError::io("read", dir))?;
    // A missing file resolves through its nearest existing folder.
    let mut there = path.as_path();
    let real = loop {
        match there.canonicalize() {
            Ok(real) => break real,
            Err(_) if there.symlink_metadata().is_ok() => return Err(refuse()),
            Err(_) => there = there.parent().ok_or_else(refuse)?,
        }
    };
    if real.starts_with(&root) { Ok(path) } else { Err(refuse()) }
}

/// Packs all files of a skill's folder. Links, devices and pipes are refused.
pub(super) fn package_folder(dir: &Path) -> Result<SkillPackage, SkillError> {
    let mut found = Vec::new();
    each_file(dir, "", MAX_LOOKED_AT, &mut |path, metadata| found.push((path.to_owned(), metadata.clone())))?;
    let mut builder = PackageBuilder::default();
    for (path, metadata) in found {
        builder.count()?;
        let what = if metadata.is_symlink() { "a link" } else { "a device or a pipe" };
        if !metadata.is_file() {
            return Err(PackageError::Kind { path, what }.into());
        }
        builder.check_size(&path, metadata.len())?;
        let whole = dir.join(&path);
        let bytes = std::fs::read(&whole).map_err(SkillError::io("read", &whole))?;
        builder.file(&path, bytes, metadata.permissions().mode() & 0o111 != 0)?;
    }
    Ok(builder.finish())
}

/// Returns the folder of the wanted skill below `root`, or of the only skill there.
pub(super) fn choose_folder(root: &Path, wanted: Option<&str>) -> Result<PathBuf, SkillError> {
    let mut paths = Vec::new();
    each_file(root, "", MAX_LOOKED_AT, &mut |path, metadata| {
        if metadata.is_file() {
            paths.push(path.to_owned());
        }
    })?;
    let folder = choose(paths.iter().map(String::as_str), wanted)?;
    Ok(if folder.is_empty() { root.to_owned() } else { root.join(folder) })
}

/// Calls `each` for everything below a folder except folders, without following links.
fn each_file(
    dir: &Path,
    above: &str,
    most: usize,
    each: &mut dyn FnMut(&str, &Metadata),
) -> Result<(), SkillError> {
    let mut left = most;
    let mut folders = vec![(dir.to_owned(), above.to_owned())];
    while let Some((dir, above)) = folders.pop() {
        for entry in std::fs::read_dir(&dir).map_err(SkillError::io("read", &dir))? {
            let entry = entry.map_err(SkillError::io("read", &dir))?;
            left = left.checked_sub(1).ok_or(PackageError::Entries { limit: most })?;
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            let name = name
                .to_str()
                .ok_or_else(|| PackageError::Path { path: shown.into_owned(), why: "not UTF-8" })?;
            let path = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
            let metadata = entry.metadata().map_err(SkillError::io("read", &entry.path()))?;
            match metadata.is_dir() {
                true if is_ignored(name) => {}
                true => folders.push((entry.path(), path)),
                false => each(&path, &metadata),
            }
        }
    }
    Ok(())
}
