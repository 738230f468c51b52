//! Writing a whole file.

use super::blocking::{FILE_PATIENCE, Stop, look};
use super::checkers;
use super::files::Files;
use super::syntax::syntax_error;
use super::whole_file::{Existing, NewText, judged, replace, target, turn};
use crate::facts::text;
use crate::far::access::Access;
use crate::{
    Action, CallScope, Concurrency, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset, Touches,
};
use hermes_conversation::{CallDigest, CallTitle, Effect, ToolFacts, ToolKind};
use hermes_guard::{Secrets, redact};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Write a file, replacing what it held; missing directories are made. Use `patch` to change part
/// of a file. JSON, YAML and TOML files must be valid.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct WriteFileArgs {
    /// Path, absolute or relative to the working directory.
    path: PathBuf,
    /// The whole new content.
    content: String,
    #[serde(default)]
    cross_profile: bool,
}

pub(crate) struct WriteFile;

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    const TOOLSET: Toolset = Toolset::File;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Edit,
        edited_path: Some("path"),
        title: Some(|arguments| CallTitle::new("✍️", "write", text(arguments, "path"))),
        digest: CallDigest::of(&["path", "mode"]),
        rank: 2,
        ..ToolFacts::DEFAULT
    };
    type Args = WriteFileArgs;

    fn refusal(&self, args: &WriteFileArgs, cx: &ToolContext) -> Option<Refusal> {
        if is_page(&args.content) {
            return Some(Refusal::Invalid(
                "`content` has the line numbers that read_file adds; send the text without them".to_owned(),
            ));
        }
        target(&args.path, &cx.cwd(), cx).err().map(|why| denied(why, args.cross_profile))
    }

    fn action(&self, args: &WriteFileArgs, cx: &ToolContext) -> Option<Action> {
        let size = match args.content.lines().count() {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        let cwd = cx.cwd();
        let path = cx.resolve(&args.path, &cwd);
        let (judged, scene) = judged(&path, &cwd, cx);
        let assessment = hermes_gate::assess_write_content(&judged, args.content.as_bytes(), &scene);
        let text = format!("write {} ({size})", path.display());
        Some(Action { kind: cx.access_kind(), text, cwd, environment: Arc::default(), assessment })
    }

    fn effect(&self, args: &WriteFileArgs, cx: &ToolContext) -> Effect {
        Effect::Write(vec![cx.resolve(&args.path, &cx.cwd())])
    }

    fn concurrency(&self, args: &WriteFileArgs, cx: &ToolContext) -> Concurrency {
        Concurrency::Writes(vec![cx.resolve(&args.path, &cx.cwd())])
    }

    fn touches(&self, args: &WriteFileArgs, cx: &ToolContext) -> Option<Touches> {
        // Checkpoints are of files of this machine.
        cx.far().is_none().then(|| Touches::Files(vec![cx.resolve(&args.path, &cx.cwd())]))
    }

    async fn run(
        &self,
        args: WriteFileArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let mut files = Files::of(cx, scope);
        let path = files.target(&args.path, Access::Write, scope).await?;
        let _turn = turn(&files.key(&path), cx, scope).await?;
        let loaded = files.load([&path]).await?;
        let warning = files.warning(&path);
        let (place, secrets) = (path.clone(), cx.secrets());
        let doing = format!("looking at {}", path.display());
        let stop = Stop::new(scope, FILE_PATIENCE);
        let compose = move |_: &Stop| {
            check_syntax(&place, &args.content)?;
            composed(loaded.existing(&place)?, place, &args.content, &secrets)
        };
        let (new, old_text) = look(doing, stop, compose).await?;
        let mut value = json!({
            "bytes_written": new.text.len(),
            "dirs_created": files.lacks_dir(&path),
            "resolved_path": path,
            "files_modified": [path],
        });
        let shown = new.text.strip_prefix('\u{feff}').unwrap_or(&new.text);
        if let Some(lint) = checkers::new_errors(&path, old_text.as_deref(), shown, cx, scope).await {
            value["lint"] = lint;
        }
        if let Some(warning) = warning {
            value["_warning"] = warning.into();
        }
        replace(new, ToolOutput::json(value), &files, scope).await
    }
}

/// A refusal that says what `cross_profile` is worth: homes of other profiles are changed by the user only.
pub(super) fn denied(why: String, cross_profile: bool) -> Refusal {
    match cross_profile {
        true => Refusal::Denied(format!("{why}; cross_profile does not change that")),
        false => Refusal::Denied(why),
    }
}

fn check_syntax(path: &Path, content: &str) -> Result<(), ToolError> {
    match syntax_error(path, content) {
        Some(error) => {
            let text = format!("{} was not written: the content is {error}", path.display());
            Err(ToolError::failed(text))
        }
        None => Ok(()),
    }
}

/// The text to write and the one before, if it may take the place of what is there. Nothing of that is shown: the
/// file may be one that is not read.
fn composed(
    existing: Option<Existing>,
    path: PathBuf,
    content: &str,
    secrets: &Secrets,
) -> Result<(NewText, Option<String>), ToolError> {
    if let Some(text) = existing.as_ref().and_then(|existing| existing.text.as_deref())
        && would_lose_secrets(text, content, secrets)
    {
        return Err(ToolError::failed(format!(
            "{} was not written: the content has [redacted] where the file has a secret you were not shown; \
             change the other parts with patch",
            path.display()
        )));
    }
    let spelling = existing.as_ref().map(|existing| existing.spelling).unwrap_or_default();
    let (old_text, before) = existing.map(|existing| (existing.text, existing.digest)).unzip();
    Ok((NewText { path, text: spelling.dressed(content), before }, old_text.flatten()))
}

/// Returns true if a file with secrets would be overwritten with their redacted form.
fn would_lose_secrets(before: &str, after: &str, secrets: &Secrets) -> bool {
    const MARK: &str = "[redacted";
    after.contains(MARK) && !before.contains(MARK) && redact(secrets, before) != before
}

/// Returns true if every line starts with its number, as `read_file` shows them.
fn is_page(content: &str) -> bool {
    let numbers: Option<Vec<u64>> = content
        .lines()
        .map(|line| line.split_once('|').and_then(|(number, _)| number.trim().parse().ok()))
        .collect();
    let follows = |pair: &[u64]| pair[0].checked_add(1) == Some(pair[1]);
    numbers.is_some_and(|numbers| numbers.len() > 1 && numbers.windows(2).all(follows))
}

#[cfg(test)]
#[path = "write_file_tests.rs"]
mod tests;
