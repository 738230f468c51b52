//! The file to which the shell writes its last working directory.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// The file of one run; removed on drop.
pub(crate) struct CwdFile(Option<PathBuf>);

impl CwdFile {
    /// Creates the file with private permissions; the shell would create a readable one.
    pub(crate) fn create(path: Option<PathBuf>) -> Self {
        if let Some(path) = &path {
            let made = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
            if let Err(error) = made {
                tracing::warn!(%error, path = %path.display(), "the last directory will not be known");
            }
        }
        Self(path)
    }

    /// The directory that the shell wrote, if any.
    pub(crate) fn read(self) -> Option<PathBuf> {
        let mut bytes = std::fs::read(self.0.as_ref()?).ok()?;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        let path = PathBuf::from(OsString::from_vec(bytes));
        (path.is_absolute() && path.is_dir()).then_some(path)
    }
}

impl Drop for CwdFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}
