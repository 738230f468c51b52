//! The file to which the shell writes its last working directory.

use hermes_sandbox::{Policy, support};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// The longest path that the kernel takes, with a line end.
const LONGEST: u64 = 4097;

/// The file of one run; removed on drop.
pub(crate) struct CwdFile {
    path: Option<PathBuf>,
    /// The file of a confined command, with its policy.
    confined: Option<(File, Policy)>,
}

impl CwdFile {
    /// Creates the file with private permissions; the shell would create a readable one.
    ///
    /// A confined command can replace the file by a link or a pipe, so that one is kept open and read that way.
    pub(crate) fn create(path: Option<PathBuf>, sandbox: Option<Policy>) -> Self {
        let Some(path) = path else { return Self { path: None, confined: None } };
        let mut options = OpenOptions::new();
        options.write(true).mode(0o600);
        match &sandbox {
            None => options.create(true).truncate(true),
            Some(_) => {
                let _ = std::fs::remove_file(&path);
                options.read(true).create_new(true)
            }
        };
        let confined = match options.open(&path) {
            Ok(file) => sandbox.map(|policy| (file, policy)),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "the last directory will not be known");
                None
            }
        };
        Self { path: Some(path), confined }
    }

    /// The directory that the shell wrote, if any.
    pub(crate) fn read(mut self) -> Option<PathBuf> {
        let mut bytes = Vec::new();
        match &mut self.confined {
            Some((file, _)) => {
                file.rewind().ok()?;
                file.take(LONGEST).read_to_end(&mut bytes).ok()?;
            }
            None => bytes = std::fs::read(self.path.as_ref()?).ok()?,
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        let path = PathBuf::from(OsString::from_vec(bytes));
        let found = match &self.confined {
            Some((_, policy)) => policy.host_path(&path, support()),
            None => path.clone(),
        };
        (path.is_absolute() && found.is_dir()).then_some(path)
    }
}

impl Drop for CwdFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}
