//! Cache of skill discovery, in `cache/skills.json` of the home.
//!
//! The cache only saves work: a missing, damaged, outdated or unwritable one makes the start slower.
//! Its content reaches prompts unscanned, and commands of the model can write the file; so it is sealed
//! with a key of the home, and a file with another seal is ignored.

use super::discovery::Folder;
use hermes_guard::{FenceKey, TEMPORARY_PREFIX, TEMPORARY_SUFFIX, remove_stale_temporaries, seal, unseal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const VERSION: u32 = 2;
const PURPOSE: &str = "skills";
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The result of one discovery.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Snapshot {
    version: u32,
    /// Start of the discovery, in nanoseconds since the epoch.
    pub(super) taken: i64,
    /// Folders by the path of their root.
    pub(super) roots: BTreeMap<String, Folder>,
}

impl Snapshot {
    pub(super) fn new(taken: i64, roots: BTreeMap<String, Folder>) -> Self {
        Self { version: VERSION, taken, roots }
    }

    pub(super) fn load(home: &Path, key: &dyn Fn() -> FenceKey) -> Self {
        let path = file(home);
        let is_small = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= MAX_BYTES);
        let bytes = if is_small { std::fs::read(&path).ok() } else { None };
        let read = |bytes: Vec<u8>| serde_json::from_slice(unseal(&key(), PURPOSE, &bytes)?).ok();
        let kept: Option<Self> = bytes.and_then(read);
        kept.filter(|kept| kept.version == VERSION).unwrap_or_default()
    }

    /// Writes the cache for the next start; a failure is only logged.
    pub(super) fn save(&self, home: &Path, key: &FenceKey) {
        if let Err(error) = self.write(&file(home), key) {
            tracing::debug!(%error, "cannot write the skills cache");
        }
    }

    fn write(&self, path: &Path, key: &FenceKey) -> std::io::Result<()> {
        let dir = path.parent().unwrap_or(Path::new("."));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        remove_stale_temporaries(dir);
        let mut builder = tempfile::Builder::new();
        let mut temporary = builder.prefix(TEMPORARY_PREFIX).suffix(TEMPORARY_SUFFIX).tempfile_in(dir)?;
        let bytes = seal(key, PURPOSE, &serde_json::to_vec(self)?);
        temporary.write_all(&bytes)?;
        // Without a sync: a file that a crash damages is ignored.
        temporary.persist(path).map(drop).map_err(|error| error.error)
    }
}

pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

fn file(home: &Path) -> PathBuf {
    home.join("cache").join("skills.json")
}
