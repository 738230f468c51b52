//! Replacing a text in one file.

use super::plan::unified;
use crate::builtin::blocking::{FILE_PATIENCE, Stop, look};
use crate::builtin::checkers;
use crate::builtin::files::{Files, Loaded};
use crate::builtin::syntax::syntax_error;
use crate::builtin::whole_file::{Existing, NewText, replace, turn};
use crate::far::access::Access;
use crate::{CallScope, ToolContext, ToolError, ToolOutput};
use hermes_edits::fuzzy::{self, Edit, EditError};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A text to replace and its replacement.
#[derive(Debug, Clone)]
pub(super) struct OneEdit {
    pub(super) path: PathBuf,
    pub(super) old: String,
    pub(super) new: String,
    pub(super) all: bool,
}

/// Failures in a row after which another way is advised.
const FAILURES: u32 = 3;

pub(super) async fn run(edit: OneEdit, cx: &ToolContext, scope: &CallScope) -> Result<ToolOutput, ToolError> {
    let mut files = Files::of(cx, scope);
    let path = files.target_to_edit(&edit.path, Access::Write, scope).await?;
    let key = files.key(&path);
    let _turn = turn(&key, cx, scope).await?;
    let loaded = files.load([&path]).await?;
    let warning = files.warning(&path);
    let place = path.clone();
    let doing = format!("finding the place in {}", path.display());
    let stop = Stop::new(scope, FILE_PATIENCE);
    let found = look(doing, stop, move |stop| change(&place, &edit, &loaded, stop)).await;
    let change = match found {
        Ok(change) => change,
        Err(error) => return Err(advised(error, &key, cx)),
    };
    cx.reads().patch_worked(&key);
    let mut value = json!({
        "success": true,
        "diff": change.diff,
        "files_modified": [path],
        "replacements": change.count,
    });
    if change.strategy != "exact" {
        value["strategy"] = change.strategy.into();
    }
    if let Some(lint) = checkers::new_errors(&path, Some(&change.old_text), &change.new_text, cx, scope).await
    {
        value["lint"] = lint;
    }
    if let Some(warning) = warning {
        value["_warning"] = warning.into();
    }
    let new = NewText { path, text: change.text, before: Some(change.before) };
    replace(new, ToolOutput::json(value), &files, scope).await
}

/// The error with an advice, if changes of this file failed repeatedly.
pub(super) fn advised(error: ToolError, key: &Path, cx: &ToolContext) -> ToolError {
    if cx.reads().patch_failed(key) < FAILURES {
        return error;
    }
    error.with(
        "advice",
        "Several changes of this file failed in a row. Read it again and copy the text from there, or replace the \
         whole file.",
    )
}

/// A change that was found and not yet made.
struct Change {
    /// The file's new text.
    text: String,
    /// Names the old one.
    before: String,
    /// Both without byte order mark and with plain line ends.
    old_text: String,
    new_text: String,
    diff: String,
    count: usize,
    strategy: &'static str,
}

fn change(path: &Path, edit: &OneEdit, loaded: &Loaded, stop: &Stop) -> Result<Change, ToolError> {
    let Some(Existing { text, spelling, digest }) = loaded.existing(path)? else {
        return Err(ToolError::failed(format!(
            "{} does not exist; use write_file to make it",
            path.display()
        )));
    };
    let Some(text) = text else {
        return Err(ToolError::failed(format!("{} is not a text file", path.display())));
    };
    let before = spelling.plain(&text);
    let (old, new) = (spelling.plain(&edit.old), spelling.plain(&edit.new));
    let wanted = Edit { old: &old, new: &new, all: edit.all };
    let stopped = || stop.is_asked();
    let edited = fuzzy::replace(&before, wanted, &stopped).map_err(|error| match error {
        EditError::Stopped => stop.error(&format!("finding the place in {}", path.display())),
        error => explain(error, path, || fuzzy::nearest(&before, &old, &stopped)),
    })?;
    // Only what this edit broke counts: the file may not have been sound before.
    if syntax_error(path, &before).is_none()
        && let Some(error) = syntax_error(path, &edited.content)
    {
        return Err(ToolError::failed(format!("{} was not changed: the result is {error}", path.display())));
    }
    let diff = unified(path, &before, &edited.content);
    let text = spelling.dressed(&edited.content);
    Ok(Change {
        text,
        before: digest,
        old_text: before,
        new_text: edited.content,
        diff,
        count: edited.count,
        strategy: edited.strategy,
    })
}

fn explain(error: EditError, path: &Path, near: impl FnOnce() -> Vec<(usize, String)>) -> ToolError {
    let failed = ToolError::failed(format!("{} was not changed: {error}", path.display()));
    if error != EditError::NotFound {
        return failed;
    }
    with_near_lines(failed, near())
}

/// The error with the lines that look most like what was not found.
pub(super) fn with_near_lines(failed: ToolError, near: Vec<(usize, String)>) -> ToolError {
    let near: Vec<String> = near.into_iter().map(|(number, line)| format!("{number}|{line}")).collect();
    if near.is_empty() {
        return failed.with("hint", "Read the file again and copy the text exactly.");
    }
    failed.with("did_you_mean", near)
}
