//! Changing part of a file.

use super::whole_file::{Existing, blocking, load, note_written, store, syntax_error, target, warning};
use crate::fuzzy::{self, Edit, EditError, Edited};
use crate::{CallScope, Concurrency, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset};
use hermes_conversation::Effect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use similar::TextDiff;
use std::path::{Path, PathBuf};

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

pub(crate) struct Patch;

impl Tool for Patch {
    const NAME: &'static str = "patch";
    const TOOLSET: Toolset = Toolset::File;
    const UNSUPPORTED: &'static [(&'static str, &'static str)] = &[(
        "patch",
        "patches over several files are not built in yet; send path, old_string and new_string for one change",
    )];
    type Args = PatchArgs;

    fn refusal(&self, args: &PatchArgs, cx: &ToolContext) -> Option<Refusal> {
        target(&args.path, &cx.cwd(), cx).err().map(Refusal::Denied)
    }

    fn effect(&self, args: &PatchArgs, cx: &ToolContext) -> Effect {
        Effect::Write(vec![cx.resolve(&args.path, &cx.cwd())])
    }

    fn concurrency(&self, args: &PatchArgs, cx: &ToolContext) -> Concurrency {
        Concurrency::Writes(vec![cx.resolve(&args.path, &cx.cwd())])
    }

    async fn run(
        &self,
        args: PatchArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let path = target(&args.path, &scope.cwd, cx).map_err(ToolError::failed)?;
        let _turn = cx.locks().lock(&path).await;
        let stale = warning(&path, cx);
        let place = path.clone();
        let change = blocking(move || change(&place, &args)).await?;
        note_written(&path, cx);
        let mut value = json!({
            "success": true,
            "diff": change.diff,
            "files_modified": [path],
            "replacements": change.edited.count,
        });
        if change.edited.strategy != "exact" {
            value["strategy"] = change.edited.strategy.into();
        }
        if let Some(warning) = stale.filter(|warning| !warning.contains("part")) {
            value["_warning"] = warning.into();
        }
        Ok(ToolOutput::json(value))
    }
}

struct Change {
    edited: Edited,
    diff: String,
}

fn change(path: &Path, args: &PatchArgs) -> Result<Change, ToolError> {
    let Some(Existing { text, spelling }) = load(path)? else {
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
    let edited = fuzzy::replace(&before, edit).map_err(|error| explain(error, path, &before, &old))?;
    // Only what this edit broke counts: the file may not have been sound before.
    if syntax_error(path, &before).is_none()
        && let Some(error) = syntax_error(path, &edited.content)
    {
        return Err(ToolError::failed(format!("{} was not changed: the result is {error}", path.display())));
    }
    store(path, &spelling.dressed(&edited.content))?;
    let diff = unified(path, &before, &edited.content);
    Ok(Change { edited, diff })
}

fn explain(error: EditError, path: &Path, content: &str, old: &str) -> ToolError {
    let failed = ToolError::failed(format!("{} was not changed: {error}", path.display()));
    if error != EditError::NotFound {
        return failed;
    }
    let near: Vec<String> =
        fuzzy::nearest(content, old).into_iter().map(|(number, line)| format!("{number}|{line}")).collect();
    if near.is_empty() {
        return failed.with("hint", "Read the file again and copy the text exactly.");
    }
    failed.with("did_you_mean", near)
}

fn unified(path: &Path, before: &str, after: &str) -> String {
    let name = path.display().to_string();
    TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a{name}"), &format!("b{name}"))
        .to_string()
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
