//! Replacing a file so that a reader sees the old or the new one, never half.
//!
//! Everything happens through a handle of the directory, and the handle is compared with the path that was checked. A
//! link that is put into the path between the check and the write is an error, and no file appears behind it.

use hermes_guard::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX, remove_stale_temporaries};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, fstat, mkdirat, open, openat, renameat, renameat_with,
    statat, unlinkat,
};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Attempts to find a free temporary name.
const NAMES: u32 = 16;

/// Writes `bytes` to `path`, a real path, through a temporary file beside it; missing directories are created. An
/// existing file keeps its mode; a new one gets what the process's mask leaves of 0666. On return the data and the name
/// are on disk. Returns the bytes as they were read back.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<Vec<u8>> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let dir = open_directory(path.parent().unwrap_or(Path::new("/")))?;
    remove_stale_temporaries(&handle_path(&dir));
    let mode = existing_mode(&dir, name)?;
    let (temporary, mut file) = temporary_file(&dir, if mode.is_some() { 0o600 } else { 0o666 })?;
    let written = fill(&mut file, bytes, mode).and_then(|()| Ok(renameat(&dir, &temporary, &dir, name)?));
    if let Err(error) = written {
        let _ = unlinkat(&dir, &temporary, AtFlags::empty());
        return Err(error);
    }
    File::open(handle_path(&dir))?.sync_all()?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut found = Vec::new();
    File::from(openat(&dir, name, flags, Mode::empty())?).read_to_end(&mut found)?;
    Ok(found)
}

/// Deletes the regular file at `path`, a real path.
pub(super) fn remove(path: &Path) -> Result<()> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let dir = open_directory(path.parent().unwrap_or(Path::new("/")))?;
    existing_mode(&dir, name)?.ok_or(ErrorKind::NotFound)?;
    unlinkat(&dir, name, AtFlags::empty())?;
    File::open(handle_path(&dir))?.sync_all()
}

/// Moves the regular file at `from` to `to`, which must be free; both are real paths. Missing directories are created.
pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    let (old, new) =
        (from.file_name().ok_or(ErrorKind::InvalidInput)?, to.file_name().ok_or(ErrorKind::InvalidInput)?);
    let source = open_directory(from.parent().unwrap_or(Path::new("/")))?;
    existing_mode(&source, old)?.ok_or(ErrorKind::NotFound)?;
    let target = open_directory(to.parent().unwrap_or(Path::new("/")))?;
    renameat_with(&source, old, &target, new, RenameFlags::NOREPLACE)?;
    File::open(handle_path(&target))?.sync_all()?;
    File::open(handle_path(&source))?.sync_all()
}

/// Opens a directory by its real path, creating what is missing of it.
fn open_directory(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let exists = |dir: &&Path| dir.symlink_metadata().is_ok();
    let deepest = path.ancestors().find(exists).unwrap_or(Path::new("/"));
    let mut dir = open(deepest, flags, Mode::empty())?;
    let real = std::fs::read_link(handle_path(&dir))?;
    if real != deepest {
        return Err(moved(deepest, &real));
    }
    let missing = path.strip_prefix(deepest).map_err(|_| Error::from(ErrorKind::InvalidInput))?;
    for part in missing {
        match mkdirat(&dir, part, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        dir = openat(&dir, part, flags, Mode::empty())?;
    }
    Ok(dir)
}

fn moved(path: &Path, real: &Path) -> Error {
    let text = format!("{} became a link to {} meanwhile", path.display(), real.display());
    Error::other(text)
}

/// A path that leads to the directory of the handle, wherever it is now.
fn handle_path(dir: &OwnedFd) -> std::path::PathBuf {
    format!("/proc/self/fd/{}", dir.as_raw_fd()).into()
}

/// The mode of the regular file that is to be replaced. A link or another kind of file in its place is an error.
fn existing_mode(dir: &OwnedFd, name: &OsStr) -> Result<Option<u32>> {
    match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
            Ok(Some(stat.st_mode & 0o7777))
        }
        Ok(_) => Err(Error::other("it is not a regular file any more")),
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Creates a file with a new name in the directory.
fn temporary_file(dir: &OwnedFd, mode: u32) -> Result<(OsString, File)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for attempt in 0..NAMES {
        let salt = fstat(dir)?.st_ino ^ u64::from(std::process::id()) << 32 ^ nanos();
        let name = format!("{TEMPORARY_PREFIX}{:x}{attempt:x}{TEMPORARY_SUFFIX}", salt);
        match openat(dir.as_fd(), name.as_str(), flags, Mode::from_raw_mode(mode)) {
            Ok(file) => return Ok((name.into(), file.into())),
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// A number that differs between calls; a name that is taken leads to another attempt.
fn nanos() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static CALLS: AtomicU64 = AtomicU64::new(0);
    CALLS.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)
}

fn fill(file: &mut File, bytes: &[u8], mode: Option<u32>) -> Result<()> {
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn content_changes_and_mode_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join("run.sh");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o751)).unwrap();
        assert_eq!(write(&path, b"new").unwrap(), b"new");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o751);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        let deep = dir.path().canonicalize().unwrap().join("a/b/c.txt");
        write(&deep, b"x").unwrap();
        assert_eq!(std::fs::read(&deep).unwrap(), b"x");
    }

    #[test]
    fn files_are_deleted_and_moved() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(root.join(name), name).unwrap();
        }
        symlink("a", root.join("link")).unwrap();
        std::fs::create_dir(root.join("dir")).unwrap();
        remove(&root.join("c")).unwrap();
        rename(&root.join("a"), &root.join("new/a")).unwrap();
        assert_eq!(std::fs::read(root.join("new/a")).unwrap(), b"a");
        for (from, to) in [("b", "new/a"), ("none", "x"), ("link", "x"), ("dir", "x")] {
            assert!(rename(&root.join(from), &root.join(to)).is_err(), "{from}");
        }
        for name in ["c", "link", "dir"] {
            assert!(remove(&root.join(name)).is_err(), "{name}");
        }
        assert!(root.join("b").exists() && !root.join("a").exists());
    }

    #[test]
    fn links_put_into_the_path_lead_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("outside")).unwrap();
        std::fs::write(root.join("outside/secret"), "kept").unwrap();
        symlink(root.join("outside"), root.join("dir")).unwrap();
        symlink(root.join("outside/secret"), root.join("file")).unwrap();
        symlink(root.join("outside/new"), root.join("dangling")).unwrap();
        for name in ["dir/new", "dir/deep/new", "dir/secret", "file", "dangling"] {
            assert!(write(&root.join(name), b"x").is_err(), "{name}");
        }
        let left: Vec<_> = std::fs::read_dir(root.join("outside"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["secret"]);
        assert_eq!(std::fs::read_to_string(root.join("outside/secret")).unwrap(), "kept");
    }
}
