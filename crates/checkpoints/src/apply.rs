//! Writes restored files into a project. Every directory on the way is opened without following links, so nothing is
//! written outside of it.

use crate::tree::Version;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fchmod, mkdirat, openat, renameat, symlinkat, unlinkat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A file to restore.
pub(crate) struct Write<'a> {
    pub(crate) path: &'a str,
    /// `None` removes the file.
    pub(crate) version: Option<&'a Version>,
    /// The content, where there is one.
    pub(crate) staged: PathBuf,
}

/// Restores files: removals first, so that a directory can take the place of a file. Returns the paths that are done,
/// and the first that failed.
pub(crate) fn apply(
    project: &Path,
    mut writes: Vec<Write<'_>>,
) -> (BTreeSet<String>, Option<(String, String)>) {
    writes.sort_by_key(|write| write.version.is_some());
    let mut done = BTreeSet::new();
    for write in &writes {
        if let Err(error) = one(project, write) {
            return (done, Some((write.path.to_owned(), error.to_string())));
        }
        done.insert(write.path.to_owned());
    }
    (done, None)
}

fn one(project: &Path, write: &Write<'_>) -> io::Result<()> {
    let (parent, name) = write.path.rsplit_once('/').unwrap_or(("", write.path));
    match write.version {
        None => {
            let Some(directory) = directory(project, parent, false)? else { return Ok(()) };
            match unlinkat(&directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
            remove_empty(project, parent);
            Ok(())
        }
        Some(version) => {
            let directory = directory(project, parent, true)?.ok_or(Errno::NOENT)?;
            // Directories that lost all their files are in the way of a file.
            let _ = unlinkat(&directory, name, AtFlags::REMOVEDIR);
            let temporary = format!(".{name}.hermes-{}", std::process::id());
            let written = fill(&directory, &temporary, version, &write.staged)
                .and_then(|()| Ok(renameat(&directory, temporary.as_str(), &directory, name)?));
            if written.is_err() {
                let _ = unlinkat(&directory, temporary.as_str(), AtFlags::empty());
            }
            written
        }
    }
}

fn fill(directory: &OwnedFd, name: &str, version: &Version, staged: &Path) -> io::Result<()> {
    if version.mode == "120000" {
        return Ok(symlinkat(std::fs::read_link(staged)?, directory, name)?);
    }
    let mode = if version.mode == "100755" { 0o777 } else { 0o666 };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(openat(directory, name, flags, Mode::from_raw_mode(mode))?);
    let mut source = File::open(staged)?;
    io::copy(&mut source, &mut file)?;
    // A file that only its owner may read stays so.
    let (parent, old) = (directory.as_fd(), name.trim_start_matches('.'));
    let old = old.rsplit_once(".hermes-").map_or(old, |(old, _)| old);
    if let Ok(old) = openat(parent, old, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()) {
        let old = rustix::fs::fstat(&old)?;
        let executable = if version.mode == "100755" { (old.st_mode & 0o444) >> 2 } else { 0 };
        if rustix::fs::FileType::from_raw_mode(old.st_mode).is_file() {
            fchmod(&file, Mode::from_raw_mode(old.st_mode & 0o666 | executable))?;
        }
    }
    file.sync_all()
}

/// Opens a directory of the project; `None` if it does not exist.
fn directory(project: &Path, relative: &str, creates: bool) -> io::Result<Option<OwnedFd>> {
    const FLAGS: OFlags =
        OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
    let mut here = openat(CWD, project, FLAGS, Mode::empty())?;
    for part in relative.split('/').filter(|part| !part.is_empty()) {
        here = match openat(&here, part, FLAGS, Mode::empty()) {
            Ok(next) => next,
            Err(Errno::NOENT) if !creates => return Ok(None),
            Err(Errno::NOENT) => {
                mkdirat(&here, part, Mode::from_raw_mode(0o777))?;
                openat(&here, part, FLAGS, Mode::empty())?
            }
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(io::Error::other(format!("`{part}` is a link or a file, not a directory")));
            }
            Err(error) => return Err(error.into()),
        };
    }
    Ok(Some(here))
}

/// Removes the directories that a removed file leaves empty.
fn remove_empty(project: &Path, mut relative: &str) {
    while !relative.is_empty() {
        let (parent, name) = relative.rsplit_once('/').unwrap_or(("", relative));
        let Ok(Some(directory)) = directory(project, parent, false) else { return };
        if unlinkat(&directory, name, AtFlags::REMOVEDIR).is_err() {
            return;
        }
        relative = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn version() -> Version {
        Version::new("100644", "id")
    }

    #[test]
    fn links_on_the_way_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (project, outside) = (dir.path().join("project"), dir.path().join("outside"));
        std::fs::create_dir(&project).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("kept"), "secret").unwrap();
        std::fs::write(dir.path().join("staged"), "new").unwrap();
        symlink(&outside, project.join("link")).unwrap();
        let (version, staged) = (version(), dir.path().join("staged"));
        for version in [Some(&version), None] {
            let write = Write { path: "link/kept", version, staged: staged.clone() };
            let (done, failed) = apply(&project, vec![write]);
            assert!(done.is_empty() && failed.is_some(), "{failed:?}");
        }
        assert_eq!(std::fs::read_to_string(outside.join("kept")).unwrap(), "secret");
        // A link in the place of the file itself is replaced, its target is not.
        symlink(outside.join("kept"), project.join("file")).unwrap();
        let (done, failed) = apply(&project, vec![Write { path: "file", version: Some(&version), staged }]);
        assert!(done.contains("file") && failed.is_none(), "{failed:?}");
        assert_eq!(std::fs::read_to_string(project.join("file")).unwrap(), "new");
        assert_eq!(std::fs::read_to_string(outside.join("kept")).unwrap(), "secret");
    }

    #[test]
    fn files_and_directories_change_places_and_modes_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        std::fs::create_dir_all(project.join("a/deep")).unwrap();
        std::fs::write(project.join("a/deep/b"), "").unwrap();
        std::fs::write(project.join("private"), "old").unwrap();
        std::fs::set_permissions(project.join("private"), PermissionsExt::from_mode(0o600)).unwrap();
        std::fs::write(dir.path().join("staged"), "new").unwrap();
        let (version, staged) = (version(), dir.path().join("staged"));
        let write = |path, version| Write { path, version, staged: staged.clone() };
        let writes =
            vec![write("a", Some(&version)), write("a/deep/b", None), write("private", Some(&version))];
        let (done, failed) = apply(&project, writes);
        assert_eq!((done.len(), failed), (3, None));
        assert_eq!(std::fs::read_to_string(project.join("a")).unwrap(), "new");
        let mode = std::fs::metadata(project.join("private")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
