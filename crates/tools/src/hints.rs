//! Instruction files of subdirectories, added to the first tool result that touches one.
//!
//! The files of the session's own directory are in the system prompt. Those further down would make it long
//! and are mostly not needed; so they come at the end of the first result from there.

use crate::ToolContext;
use crate::opened::{open_inside, project_root};
use hermes_conversation::{Message, ToolCall};
use hermes_guard::{Scope, delimit, neutralise};
use serde_json::Value;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The first of these that is there counts.
const NAMES: [&str; 5] = ["AGENTS.md", "agents.md", "CLAUDE.md", "claude.md", ".cursorrules"];
/// The number of parent directories of a touched file that are checked.
const MOST_STEPS: usize = 5;
const MOST_CHARS: usize = 8_000;
/// Begins what is added to a result, one line per file.
const ORIGIN: &str = "[Instructions for work in this folder, from ";

/// The directories that have been checked.
#[derive(Debug)]
pub(crate) struct FolderHints {
    /// The initial working directory; only directories below it are checked.
    root: PathBuf,
    seen: HashSet<PathBuf>,
}

impl FolderHints {
    pub(crate) fn below(root: &Path) -> Self {
        Self { root: root.to_owned(), seen: HashSet::from([root.to_owned()]) }
    }

    /// Marks the instruction files that a conversation already contains.
    pub(crate) fn restore(&mut self, messages: &[Arc<Message>]) {
        for message in messages {
            let Message::Tool(result) = message.as_ref() else { continue };
            for (at, _) in result.content.as_text().match_indices(ORIGIN) {
                let rest = &result.content.as_text()[at + ORIGIN.len()..];
                if let Some(folder) = rest.split_once("]\n").and_then(|(path, _)| Path::new(path).parent()) {
                    self.seen.insert(folder.to_owned());
                }
            }
        }
    }

    /// The folders that a call touches and that were not looked at yet, the highest first.
    fn new_folders(&mut self, call: &ToolCall, cwd: &Path) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for path in touched(call, cwd) {
            let nearest = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
            let up = nearest.into_iter().flat_map(Path::ancestors).take(MOST_STEPS);
            let mut inside: Vec<&Path> = up.take_while(|folder| folder.starts_with(&self.root)).collect();
            inside.reverse();
            folders.extend(
                inside
                    .into_iter()
                    .filter(|folder| self.seen.insert((*folder).to_owned()))
                    .map(Path::to_owned),
            );
        }
        folders
    }
}

/// The text to add to the result of a call, if it is the first to touch a directory with instructions.
pub(crate) fn for_call(call: &ToolCall, cwd: &Path, cx: &ToolContext) -> Option<String> {
    let folders = cx.hints()?.new_folders(call, cwd);
    let found: Vec<String> = folders.iter().filter_map(|folder| told(folder, cx)).collect();
    (!found.is_empty()).then(|| found.concat())
}

fn told(folder: &Path, cx: &ToolContext) -> Option<String> {
    let path = NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())?;
    let text = cx.clean(read(&path, cx)?);
    let kept: String = text.trim().chars().take(MOST_CHARS).collect();
    if kept.is_empty() {
        return None;
    }
    let cut = if kept.len() < text.trim().len() { "\n[cut here]" } else { "" };
    let safe = neutralise(&kept, Scope::Context).text;
    let shown = path.display().to_string();
    let body = delimit(&cx.fence_key(), "project_file", &shown, &format!("{safe}{cut}"));
    Some(format!("\n\n{ORIGIN}{shown}]\n{body}"))
}

/// The beginning of a file of the project; a file that leads out of it or holds credentials is left alone.
fn read(path: &Path, cx: &ToolContext) -> Option<String> {
    // Four bytes hold any character, and a folded secret is longer than its mark.
    const MOST_BYTES: u64 = MOST_CHARS as u64 * 8;
    // A name that could pass for text of ours around it.
    if path.to_str()?.contains(char::is_control) {
        return None;
    }
    let root = project_root(&cx.hints()?.root, cx.places().user_home());
    let opened = match open_inside(&root, path, cx.places()) {
        Ok(opened) => opened,
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "instructions of a folder were left out");
            return None;
        }
    };
    let mut bytes = Vec::new();
    opened.file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The paths in a call's arguments, seen from the session's folder.
fn touched(call: &ToolCall, cwd: &Path) -> Vec<PathBuf> {
    let Ok(Value::Object(arguments)) = serde_json::from_str(&call.arguments) else { return Vec::new() };
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let named = ["path", "file_path", "workdir"].into_iter().filter_map(text);
    let command = text("command").filter(|_| call.name == "terminal").unwrap_or_default();
    named.chain(path_like(command)).map(|path| plain(&cwd.join(path))).collect()
}

/// Arguments of a command that look like paths.
fn path_like(command: &str) -> impl Iterator<Item = &str> {
    let is_between = |sign: char| sign.is_whitespace() || ";|&()<>\"'`=".contains(sign);
    let words = command.split(is_between).filter(|word| !word.is_empty());
    words.filter(|word| !word.starts_with('-') && !word.contains("://") && !word.starts_with('$'))
}

/// Without `.` and `..`, as it is written.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
        plain
    })
}

#[cfg(test)]
#[path = "hints_tests.rs"]
mod tests;
