//! `.hub/lock.json`: the installed skills with source and content hash.
//!
//! Other Hermes builds write the file, too, so unknown fields are kept.

use super::files::package_folder;
use super::staging::write_file;
use super::{SkillError, skills_dir};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const VERSION: u64 = 1;
/// Length of `sha256:` and 64 digits. Other builds write shorter hashes of other data.
const HASH_LENGTH: usize = 71;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LockFile {
    pub version: u64,
    /// Installed skills by name.
    #[serde(default)]
    pub installed: BTreeMap<String, InstalledSkill>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// One installed skill.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InstalledSkill {
    /// `folder`, `archive`, `url` or `git`; other builds have more.
    pub source: String,
    /// The path or URL, as `install` takes it.
    pub identifier: String,
    pub trust_level: String,
    pub scan_verdict: String,
    pub content_hash: String,
    /// Path relative to the skills folder.
    pub install_path: String,
    pub files: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub installed_at: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub updated_at: String,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// Comparison of an installed skill with its recorded hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InstallState {
    Unchanged,
    Changed,
    Missing,
    /// Not comparable: another program wrote the hash, or the folder is unreadable.
    Unknown,
}

impl InstallState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Unknown => "unknown",
        }
    }
}

/// The check result of one skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstallCheck {
    pub name: String,
    pub state: InstallState,
    pub source: String,
    pub identifier: String,
}

impl LockFile {
    /// Reads the lock file of a home. An unreadable file is an error, because saving would overwrite it.
    pub fn load(home: &Path) -> Result<Self, SkillError> {
        let path = path(home);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { version: VERSION, ..Self::default() });
            }
            Err(error) => return Err(SkillError::io("read", &path)(error)),
        };
        let unreadable = |cause: String| SkillError::Unreadable { path: path.clone(), cause };
        let file: Self = serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
        if file.version != VERSION {
            return Err(unreadable(format!("version {}, this build supports {VERSION}", file.version)));
        }
        Ok(file)
    }

    pub(super) fn save(&self, home: &Path) -> Result<(), SkillError> {
        let path = path(home);
        let unwritable = |error: serde_json::Error| SkillError::io("write", &path)(error.into());
        let mut text = serde_json::to_string_pretty(self).map_err(unwritable)?;
        text.push('\n');
        write_file(&path, text.as_bytes(), 0o600)
    }

    /// Compares every installed skill with its recorded hash.
    pub fn check(&self, home: &Path) -> Vec<InstallCheck> {
        let check = |(name, skill): (&String, &InstalledSkill)| InstallCheck {
            name: name.clone(),
            state: state(home, skill),
            source: skill.source.clone(),
            identifier: skill.identifier.clone(),
        };
        self.installed.iter().map(check).collect()
    }
}

/// Returns the folder of an installed skill, if its recorded path is below the skills folder.
pub(super) fn folder(home: &Path, skill: &InstalledSkill) -> Option<PathBuf> {
    let path = Path::new(&skill.install_path);
    let is_below = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    (is_below && !skill.install_path.is_empty()).then(|| skills_dir(home).join(path))
}

fn state(home: &Path, skill: &InstalledSkill) -> InstallState {
    let Some(dir) = folder(home, skill) else {
        return InstallState::Unknown;
    };
    if !dir.exists() {
        return InstallState::Missing;
    }
    match package_folder(&dir) {
        _ if skill.content_hash.len() != HASH_LENGTH => InstallState::Unknown,
        Ok(package) if package.hash() == skill.content_hash => InstallState::Unchanged,
        // An entry that cannot be packed, such as a link, was added after the installation.
        Ok(_) | Err(SkillError::Package(_)) => InstallState::Changed,
        Err(_) => InstallState::Unknown,
    }
}

fn path(home: &Path) -> PathBuf {
    skills_dir(home).join(".hub").join("lock.json")
}
