//! Paths: fields to absolute paths without links resolved, and patterns against paths.

use crate::expand::pattern;
use crate::field::{Field, is_mark};
use crate::walk::Walker;
use std::path::{Component, Path, PathBuf};

/// The place that a field names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Path(PathBuf),
    /// A path with patterns in it.
    Pattern(PathBuf),
    /// Something in this directory; its name is not known.
    Below(PathBuf),
    Unknown,
}

impl Target {
    /// The known part of the path.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) | Self::Pattern(path) | Self::Below(path) => Some(path),
            Self::Unknown => None,
        }
    }
}

impl Walker<'_> {
    pub(crate) fn cwd_text(&self) -> String {
        self.cwd.as_ref().map_or_else(|| crate::field::UNKNOWN.into(), |cwd| cwd.display().to_string())
    }

    pub(crate) fn resolve(&self, field: &Field) -> Target {
        let text = field.text.as_str();
        let known_length = text.find(is_mark).unwrap_or(text.len());
        let known = text.get(..known_length).unwrap_or_default();
        if known_length < text.len() && !known.contains('/') {
            return Target::Unknown;
        }
        let base = if known.starts_with('/') { Some(PathBuf::from("/")) } else { self.cwd.clone() };
        let Some(base) = base else { return Target::Unknown };
        if known_length < text.len() {
            let directory = known.rsplit_once('/').map_or("", |(directory, _)| directory);
            return Target::Below(normal(&base, directory));
        }
        let path = normal(&base, known);
        if field.is_pattern { Target::Pattern(path) } else { Target::Path(path) }
    }
}

/// Joins and removes `.` and `..` by their text.
pub(crate) fn normal(base: &Path, path: &str) -> PathBuf {
    let mut result = PathBuf::from("/");
    for component in base.components().chain(Path::new(path).components()) {
        match component {
            Component::RootDir | Component::Prefix(_) => result = PathBuf::from("/"),
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            Component::Normal(name) => result.push(name),
        }
    }
    result
}

/// Returns true if a path with patterns may name `path`.
pub(crate) fn may_match(patterns: &Path, path: &Path) -> bool {
    let mut given = patterns.components();
    let mut wanted = path.components();
    loop {
        match (given.next(), wanted.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) => {
                let (one, other) = (one.as_os_str().to_string_lossy(), other.as_os_str().to_string_lossy());
                let is_hidden = other.starts_with('.') && !one.starts_with('.') && !one.starts_with('[');
                if one == "**" {
                    return true;
                }
                if is_hidden && one != other || !pattern::matches(&one, &other) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Returns true if a path with patterns may name `path`, a directory that it is in, or something inside it.
pub(crate) fn may_touch(patterns: &Path, path: &Path) -> bool {
    let count = patterns.components().count();
    let has_deep = patterns.components().any(|component| component.as_os_str() == "**");
    let ancestors = path.ancestors().filter(|part| part.components().count() == count);
    let below = patterns.ancestors().filter(|part| part.components().count() == path.components().count());
    has_deep && may_match(patterns, path)
        || ancestors.into_iter().any(|part| may_match(patterns, part))
        || below.into_iter().any(|part| may_match(part, path))
}

/// Returns true for a last component that names everything in its directory.
pub(crate) fn is_everything(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    matches!(
        name.as_str(),
        "*" | ".*"
            | "**"
            | "?*"
            | "*?"
            | ".[!.]*"
            | ".??*"
            | "[!.]*"
            | "*.*"
            | "{*,.*}"
            | "[a-z]*"
            | "[a-zA-Z]*"
    )
}
