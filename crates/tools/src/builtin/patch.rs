//! Changing part of a file.

use super::blocking::{FILE_PATIENCE, Stop, look};
use super::search_files::SearchFiles;
use super::whole_file::{
    Existing, NewText, STALE, load, replace, seen, syntax_error, target, turn, write_action,
};
use super::write_file::WriteFile;
use crate::facts::text;
use crate::fuzzy::{self, Edit, EditError};
use crate::reads::Seen;
use crate::{
    Action, CallScope, Concurrency, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset, Touches,
    protect,
};
use hermes_conversation::{CallDigest, CallTitle, Effect, Guidance, ToolFacts, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use similar::TextDiff;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Replace text in a file. old_string must occur once, so include enough surrounding lines;
/// small differences in white space are tolerated. Returns a diff.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct PatchArgs {
    /// Path, absolute or relative to the working directory.
    path: PathBuf,
    /// The text to find.
    old_string: String,
    /// The text to put in its place; may be empty.
    new_string: String,
    /// Replace every occurrence.
    #[serde(default)]
    replace_all: bool,
}

/// Thousands of changes all over a large file take a diff minutes to see through.
const DIFF_PATIENCE: Duration = Duration::from_secs(1);

pub(crate) struct Patch;

impl Tool for Patch {
    const NAME: &'static str = "patch";
    const TOOLSET: Toolset = Toolset::File;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Edit,
        edited_path: Some("path"),
        title: Some(|arguments| CallTitle::new("🔧", "patch", text(arguments, "path"))),
        digest: CallDigest::of(&["path", "mode"]),
        guidance: Some(Guidance { text: GUIDANCE, beside: &[WriteFile::NAME, SearchFiles::NAME] }),
        rank: 3,
        ..ToolFacts::DEFAULT
    };
    const UNSUPPORTED: &'static [(&'static str, &'static str)] = &[(
        "patch",
        "patches over several files are not built in yet; send path, old_string and new_string for one change",
    )];
    type Args = PatchArgs;

    fn refusal(&self, args: &PatchArgs, cx: &ToolContext) -> Option<Refusal> {
        editable(&args.path, &cx.cwd(), cx).err().map(Refusal::Denied)
    }

    fn action(&self, args: &PatchArgs, cx: &ToolContext) -> Option<Action> {
        write_action(&args.path, "a change", cx)
    }

    fn effect(&self, args: &PatchArgs, cx: &ToolContext) -> Effect {
        Effect::Write(vec![cx.resolve(&args.path, &cx.cwd())])
    }

    fn concurrency(&self, args: &PatchArgs, cx: &ToolContext) -> Concurrency {
        Concurrency::Writes(vec![cx.resolve(&args.path, &cx.cwd())])
    }

    fn touches(&self, args: &PatchArgs, cx: &ToolContext) -> Option<Touches> {
        Some(Touches::Files(vec![cx.resolve(&args.path, &cx.cwd())]))
    }

    async fn run(
        &self,
        args: PatchArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let path = editable(&args.path, &scope.cwd, cx).map_err(ToolError::failed)?;
        let _turn = turn(&path, cx, scope).await?;
        let is_stale = seen(&path, cx) == Seen::Stale;
        let place = path.clone();
        let doing = format!("finding the place in {}", path.display());
        let stop = Stop::new(scope, FILE_PATIENCE);
        let change = look(doing, stop, move |stop| change(&place, &args, stop)).await?;
        let mut value = json!({
            "success": true,
            "diff": change.diff,
            "files_modified": [path],
            "replacements": change.count,
        });
        if change.strategy != "exact" {
            value["strategy"] = change.strategy.into();
        }
        if is_stale {
            value["_warning"] = STALE.into();
        }
        let new = NewText { path, text: change.text, before: Some(change.before) };
        replace(new, ToolOutput::json(value), cx, scope).await
    }
}

const GUIDANCE: &str = "Read a file before you change it. Change existing files with `patch`; use `write_file` for \
new files and complete rewrites. Find things with `search_files`.";

/// The file to change, if it may be written and read: the diff and the hints show what is in it.
fn editable(path: &Path, cwd: &Path, cx: &ToolContext) -> Result<PathBuf, String> {
    let path = target(path, cwd, cx)?;
    match protect::unreadable(&path, cx.places()) {
        None => Ok(path),
        Some(why) => Err(format!(
            "{why}. A patch would show parts of it: ask the user to make the change, or replace the whole file \
             with write_file if you know all it should hold"
        )),
    }
}

/// A change that was found and not yet made.
struct Change {
    /// The file's new text.
    text: String,
    /// Names the old one.
    before: String,
    diff: String,
    count: usize,
    strategy: &'static str,
}

fn change(path: &Path, args: &PatchArgs, stop: &Stop) -> Result<Change, ToolError> {
    let Some(Existing { text, spelling, digest }) = load(path)? else {
        return Err(ToolError::failed(format!(
            "{} does not exist; use write_file to make it",
            path.display()
        )));
    };
    let Some(text) = text else {
        return Err(ToolError::failed(format!("{} is not a text file", path.display())));
    };
    let before = spelling.plain(&text);
    let (old, new) = (spelling.plain(&args.old_string), spelling.plain(&args.new_string));
    let edit = Edit { old: &old, new: &new, all: args.replace_all };
    let stopped = || stop.is_asked();
    let edited = fuzzy::replace(&before, edit, &stopped).map_err(|error| match error {
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
    Ok(Change { text, before: digest, diff, count: edited.count, strategy: edited.strategy })
}

fn explain(error: EditError, path: &Path, near: impl FnOnce() -> Vec<(usize, String)>) -> ToolError {
    let failed = ToolError::failed(format!("{} was not changed: {error}", path.display()));
    if error != EditError::NotFound {
        return failed;
    }
    let near: Vec<String> = near().into_iter().map(|(number, line)| format!("{number}|{line}")).collect();
    if near.is_empty() {
        return failed.with("hint", "Read the file again and copy the text exactly.");
    }
    failed.with("did_you_mean", near)
}

fn unified(path: &Path, before: &str, after: &str) -> String {
    let name = path.display().to_string();
    // Late, the diff is coarser than it could be, but still right.
    TextDiff::configure()
        .timeout(DIFF_PATIENCE)
        .diff_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a{name}"), &format!("b{name}"))
        .to_string()
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
