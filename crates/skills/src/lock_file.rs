//! `.hub/lock.json`: which skills came from elsewhere, from where, and what they were then.
//!
//! Other Hermes builds write the file, too, so fields that are not known here are kept.

use super::disk::write_file;
use super::files::folder_parcel;
use super::{SkillError, skills_dir};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const VERSION: u64 = 1;
/// `sha256:` and 64 digits; other builds write shorter ones that mean something else.
const HASH_LENGTH: usize = 71;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LockFile {
    pub version: u64,
    /// By name.
    #[serde(default)]
    pub installed: BTreeMap<String, InstalledSkill>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// One skill that came from elsewhere.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InstalledSkill {
    /// `folder`, `archive`, `url` or `git`; other builds have more.
    pub source: String,
    /// The path or address, as `install` takes it.
    pub identifier: String,
    pub trust_level: String,
    pub scan_verdict: String,
    pub content_hash: String,
    /// Below the skills folder.
    pub install_path: String,
    pub files: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub installed_at: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub updated_at: String,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// Whether a skill is still what was installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Unchanged,
    Changed,
    Missing,
    /// It cannot be compared: another program wrote the hash, or the folder cannot be read.
    Unknown,
}

impl State {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Unknown => "unknown",
        }
    }
}

/// What a check says about one skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    pub name: String,
    pub state: State,
    pub source: String,
    pub identifier: String,
}

impl LockFile {
    /// The file of a home. One that cannot be read is an error: it would be lost otherwise.
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
            return Err(unreadable(format!("it has version {}, this build knows {VERSION}", file.version)));
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

    /// Compares every skill that came from elsewhere with what it was.
    pub fn check(&self, home: &Path) -> Vec<Checked> {
        let check = |(name, skill): (&String, &InstalledSkill)| Checked {
            name: name.clone(),
            state: state(home, skill),
            source: skill.source.clone(),
            identifier: skill.identifier.clone(),
        };
        self.installed.iter().map(check).collect()
    }
}

/// The folder of an installed skill, if the file names one below the skills folder.
pub(super) fn folder(home: &Path, skill: &InstalledSkill) -> Option<PathBuf> {
    let path = Path::new(&skill.install_path);
    let is_below = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    (is_below && !skill.install_path.is_empty()).then(|| skills_dir(home).join(path))
}

fn state(home: &Path, skill: &InstalledSkill) -> State {
    let Some(dir) = folder(home, skill) else {
        return State::Unknown;
    };
    if !dir.exists() {
        return State::Missing;
    }
    match folder_parcel(&dir) {
        _ if skill.content_hash.len() != HASH_LENGTH => State::Unknown,
        Ok(parcel) if parcel.hash() == skill.content_hash => State::Unchanged,
        // What cannot be taken any more, a link for instance, was not there when it came in.
        Ok(_) | Err(SkillError::Parcel(_)) => State::Changed,
        Err(_) => State::Unknown,
    }
}

fn path(home: &Path) -> PathBuf {
    skills_dir(home).join(".hub").join("lock.json")
}
