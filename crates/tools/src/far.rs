//! The files of the place of commands, where that is not this machine, as tools use them.
//!
//! `hermes-far-files` reads and writes there. Here are the decision about an access ([`access`]) and the page of a
//! search ([`search`]).

pub(crate) mod access;
pub(crate) mod search;
#[cfg(test)]
pub(crate) mod testing;

use crate::builtin::page::{Found, Window};
use crate::reads::Version;
use crate::{ToolContext, ToolError};
use hermes_far_files::{Facts, FarError, Page};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// The files of a place, for one call.
#[derive(Clone)]
pub(crate) struct FarFiles<'a> {
    cx: &'a ToolContext,
    files: hermes_far_files::FarFiles<'a>,
}

impl<'a> Deref for FarFiles<'a> {
    type Target = hermes_far_files::FarFiles<'a>;

    fn deref(&self) -> &Self::Target {
        &self.files
    }
}

impl<'a> FarFiles<'a> {
    /// The files of the place of commands; `None` if that is this machine.
    pub(crate) fn of(cx: &'a ToolContext, cancel: &CancellationToken) -> Option<Self> {
        let label = &cx.far()?.label;
        let (backend, shell, cancel) = (cx.backend(), cx.far_shell_cell(), cancel.clone());
        Some(Self { cx, files: hermes_far_files::FarFiles { backend, label, shell, cancel } })
    }

    /// The name of a file in logs and locks, which differs from that of a file of this machine with the same path.
    pub(crate) fn key(&self, path: &Path) -> PathBuf {
        Path::new(self.label).join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Reads a page of a text, of which at most `chars` characters are shown.
    pub(crate) async fn text(
        &self,
        path: &Path,
        window: Window,
        chars: usize,
    ) -> Result<(Version, Found), ToolError> {
        let Window { offset, limit, line_chars } = window;
        // Four bytes hold any character; one more character shows that a line is cut.
        let (line_bytes, bytes) = ((line_chars + 1) * 4, chars.saturating_mul(4));
        let window = hermes_far_files::Window { offset, limit, line_bytes, bytes };
        let (facts, page) = self.page(path, window).await?;
        let found = match page {
            Page::Binary => Found::Binary,
            Page::Text { lines, total_lines } => Found::Text { lines, total_lines },
        };
        Ok((Version::from(&facts), found))
    }
}

impl From<&Facts> for Version {
    fn from(facts: &Facts) -> Self {
        Self { modified: facts.modified, size: facts.size, inode: Some(facts.inode) }
    }
}

impl From<FarError> for ToolError {
    fn from(error: FarError) -> Self {
        Self::failed(error.text)
    }
}

#[cfg(test)]
#[path = "far_tests.rs"]
mod tests;
