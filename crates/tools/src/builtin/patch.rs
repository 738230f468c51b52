//! Changing parts of files: one text in one file, or a patch over several files.

mod many_files;
mod one_file;
mod plan;

use super::search_files::SearchFiles;
use super::whole_file::{target, write_action};
use super::write_file::{WriteFile, denied};
use crate::{
    Action, CallScope, Concurrency, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset, Touches,
    protect,
};
use hermes_conversation::{CallDigest, CallTitle, Effect, Guidance, ToolFacts, ToolKind};
use hermes_edits::v4a::{self, Operation};
use one_file::OneEdit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Change files; returns a diff. replace: old_string must occur once, so include surrounding lines. patch: several
/// files, all or nothing.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("required" = ["mode"]))]
pub(crate) struct PatchArgs {
    #[serde(default)]
    mode: Mode,
    path: Option<PathBuf>,
    old_string: Option<String>,
    /// May be empty.
    new_string: Option<String>,
    #[serde(default)]
    replace_all: bool,
    /// *** Begin Patch; *** Update File: p, @@ line above @@, lines that begin with space, - or +; *** Add File: p, + lines;
    /// *** Delete File: p; *** Move File: a -> b; *** End Patch
    patch: Option<String>,
    #[serde(default)]
    cross_profile: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Replace,
    Patch,
}

/// The change that the arguments mean.
enum Change {
    One(OneEdit),
    Many(Vec<Operation>),
}

/// Files that one patch may name.
const MOST_FILES: usize = 200;

impl PatchArgs {
    fn change(self) -> Result<Change, String> {
        match self.mode {
            Mode::Replace => match (self.path, self.old_string, self.new_string) {
                (Some(path), Some(old), Some(new)) => {
                    Ok(Change::One(OneEdit { path, old, new, all: self.replace_all }))
                }
                (None, ..) => Err("mode replace needs `path`".to_owned()),
                (_, None, _) => Err("mode replace needs `old_string`".to_owned()),
                (.., None) => Err("mode replace needs `new_string`; send \"\" to delete the text".to_owned()),
            },
            Mode::Patch => {
                let text = self.patch.ok_or_else(|| "mode patch needs `patch`".to_owned())?;
                let operations =
                    v4a::parse(&text).map_err(|error| format!("`patch` cannot be applied: {error}"))?;
                if operations.len() > MOST_FILES {
                    return Err(format!("`patch` has more than {MOST_FILES} operations; send it in parts"));
                }
                Ok(Change::Many(operations))
            }
        }
    }

    /// The same without taking the arguments apart.
    fn judged(&self) -> Result<Change, String> {
        Self {
            mode: self.mode,
            path: self.path.clone(),
            old_string: self.old_string.clone(),
            new_string: self.new_string.clone(),
            replace_all: self.replace_all,
            patch: self.patch.clone(),
            cross_profile: self.cross_profile,
        }
        .change()
    }

    /// The files that the call changes.
    fn files(&self, cx: &ToolContext) -> Vec<PathBuf> {
        let cwd = cx.cwd();
        let named: Vec<PathBuf> = match self.judged() {
            Ok(Change::One(edit)) => vec![edit.path],
            Ok(Change::Many(operations)) => {
                operations.iter().flat_map(Operation::files).map(PathBuf::from).collect()
            }
            Err(_) => Vec::new(),
        };
        named.iter().map(|path| cx.resolve(path, &cwd)).collect()
    }
}

pub(crate) struct Patch;

impl Tool for Patch {
    const NAME: &'static str = "patch";
    const TOOLSET: Toolset = Toolset::File;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Edit,
        edited_path: Some("path"),
        title: Some(|arguments| CallTitle::new("🔧", "patch", subject(arguments))),
        digest: CallDigest::of(&["path", "mode"]),
        guidance: Some(Guidance { text: GUIDANCE, beside: &[WriteFile::NAME, SearchFiles::NAME] }),
        rank: 3,
        ..ToolFacts::DEFAULT
    };
    type Args = PatchArgs;

    fn refusal(&self, args: &PatchArgs, cx: &ToolContext) -> Option<Refusal> {
        match args.judged() {
            Err(why) => Some(Refusal::Invalid(why)),
            Ok(Change::One(edit)) => {
                editable(&edit.path, &cx.cwd(), cx).err().map(|why| denied(why, args.cross_profile))
            }
            Ok(Change::Many(operations)) => many_files::refusal(&operations, cx),
        }
    }

    fn action(&self, args: &PatchArgs, cx: &ToolContext) -> Option<Action> {
        match args.judged().ok()? {
            Change::One(edit) => write_action(&edit.path, "a change", cx),
            Change::Many(operations) => Some(many_files::action(&operations, cx)),
        }
    }

    fn effect(&self, args: &PatchArgs, cx: &ToolContext) -> Effect {
        Effect::Write(args.files(cx))
    }

    fn concurrency(&self, args: &PatchArgs, cx: &ToolContext) -> Concurrency {
        Concurrency::Writes(args.files(cx))
    }

    fn touches(&self, args: &PatchArgs, cx: &ToolContext) -> Option<Touches> {
        cx.far().is_none().then(|| Touches::Files(args.files(cx)))
    }

    async fn run(
        &self,
        args: PatchArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        match args.change().map_err(ToolError::failed)? {
            Change::One(edit) => one_file::run(edit, cx, scope).await,
            Change::Many(operations) => many_files::run(&operations, cx, scope).await,
        }
    }
}

const GUIDANCE: &str = "Read a file before you change it. Change existing files with `patch`; use `write_file` for \
new files and complete rewrites. Find things with `search_files`.";

/// The path of a call, or the files of its patch.
fn subject(arguments: &Value) -> String {
    let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    if arguments["mode"] != json!("patch") {
        return text("path");
    }
    let operations = v4a::parse(&text("patch")).unwrap_or_default();
    let files: Vec<&str> = operations.iter().flat_map(Operation::files).collect();
    match files.as_slice() {
        [] | [_] => files.concat(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

/// The error of a file that a patch would show.
pub(super) fn hidden(why: &str) -> String {
    format!(
        "{why}. A patch would show parts of it: ask the user to make the change, or replace the whole file \
         with write_file if you know all it should hold"
    )
}

/// The file to change, if it may be written and read: the diff and the hints show what is in it.
fn editable(path: &Path, cwd: &Path, cx: &ToolContext) -> Result<PathBuf, String> {
    let path = target(path, cwd, cx)?;
    let unreadable = match cx.far() {
        Some(far) => {
            let (judged, scene) = cx.far_judged(&path, cwd, far);
            protect::denied_read(&judged, &scene)
        }
        None => protect::unreadable(&path, cx.places()),
    };
    match unreadable {
        None => Ok(path),
        Some(why) => Err(hidden(&why)),
    }
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "patch_files_tests.rs"]
mod files_tests;
