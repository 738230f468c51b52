//! Opening what is really a file.
//!
//! A pipe waits for a writer as soon as it is opened, and a device may never end; both look
//! like files until one asks. The second look, at what was opened, covers a path that was
//! exchanged after the first.

use crate::ToolError;
use std::fs::{File, Metadata};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Opens the regular file at `path` for reading.
pub(super) fn open(path: &Path) -> Result<File, ToolError> {
    let failed = |error: std::io::Error| ToolError::io("read", path, &error);
    check(path, &std::fs::metadata(path).map_err(failed)?)?;
    let file = File::open(path).map_err(failed)?;
    check(path, &file.metadata().map_err(failed)?)?;
    Ok(file)
}

/// Refuses what is no regular file, by what it is instead.
pub(super) fn check(path: &Path, metadata: &Metadata) -> Result<(), ToolError> {
    let kind = metadata.file_type();
    let instead = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(ToolError::failed(format!("{} is {instead}, not a regular file", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("file"), "x").unwrap();
        std::os::unix::fs::symlink("file", path("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
        assert!(made.success());
        for (name, want) in [
            ("file", None),
            ("link", None),
            ("pipe", Some("named pipe")),
            ("socket", Some("socket")),
            (".", Some("directory")),
            ("/dev/null", Some("device")),
        ] {
            let error = open(&path(name)).err().map(|error| error.text);
            assert_eq!(error.is_some(), want.is_some(), "{name}: {error:?}");
            assert!(error.unwrap_or_default().contains(want.unwrap_or_default()), "{name}");
        }
    }
}
