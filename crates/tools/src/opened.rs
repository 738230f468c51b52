//! Opens regular files and checks what was opened, not what the path said.
//!
//! A path can be exchanged between a check and the opening, a link can lead anywhere, a pipe waits for a
//! writer as soon as it is opened, and opening a device can start it. So a file is first opened as a bare
//! handle, which has no effect; kind and place are read off that handle, and only then is the same
//! file opened for reading.

use crate::protect::{self, Places};
use rustix::fs::{Mode, OFlags};
use std::fs::{File, Metadata};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// A regular file, open for reading.
#[derive(Debug)]
pub struct Opened {
    pub file: File,
    /// The path of the file after all links.
    pub real: PathBuf,
}

/// The reason why a file was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("it is {0}, not a regular file")]
    NotRegular(&'static str),
    #[error("it leads out of the project to {}", .0.display())]
    Outside(PathBuf),
    #[error("it became a link to {} meanwhile", .0.display())]
    Moved(PathBuf),
    #[error("{0}")]
    Protected(String),
}

/// Opens a regular file, wherever it is.
pub fn open_regular(path: &Path) -> Result<Opened, OpenError> {
    open_if(path, |_, _| Ok(()))
}

/// Opens the regular file that `path` is the real path of. A link that was put in its place or above it since the path
/// was checked is an error.
pub(crate) fn open_exactly(path: &Path) -> Result<Opened, OpenError> {
    open_if(path, |real, _| match real == path {
        true => Ok(()),
        false => Err(OpenError::Moved(real.to_owned())),
    })
}

/// Opens a regular file that tools may read.
pub fn open_readable(path: &Path, places: &Places) -> Result<Opened, OpenError> {
    open_if(path, |real, file| readable(real, file, places))
}

/// Opens a regular file inside `root` that tools may read.
pub fn open_inside(root: &Path, path: &Path, places: &Places) -> Result<Opened, OpenError> {
    let root = root.canonicalize()?;
    open_if(path, |real, file| match real.starts_with(&root) {
        true => readable(real, file, places),
        false => Err(OpenError::Outside(real.to_owned())),
    })
}

/// The folder that files of a project may not lead out of: the repository, else `cwd` itself.
///
/// A repository that is the user's whole home, or the root of the system, is too wide to count.
pub fn project_root(cwd: &Path, user_home: Option<&Path>) -> PathBuf {
    let is_root = |folder: &&Path| folder.join(".git").exists();
    let is_too_wide = |folder: &Path| {
        folder.parent().is_none() || user_home.is_some_and(|home| home.starts_with(folder) && folder != cwd)
    };
    let found = cwd.ancestors().find(is_root).filter(|folder| !is_too_wide(folder));
    found.unwrap_or(cwd).to_owned()
}

/// Refuses what is not a regular file, by what it is instead.
pub(crate) fn check_regular(metadata: &Metadata) -> Result<(), OpenError> {
    let kind = metadata.file_type();
    Err(OpenError::NotRegular(match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }))
}

fn readable(real: &Path, file: &Metadata, places: &Places) -> Result<(), OpenError> {
    match protect::unreadable(real, places) {
        Some(why) => Err(OpenError::Protected(why)),
        None if protect::is_hidden_file(file, places) => {
            let why = format!("{} is another name of a file that holds credentials", real.display());
            Err(OpenError::Protected(why))
        }
        None => Ok(()),
    }
}

fn open_if(
    path: &Path,
    allowed: impl Fn(&Path, &Metadata) -> Result<(), OpenError>,
) -> Result<Opened, OpenError> {
    let io = |error: rustix::io::Errno| OpenError::Io(error.into());
    let handle = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(io)?;
    let link = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
    let handle = File::from(handle);
    let metadata = handle.metadata()?;
    check_regular(&metadata)?;
    let real = std::fs::read_link(&link)?;
    allowed(&real, &metadata)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(&link, flags, Mode::empty()).map_err(io)?);
    Ok(Opened { file, real })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("file"), "x").unwrap();
        symlink("file", path("link")).unwrap();
        symlink("loop", path("loop")).unwrap();
        symlink("/dev/zero", path("zero")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        for (name, want) in [
            ("file", None),
            ("link", None),
            ("pipe", Some("named pipe")),
            ("socket", Some("socket")),
            (".", Some("directory")),
            ("zero", Some("device")),
            ("/dev/null", Some("device")),
            ("loop", Some("symbolic links")),
            ("none", Some("No such file")),
        ] {
            let error = open_regular(&path(name)).err().map(|error| error.to_string());
            assert_eq!(error.is_some(), want.is_some(), "{name}: {error:?}");
            assert!(error.unwrap_or_default().contains(want.unwrap_or_default()), "{name}");
        }
    }

    #[test]
    fn files_of_a_project_do_not_lead_out_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let project = root.join("project");
        std::fs::create_dir_all(project.join("docs")).unwrap();
        std::fs::create_dir_all(root.join("project-two")).unwrap();
        std::fs::write(project.join("docs/a.md"), "x").unwrap();
        std::fs::write(project.join(".env"), "x").unwrap();
        for outside in ["secret", "project-two/secret"] {
            std::fs::write(root.join(outside), "x").unwrap();
        }
        for (link, target) in [
            ("inside", "docs/a.md".to_owned()),
            ("absolute", project.join("docs/a.md").display().to_string()),
            ("up", "../secret".to_owned()),
            ("far", root.join("secret").display().to_string()),
            ("sibling", "../project-two/secret".to_owned()),
            ("folder", "..".to_owned()),
            ("proc", "/proc/self/environ".to_owned()),
            ("magic", "/proc/self/root/etc/hostname".to_owned()),
            ("environment", ".env".to_owned()),
        ] {
            symlink(target, project.join(link)).unwrap();
        }
        let places = Places::default();
        for (name, want) in [
            ("docs/a.md", ""),
            ("inside", ""),
            ("absolute", ""),
            ("up", "out of the project"),
            ("far", "out of the project"),
            ("sibling", "out of the project"),
            ("folder/secret", "out of the project"),
            ("proc", "out of the project"),
            ("magic", "out of the project"),
            ("../secret", "out of the project"),
            ("environment", "holds credentials"),
            (".env", "holds credentials"),
        ] {
            let error = open_inside(&project, &project.join(name), &places).err();
            let error = error.map(|error| error.to_string()).unwrap_or_default();
            assert_eq!(error.is_empty(), want.is_empty(), "{name}: {error}");
            assert!(error.contains(want), "{name}: {error}");
        }
    }

    #[test]
    fn a_project_is_its_repository_unless_that_is_a_whole_home() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for folder in ["me/.git", "me/code/.git", "me/code/sub", "me/loose"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let home = root.join("me");
        for (cwd, want) in
            [("me/code", "me/code"), ("me/code/sub", "me/code"), ("me/loose", "me/loose"), ("me", "me")]
        {
            assert_eq!(project_root(&root.join(cwd), Some(&home)), root.join(want), "{cwd}");
        }
        assert_eq!(project_root(&home.join("loose"), None), home);
    }
}
