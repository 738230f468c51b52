//! Writing a whole file.

use super::whole_file::{blocking, load, note_written, store, syntax_error, target, warning};
use crate::{CallScope, Concurrency, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset};
use hermes_conversation::Effect;
use hermes_guard::{Secrets, redact};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Write a file, replacing what it held; missing directories are made. Use patch to change part
/// of a file. JSON and YAML files must be valid.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct WriteFileArgs {
    /// Path, absolute or relative to the working directory.
    path: PathBuf,
    /// The whole new content.
    content: String,
}

pub(crate) struct WriteFile;

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    const TOOLSET: Toolset = Toolset::File;
    type Args = WriteFileArgs;

    fn refusal(&self, args: &WriteFileArgs, cx: &ToolContext) -> Option<Refusal> {
        if is_page(&args.content) {
            return Some(Refusal::Invalid(
                "`content` has the line numbers that read_file adds; send the text without them".to_owned(),
            ));
        }
        target(&args.path, &cx.cwd(), cx).err().map(Refusal::Denied)
    }

    fn effect(&self, args: &WriteFileArgs, cx: &ToolContext) -> Effect {
        Effect::Write(vec![cx.resolve(&args.path, &cx.cwd())])
    }

    fn concurrency(&self, args: &WriteFileArgs, cx: &ToolContext) -> Concurrency {
        Concurrency::Writes(vec![cx.resolve(&args.path, &cx.cwd())])
    }

    async fn run(
        &self,
        args: WriteFileArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let path = target(&args.path, &scope.cwd, cx).map_err(ToolError::failed)?;
        let _turn = cx.locks().lock(&path).await;
        let warning = warning(&path, cx);
        let place = path.clone();
        let secrets = cx.secrets();
        let (bytes, dirs_created) = blocking(move || replace(&place, &args.content, &secrets)).await?;
        note_written(&path, cx);
        let mut value = json!({
            "bytes_written": bytes,
            "dirs_created": dirs_created,
            "resolved_path": path,
            "files_modified": [path],
        });
        if let Some(warning) = warning {
            value["_warning"] = warning.into();
        }
        Ok(ToolOutput::json(value))
    }
}

fn replace(path: &Path, content: &str, secrets: &Secrets) -> Result<(usize, bool), ToolError> {
    if let Some(error) = syntax_error(path, content) {
        return Err(ToolError::failed(format!("{} was not written: the content is {error}", path.display())));
    }
    let existing = load(path)?;
    if let Some(text) = existing.as_ref().and_then(|existing| existing.text.as_deref())
        && would_lose_secrets(text, content, secrets)
    {
        return Err(ToolError::failed(format!(
            "{} was not written: the content has [redacted] where the file has a secret you were not shown; \
             change the other parts with patch",
            path.display()
        )));
    }
    let spelling = existing.map(|existing| existing.spelling).unwrap_or_default();
    let text = spelling.dressed(content);
    let dirs_created = store(path, &text)?;
    Ok((text.len(), dirs_created))
}

/// Whether a file with secrets would be replaced by what the model was shown in their place.
fn would_lose_secrets(before: &str, after: &str, secrets: &Secrets) -> bool {
    const MARK: &str = "[redacted";
    after.contains(MARK) && !before.contains(MARK) && redact(secrets, before) != before
}

/// Whether every line starts with its number, as `read_file` shows them.
fn is_page(content: &str) -> bool {
    let numbers: Option<Vec<usize>> = content
        .lines()
        .map(|line| line.split_once('|').and_then(|(number, _)| number.trim().parse().ok()))
        .collect();
    numbers.is_some_and(|numbers| numbers.len() > 1 && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1))
}

#[cfg(test)]
#[path = "write_file_tests.rs"]
mod tests;
