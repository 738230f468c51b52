//! `/rollback`: checkpoints of the project, and restoring one together with the conversation.

use super::handlers::{Call, Reply, Replying};
use super::reply::CommandReply;
use crate::Session;
use crate::error::with_causes;
use hermes_checkpoints::{Checkpoint, CheckpointError, Enabled, Restore, Restored};
use std::fmt::Write;

/// Lines of a difference that are shown.
const MAX_LINES: usize = 80;
const USAGE: &str = "usage: /rollback, /rollback diff N, /rollback restore N [FILE ...] [--force]";

/// The meaning of the text after `/rollback`.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    List,
    Diff(String),
    Restore(Restore),
}

pub(super) fn rollback(call: Call<'_>) -> Replying<'_> {
    Box::pin(async move {
        let Some(request) = parse(call.argument.unwrap_or_default()) else { return text(USAGE) };
        match carry_out(request, call.session).await {
            Ok(reply) => reply,
            Err(error) => text(with_causes(&error)),
        }
    })
}

fn text(text: impl Into<String>) -> Reply {
    Ok(CommandReply::Text(text.into()))
}

async fn carry_out(request: Request, session: &mut Session) -> Result<Reply, CheckpointError> {
    let store = match session.runtime().checkpoints() {
        Ok(store) if store.enabled() == Enabled::Off => {
            return Ok(text(
                "checkpoints are disabled; `hermes config set checkpoints.enabled true` enables them for new sessions",
            ));
        }
        Ok(store) => store,
        Err(error) => return Ok(Err(error.into())),
    };
    let project = store.project_of(&session.cwd())?;
    match request {
        Request::List => {
            let all = store.list(&project).await?;
            if all.is_empty() {
                return Err(CheckpointError::None { project });
            }
            let title = format!("checkpoints of {}, the newest first:", project.display());
            Ok(Ok(CommandReply::Table { title: Some(title), rows: all.iter().map(row).collect() }))
        }
        Request::Diff(wanted) => {
            let found = store.diff(&project, &wanted).await?;
            Ok(text(match found.diff.is_empty() {
                true => format!("no changes since checkpoint {}", found.checkpoint.number),
                false => format!("{}\n{}", found.stat.trim_end(), shortened(&found.diff)),
            }))
        }
        Request::Restore(request) => {
            let restored = store.restore(&project, &request).await?;
            let mut reply = described(&restored);
            if restored.restored.is_empty() && restored.removed.is_empty() {
                return Ok(text(reply));
            }
            match session.undo_last_turn().await {
                Ok(Some(undone)) => {
                    let _ = write!(reply, "\nundid the last turn ({} messages)", undone.messages);
                }
                Ok(None) => {}
                Err(error) => {
                    let _ = write!(reply, "\nthe last turn was not undone: {}", with_causes(&error));
                }
            }
            Ok(text(reply))
        }
    }
}

/// The cells of a checkpoint in a list.
fn row(checkpoint: &Checkpoint) -> Vec<String> {
    let time = checkpoint.timestamp.get(..16).unwrap_or(&checkpoint.timestamp).replace('T', " ");
    let files = if checkpoint.files_changed == 1 { "file" } else { "files" };
    let stat = match checkpoint.files_changed {
        0 => String::new(),
        count => format!("{count} {files}, +{} -{}", checkpoint.insertions, checkpoint.deletions),
    };
    vec![checkpoint.number.to_string(), checkpoint.short_hash.clone(), time, checkpoint.reason.clone(), stat]
}

/// A finished restore in sentences.
fn described(restored: &Restored) -> String {
    let Checkpoint { number, short_hash, reason, .. } = &restored.checkpoint;
    let mut lines = Vec::new();
    let count = restored.restored.len() + restored.removed.len();
    if count == 0 {
        lines.push(format!(
            "nothing to restore: the agent's files are as in checkpoint {number} ({short_hash})"
        ));
    } else {
        let files = if count == 1 { "file" } else { "files" };
        lines.push(format!("restored {count} {files} to checkpoint {number} ({short_hash}, {reason})"));
        lines.push(
            "the files as they were are checkpoint 1 now; `/rollback restore 1` brings them back".to_owned(),
        );
    }
    for (paths, what) in
        [(&restored.kept, "kept, edited by hand"), (&restored.forced, "overwritten, edited by hand")]
    {
        lines.extend(paths.iter().map(|path| format!("  {path}: {what}")));
    }
    lines.join("\n")
}

fn shortened(diff: &str) -> String {
    let lines: Vec<&str> = diff.lines().collect();
    match lines.len() {
        count if count > MAX_LINES => {
            let left = count - MAX_LINES;
            format!(
                "{}\n... {left} more lines; `hermes rollback diff` shows all",
                lines[..MAX_LINES].join("\n")
            )
        }
        _ => lines.join("\n"),
    }
}

/// Reads the text after `/rollback`. `/rollback N [FILE]`, as in the Python release, restores.
fn parse(argument: &str) -> Option<Request> {
    let (flags, words): (Vec<&str>, Vec<&str>) =
        argument.split_whitespace().partition(|word| *word == "--force");
    let force = !flags.is_empty();
    let restore = |wanted: &str, files: &[&str]| {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        Some(Request::Restore(Restore { wanted: wanted.to_owned(), files, force }))
    };
    match words.as_slice() {
        [] | ["list"] if !force => Some(Request::List),
        ["diff", wanted] if !force => Some(Request::Diff((*wanted).to_owned())),
        ["restore", wanted, files @ ..] => restore(wanted, files),
        ["diff" | "list" | "restore", ..] => None,
        [wanted, files @ ..] => restore(wanted, files),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_as_in_the_python_release_and_by_name() {
        let restore = |wanted: &str, files: &[&str], force| {
            let files = files.iter().map(|file| (*file).to_owned()).collect();
            Some(Request::Restore(Restore { wanted: wanted.to_owned(), files, force }))
        };
        for (argument, want) in [
            ("", Some(Request::List)),
            ("list", Some(Request::List)),
            ("diff 2", Some(Request::Diff("2".to_owned()))),
            ("2", restore("2", &[], false)),
            ("2 src/a", restore("2", &["src/a"], false)),
            ("restore 2 a b --force", restore("2", &["a", "b"], true)),
            ("restore", None),
            ("diff", None),
            ("diff 1 2", None),
            ("--force", None),
        ] {
            assert_eq!(parse(argument), want, "{argument}");
        }
    }
}
