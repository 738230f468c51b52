//! Replaces a file in one step, so that a reader or a crash never sees half of it.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::HomeError;
use hermes_guard::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX, remove_stale_temporaries};

/// Same as the kernel's own limit for one look-up.
const MOST_LINKS: usize = 40;

/// Writes `bytes` to `path` with the given mode: temporary file, sync, rename, sync of the directory.
///
/// A symbolic link stays a link; the file it points to is replaced.
pub fn write_atomically(path: &Path, bytes: &[u8], mode: u32) -> Result<(), HomeError> {
    let target = follow(path)?;
    let dir = match target.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    };
    remove_stale_temporaries(dir);
    let mut file = tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .suffix(TEMPORARY_SUFFIX)
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(dir)
        .map_err(HomeError::io("create a file in", dir))?;
    file.write_all(bytes).map_err(HomeError::io("write", &target))?;
    // Set again because the mode at creation is cut by the umask.
    file.as_file().set_permissions(Permissions::from_mode(mode)).map_err(HomeError::io("write", &target))?;
    file.as_file().sync_all().map_err(HomeError::io("write", &target))?;
    file.persist(&target).map_err(|error| HomeError::io("replace", &target)(error.error))?;
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(HomeError::io("sync", dir))
}

/// The file that a chain of links ends in, which need not exist yet.
fn follow(path: &Path) -> Result<PathBuf, HomeError> {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&at) {
            Ok(next) => at = at.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(at),
        }
    }
    let looped = std::io::Error::from_raw_os_error(rustix::io::Errno::LOOP.raw_os_error());
    Err(HomeError::io("follow the links of", path)(looped))
}
