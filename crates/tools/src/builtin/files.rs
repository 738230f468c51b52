//! The files that the writing tools work on: those of this machine, or of the place of commands.
//!
//! Both are checked, loaded and written in the same order, so a tool is written once. Loading a file of another place
//! waits, and edits are computed on a thread that must not; so such files are loaded before ([`Loaded`]).

use super::atomic;
use super::blocking::finish;
use super::whole_file::{self, Existing, LARGEST};
use crate::far::FarFiles;
use crate::far::access::Access;
use crate::reads::Version;
use crate::{CallScope, ToolContext, ToolError, protect};
use hermes_conversation::FileChange;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The files of one call.
pub(super) enum Files<'a> {
    Here(&'a ToolContext),
    Far { cx: &'a ToolContext, files: FarFiles<'a>, known: HashMap<PathBuf, Known> },
}

/// The state of a file at another place, as far as a call knows it.
#[derive(Debug, Default)]
pub(super) struct Known {
    version: Option<Version>,
    has_parent: bool,
}

/// The contents of files before a change.
pub(super) enum Loaded {
    /// They are read when they are needed.
    Here,
    Fetched(HashMap<PathBuf, Result<Option<Existing>, ToolError>>),
}

impl Loaded {
    /// The content of a file; `None` if there is none.
    pub(super) fn existing(&self, path: &Path) -> Result<Option<Existing>, ToolError> {
        match self {
            Self::Here => whole_file::load(path),
            Self::Fetched(files) => files.get(path).cloned().unwrap_or(Ok(None)),
        }
    }

    /// Refuses a path that is taken.
    pub(super) fn check_free(&self, path: &Path) -> Result<(), ToolError> {
        let is_taken = match self {
            Self::Here => match path.symlink_metadata() {
                Ok(_) => true,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
                Err(error) => return Err(ToolError::io("look at", path, &error)),
            },
            Self::Fetched(files) => !matches!(files.get(path), Some(Ok(None))),
        };
        match is_taken {
            true => Err(ToolError::failed(format!("{} exists already", path.display()))),
            false => Ok(()),
        }
    }
}

impl<'a> Files<'a> {
    pub(super) fn of(cx: &'a ToolContext, scope: &CallScope) -> Self {
        match FarFiles::of(cx, &scope.cancel) {
            Some(files) => Self::Far { cx, files, known: HashMap::new() },
            None => Self::Here(cx),
        }
    }

    pub(super) fn cx(&self) -> &'a ToolContext {
        match self {
            Self::Here(cx) | Self::Far { cx, .. } => cx,
        }
    }

    /// The place for the record; `None` is this machine.
    pub(super) fn place(&self) -> Option<String> {
        match self {
            Self::Here(_) => None,
            Self::Far { files, .. } => Some(files.label.to_owned()),
        }
    }

    /// The name of a file in logs and locks.
    pub(super) fn key(&self, path: &Path) -> PathBuf {
        match self {
            Self::Here(_) => path.to_owned(),
            Self::Far { files, .. } => files.key(path),
        }
    }

    /// The real path of a file, if it may be written. It is checked again, because a command in between may have moved
    /// a link.
    pub(super) async fn target(
        &mut self,
        path: &Path,
        access: Access,
        scope: &CallScope,
    ) -> Result<PathBuf, ToolError> {
        match self {
            Self::Here(cx) => whole_file::target(path, &scope.cwd, cx).map_err(ToolError::failed),
            Self::Far { files, known, .. } => {
                let look = files.located(path, access, scope).await?;
                let version = look.facts.as_ref().map(Version::from);
                known.insert(look.real.clone(), Known { version, has_parent: look.has_parent });
                Ok(look.real)
            }
        }
    }

    /// The same for a file of which parts are shown.
    pub(super) async fn target_to_edit(
        &mut self,
        path: &Path,
        access: Access,
        scope: &CallScope,
    ) -> Result<PathBuf, ToolError> {
        let real = self.target(path, access, scope).await?;
        let unreadable = match self {
            Self::Here(cx) => protect::unreadable(&real, cx.places()),
            Self::Far { files, .. } => files.check(&real, Access::Read, scope).err(),
        };
        match unreadable {
            Some(why) => Err(ToolError::failed(super::patch::hidden(&why))),
            None => Ok(real),
        }
    }

    /// Loads files before a change, if that has to be done now.
    pub(super) async fn load(
        &mut self,
        paths: impl IntoIterator<Item = &PathBuf>,
    ) -> Result<Loaded, ToolError> {
        let Self::Far { files, known, .. } = self else { return Ok(Loaded::Here) };
        let mut loaded = HashMap::new();
        for path in paths {
            let fetched = files.fetch(path, LARGEST).await;
            let found = fetched.as_ref().ok().and_then(Option::as_ref);
            known.entry(path.clone()).or_default().version = found.map(|(facts, _)| Version::from(facts));
            let existing = fetched.map(|found| found.map(|(_, bytes)| Existing::of(bytes)));
            loaded.insert(path.clone(), existing.map_err(ToolError::from));
        }
        Ok(Loaded::Fetched(loaded))
    }

    /// The warnings for a writer about a file that it is about to change.
    pub(super) fn warning(&self, path: &Path) -> Option<String> {
        let Self::Far { cx, known, .. } = self else { return whole_file::warning(path, self.cx()) };
        let key = self.key(path);
        let now = known.get(path).and_then(|known| known.version);
        let seen = cx.reads().seen(&key, now);
        let warnings: Vec<String> =
            whole_file::about_reading(&key, seen, cx).into_iter().chain(cx.outside_far(path)).collect();
        (!warnings.is_empty()).then(|| warnings.join(" "))
    }

    /// Returns true if the directory of a file has to be created.
    pub(super) fn lacks_dir(&self, path: &Path) -> bool {
        match self {
            Self::Here(_) => whole_file::lacks_dir(path),
            Self::Far { known, .. } => !known.get(path).is_some_and(|known| known.has_parent),
        }
    }

    /// Writes a file, with the directories above it; `before` is the digest of the one that it replaces.
    pub(super) async fn store(
        &self,
        path: &Path,
        before: Option<&str>,
        text: String,
    ) -> Result<(), ToolError> {
        match self {
            Self::Here(cx) => {
                let place = path.to_owned();
                finish(move || whole_file::store(&place, &text)).await?;
                whole_file::note_written(path, cx);
            }
            Self::Far { files, .. } => {
                let after = FileChange::digest(text.as_bytes());
                let facts = files.store(path, before, &after, text.as_bytes()).await?;
                self.note(path, facts.as_ref().map(Version::from));
            }
        }
        Ok(())
    }

    /// Writes a file that must not exist yet.
    pub(super) async fn store_new(&self, path: &Path, text: String) -> Result<(), ToolError> {
        if let Self::Here(_) = self
            && path.symlink_metadata().is_ok()
        {
            return Err(ToolError::failed("the file exists meanwhile"));
        }
        self.store(path, None, text).await
    }

    /// Deletes the file with this digest.
    pub(super) async fn remove(&self, path: &Path, digest: &str) -> Result<(), ToolError> {
        match self {
            Self::Here(cx) => {
                let place = path.to_owned();
                let remove =
                    move || atomic::remove(&place).map_err(|error| ToolError::io("delete", &place, &error));
                finish(remove).await?;
                whole_file::note_gone(path, cx);
            }
            Self::Far { files, .. } => {
                files.remove(path, digest).await?;
                self.note(path, None);
            }
        }
        Ok(())
    }

    /// Moves the file with this digest to a free path.
    pub(super) async fn rename(&self, from: &Path, to: &Path, digest: &str) -> Result<(), ToolError> {
        match self {
            Self::Here(cx) => {
                let (old, new) = (from.to_owned(), to.to_owned());
                let rename =
                    move || atomic::rename(&old, &new).map_err(|error| ToolError::io("move", &old, &error));
                finish(rename).await?;
                whole_file::note_gone(from, cx);
                whole_file::note_written(to, cx);
            }
            Self::Far { files, .. } => {
                let facts = files.rename(from, to, digest).await?;
                self.note(from, None);
                self.note(to, facts.as_ref().map(Version::from));
            }
        }
        Ok(())
    }

    /// Notes a finished change of a file at another place.
    fn note(&self, path: &Path, version: Option<Version>) {
        let (cx, key) = (self.cx(), self.key(path));
        cx.reads().wrote(&key, version);
        cx.locks().note_writer(&key, cx.session());
    }
}
