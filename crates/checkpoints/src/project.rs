//! The project that a path belongs to.

use std::path::{Path, PathBuf};

/// Files and directories that mark the root of a project.
pub(crate) const MARKERS: [&str; 9] = [
    ".git",
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "Makefile",
    "pom.xml",
    ".hg",
    "Gemfile",
];

/// A project, and whether a marker makes it one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) root: PathBuf,
    pub(crate) is_marked: bool,
}

/// The project of `directory`: the nearest directory above with a marker, or the directory itself. `None` if that is
/// the root of the system, a home directory, or Hermes' own directory.
pub(crate) fn project_of(directory: &Path, user_home: Option<&Path>, hermes_home: &Path) -> Option<Found> {
    let marked = directory.ancestors().filter(|dir| dir.parent().is_some()).find(|dir| has_marker(dir));
    let root = marked.unwrap_or(directory);
    let is_too_wide = root.parent().is_none()
        || user_home.is_some_and(|home| home.starts_with(root))
        || root.starts_with(hermes_home);
    (!is_too_wide).then(|| Found { root: root.to_owned(), is_marked: marked.is_some() })
}

fn has_marker(directory: &Path) -> bool {
    MARKERS.iter().any(|marker| directory.join(marker).symlink_metadata().is_ok())
}

/// The nearest directory that exists, at `path` or above, with links resolved.
pub(crate) fn existing_directory(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|dir| dir.is_dir())?.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_is_the_nearest_marked_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for path in
            ["me/code/.git", "me/code/sub/deep", "me/loose", "me/.hermes/skills", "wide/.git", "wide/me"]
        {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        std::fs::write(root.join("me/code/sub/Cargo.toml"), "").unwrap();
        let (home, hermes) = (root.join("me"), root.join("me/.hermes"));
        for (from, want) in [
            ("me/code", Some(("me/code", true))),
            ("me/code/sub/deep", Some(("me/code/sub", true))),
            ("me/loose", Some(("me/loose", false))),
            ("me", None),
            ("me/.hermes/skills", None),
            ("", None),
        ] {
            let found = project_of(&root.join(from), Some(&home), &hermes);
            let want = want.map(|(path, is_marked)| Found { root: root.join(path), is_marked });
            assert_eq!(found, want, "{from}");
        }
        assert_eq!(project_of(Path::new("/"), None, &hermes), None);
        // A repository around a home directory is too wide.
        assert_eq!(project_of(&root.join("wide/me"), Some(&root.join("wide/me")), &hermes), None);
    }
}
