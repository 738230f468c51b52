//! `.hub/audit.log`: one line per installed, created or removed skill.

use super::SkillError;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// Appends a line. Line breaks in `what` become blanks.
pub(super) fn append(root: &Path, now: &str, what: &str) -> Result<(), SkillError> {
    let path = root.join(".hub").join("audit.log");
    let line = format!("{now} {}\n", what.replace(['\n', '\r'], " "));
    let mut file =
        OpenOptions::new().create(true).append(true).open(&path).map_err(SkillError::io("open", &path))?;
    file.write_all(line.as_bytes()).map_err(SkillError::io("write", &path))
}
