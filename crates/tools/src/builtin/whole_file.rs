//! Files as the writing tools handle them: whole, with their line ends and byte-order mark.

use super::blocking::interrupted;
use super::files::Files;
use super::{atomic, regular};
use crate::reads::{Seen, Version};
use crate::{Action, CallScope, ToolContext, ToolError, ToolOutput, limits, protect};
use hermes_conversation::FileChange;
use hermes_gate::Scene;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::OwnedMutexGuard;

/// Larger files are not edited in memory.
pub(super) const LARGEST: u64 = 64 * 1024 * 1024;
const MARK: char = '\u{feff}';

/// The encoding of a text file: byte order mark and line endings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Spelling {
    mark: bool,
    /// Every line ends with CR LF.
    crlf: bool,
}

impl Spelling {
    fn of(text: &str) -> Self {
        let ends = text.matches('\n').count();
        Self { mark: text.starts_with(MARK), crlf: ends > 0 && text.matches("\r\n").count() == ends }
    }

    /// The text without mark and with plain line ends.
    pub(super) fn plain(self, text: &str) -> String {
        let text = text.strip_prefix(MARK).unwrap_or(text);
        if self.crlf { text.replace("\r\n", "\n") } else { text.to_owned() }
    }

    /// The opposite of [`plain`](Self::plain).
    pub(super) fn dressed(self, text: &str) -> String {
        let mut text = text.to_owned();
        if self.crlf {
            text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        if self.mark && !text.starts_with(MARK) {
            text.insert(0, MARK);
        }
        text
    }
}

/// A file as it was found.
#[derive(Clone)]
pub(super) struct Existing {
    /// `None` for bytes that are no text: they cannot be edited, only replaced as a whole.
    pub(super) text: Option<String>,
    pub(super) spelling: Spelling,
    /// Names the bytes.
    pub(super) digest: String,
}

/// Reads the file; `None` if there is none.
pub(super) fn load(path: &Path) -> Result<Option<Existing>, ToolError> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ToolError::io("read", path, &error)),
    };
    let too_large = |bytes| {
        let text = format!("{} has {bytes} bytes; files above {LARGEST} are not edited", path.display());
        Err(ToolError::failed(text))
    };
    if metadata.len() > LARGEST {
        return too_large(metadata.len());
    }
    let mut bytes = Vec::new();
    // Files that the kernel makes up, and those that grow, have more than they say.
    let read = regular::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| ToolError::io("read", path, &error))?;
    if bytes.len() as u64 > LARGEST {
        return too_large(bytes.len() as u64);
    }
    Ok(Some(Existing::of(bytes)))
}

impl Existing {
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let digest = FileChange::digest(&bytes);
        let text = String::from_utf8(bytes).ok();
        let spelling = text.as_deref().map(Spelling::of).unwrap_or_default();
        Self { text, spelling, digest }
    }
}

/// A new text for a file.
pub(super) struct NewText {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// Names what the file held when the text was made; `None` if there was no file.
    pub(super) before: Option<String>,
}

/// Puts a text into its file, and answers with `output`. Which of both will have happened is noted
/// first, so that it is known after a crash.
pub(super) async fn replace(
    new: NewText,
    output: ToolOutput,
    files: &Files<'_>,
    scope: &CallScope,
) -> Result<ToolOutput, ToolError> {
    let NewText { path, text, before } = new;
    let result = limits::fitted(output.clone(), scope.result_limit, files.cx());
    let after = FileChange::digest(text.as_bytes());
    let change =
        FileChange { path: path.clone(), place: files.place(), before: before.clone(), after, result };
    let noted = scope.transcript.note_change(scope.intent, &change).await;
    noted.map_err(|error| {
        ToolError::failed(format!("{} was not written: it could not be recorded: {error}", path.display()))
    })?;
    files.store(&path, before.as_deref(), text).await?;
    Ok(output)
}

/// Returns true if the directory of a file has to be created.
pub(super) fn lacks_dir(path: &Path) -> bool {
    path.parent().is_some_and(|dir| !dir.is_dir())
}

/// Writes the file, with the directories above it, and reads it back.
pub(super) fn store(path: &Path, text: &str) -> Result<(), ToolError> {
    let written =
        atomic::write(path, text.as_bytes()).map_err(|error| ToolError::io("write", path, &error))?;
    if written != text.as_bytes() {
        return Err(ToolError::failed(format!(
            "{} was changed by someone else while it was written",
            path.display()
        )));
    }
    Ok(())
}

/// The warnings for a writer about the file that it is about to change.
pub(super) fn warning(path: &Path, cx: &ToolContext) -> Option<String> {
    let warnings: Vec<String> =
        about_reading(path, seen(path, cx), cx).into_iter().chain(outside(path, cx)).collect();
    (!warnings.is_empty()).then(|| warnings.join(" "))
}

/// The warning about what the model has seen of a file; `key` names the file in logs.
pub(super) fn about_reading(key: &Path, seen: Seen, cx: &ToolContext) -> Option<String> {
    let others = || cx.locks().written_by_another(key, cx.session());
    match seen {
        Seen::Whole => None,
        Seen::Never | Seen::Stale if others() => {
            Some("Another agent wrote this file, and you have not read it since.".to_owned())
        }
        Seen::Never => None,
        Seen::Part => Some("You have read only part of this file.".to_owned()),
        Seen::Stale => Some("This file changed since you last read it.".to_owned()),
    }
}

/// The warning about a file outside of the workspace.
fn outside(path: &Path, cx: &ToolContext) -> Option<String> {
    let project = cx.project();
    let is_known = project.is_dir();
    let is_inside = path.starts_with(&project) || path.starts_with(cx.cwd());
    let is_temporary = cx.temporary().is_some_and(|temporary| path.starts_with(temporary));
    (is_known && !is_inside && !is_temporary)
        .then(|| format!("This file is outside of the workspace {}.", project.display()))
}

/// The part of a file that the model has read.
fn seen(path: &Path, cx: &ToolContext) -> Seen {
    let now = std::fs::metadata(path).ok().map(|metadata| Version::of(&metadata));
    cx.reads().seen(path, now)
}

/// Notes a finished write.
pub(super) fn note_written(path: &Path, cx: &ToolContext) {
    let version = std::fs::metadata(path).ok().map(|metadata| Version::of(&metadata));
    cx.reads().wrote(path, version);
    cx.locks().note_writer(path, cx.session());
}

/// Notes that a file was deleted or moved away.
pub(super) fn note_gone(path: &Path, cx: &ToolContext) {
    cx.reads().wrote(path, None);
    cx.locks().note_writer(path, cx.session());
}

/// The place to write to, if writing there is allowed.
pub(super) fn target(path: &Path, cwd: &Path, cx: &ToolContext) -> Result<PathBuf, String> {
    if let Some(why) = cx.unexpanded(path) {
        return Err(why);
    }
    let path = cx.resolve(path, cwd);
    let (judged, scene) = judged(&path, cwd, cx);
    match protect::unwritable(&judged, &scene) {
        Some(why) => Err(why),
        None => Ok(path),
    }
}

/// The path and the facts by which a write is judged. At another place, every path is one of that place.
pub(super) fn judged(path: &Path, cwd: &Path, cx: &ToolContext) -> (PathBuf, Scene) {
    match cx.far() {
        Some(far) => cx.far_judged(path, cwd, far),
        None => (path.to_owned(), cx.scene(cwd)),
    }
}

/// The action of writing to `path`; `size` says how much.
pub(super) fn write_action(path: &Path, size: &str, cx: &ToolContext) -> Option<Action> {
    let cwd = cx.cwd();
    let path = cx.resolve(path, &cwd);
    let (judged, scene) = judged(&path, &cwd, cx);
    let assessment = hermes_gate::assess_write(&judged, &scene);
    let text = format!("write {} ({size})", path.display());
    Some(Action { kind: cx.access_kind(), text, cwd, environment: Arc::default(), assessment })
}

/// Waits for the turn to write `path`.
pub(super) async fn turn(
    path: &Path,
    cx: &ToolContext,
    scope: &CallScope,
) -> Result<OwnedMutexGuard<()>, ToolError> {
    let turn = scope.cancel.run_until_cancelled(cx.locks().lock(path)).await;
    turn.ok_or_else(|| interrupted(&format!("waiting to write {}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_survives_an_edit() {
        for text in ["a\nb\n", "a\r\nb\r\n", "\u{feff}a\r\nb\r\n", "a\r\nb\n", "plain", ""] {
            let spelling = Spelling::of(text);
            assert_eq!(spelling.dressed(&spelling.plain(text)), text, "{text:?}");
        }
        assert_eq!(Spelling::of("a\r\nb\n").plain("a\r\nb\n"), "a\r\nb\n");
    }
}
