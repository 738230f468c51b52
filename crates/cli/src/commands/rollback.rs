//! `hermes rollback`: checkpoints of the project in the working directory.

use crate::commands::config;
use crate::exit::{Exit, Failure, with_causes};
use crate::flags::Common;
use crate::{environment, launch};
use clap::{Args, Subcommand};
use hermes_checkpoints::{Checkpoint, CheckpointError, CheckpointStore, Enabled, Restore, Restored};
use hermes_terminal::text::counted;
use hermes_terminal::{print, term};
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

/// List and restore checkpoints of the project's files
///
/// Without a command, lists the checkpoints. One is taken before the first change of every turn. Number 1 is the newest.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hermes rollback
  hermes rollback diff 1
  hermes rollback restore 1
  hermes rollback restore 2 src/main.rs")]
pub(crate) struct RollbackArgs {
    #[command(subcommand)]
    command: Option<RollbackCommand>,
}

#[derive(Debug, Subcommand)]
enum RollbackCommand {
    /// List the checkpoints of the project
    List,
    /// Show the changes since a checkpoint
    Diff {
        /// Number from the list, or the beginning of a hash
        #[arg(value_name = "N")]
        checkpoint: String,
    },
    /// Restore the files of a checkpoint
    ///
    /// The files as they are become checkpoint 1 first, so a restore can be undone. Files that only you edited are kept.
    /// If the agent and you edited the same file, nothing is restored without --force. To undo the last turn of the
    /// conversation too, use `/rollback restore N` in the chat.
    Restore {
        /// Number from the list, or the beginning of a hash
        #[arg(value_name = "N")]
        checkpoint: String,
        /// Restore only these files and directories
        #[arg(value_name = "FILE")]
        files: Vec<String>,
        /// Restore files that you edited, too
        #[arg(long)]
        force: bool,
    },
}

pub(crate) async fn run(args: RollbackArgs, common: &Common) -> Result<Exit, Failure> {
    let settings = config::read(common)?;
    let shell = hermes_config::shell_variables(environment::variables());
    let store =
        hermes_runtime::checkpoint_store(&settings, &launch::home()?, &shell).map_err(config::failure)?;
    let here = std::env::current_dir().map_err(|error| Failure::new(Exit::Internal, error.to_string()))?;
    let project = store.project_of(&here).map_err(failure)?;
    match args.command.unwrap_or(RollbackCommand::List) {
        RollbackCommand::List => list(&store, &project, common.json).await,
        RollbackCommand::Diff { checkpoint } => diff(&store, &project, &checkpoint, common.json).await,
        RollbackCommand::Restore { checkpoint, files, force } => {
            let files = files.iter().map(|file| from_project(&project, &here, file)).collect();
            let request = Restore { wanted: checkpoint, files, force };
            restore(&store, &project, &request, common.json).await
        }
    }
}

async fn list(store: &CheckpointStore, project: &Path, is_json: bool) -> Result<Exit, Failure> {
    let all = store.list(project).await.map_err(failure)?;
    if is_json {
        let checkpoints: Vec<Value> = all.iter().map(as_json).collect();
        print::json(&json!({ "project": project, "checkpoints": checkpoints }));
        return Ok(Exit::Answered);
    }
    if all.is_empty() {
        let why = match store.enabled() {
            Enabled::Off => "checkpoints are disabled (checkpoints.enabled is false)",
            Enabled::Auto | Enabled::On => "one is taken before the agent changes files",
        };
        term::print_line(&term::printable(&format!("No checkpoints of {}: {why}", project.display())));
        return Ok(Exit::Answered);
    }
    term::print_line(&term::printable(&format!("Checkpoints of {}, the newest first:", project.display())));
    print::lines(all.iter().map(|checkpoint| term::printable(&line(checkpoint)).into_owned()));
    Ok(Exit::Answered)
}

fn line(checkpoint: &Checkpoint) -> String {
    let Checkpoint { number, short_hash, timestamp, reason, insertions, deletions, .. } = checkpoint;
    let time = timestamp.get(..16).unwrap_or(timestamp).replace('T', " ");
    let stat = match usize::try_from(checkpoint.files_changed).unwrap_or(usize::MAX) {
        0 => String::new(),
        files => format!("  ({}, +{insertions} -{deletions})", counted(files, "file")),
    };
    format!("{number:>4}  {short_hash}  {time}  {reason}{stat}")
}

fn as_json(checkpoint: &Checkpoint) -> Value {
    json!({
        "number": checkpoint.number,
        "hash": checkpoint.hash,
        "short_hash": checkpoint.short_hash,
        "timestamp": checkpoint.timestamp,
        "reason": checkpoint.reason,
        "files_changed": checkpoint.files_changed,
        "insertions": checkpoint.insertions,
        "deletions": checkpoint.deletions,
    })
}

async fn diff(store: &CheckpointStore, project: &Path, wanted: &str, is_json: bool) -> Result<Exit, Failure> {
    let found = store.diff(project, wanted).await.map_err(failure)?;
    if is_json {
        print::json(
            &json!({ "checkpoint": as_json(&found.checkpoint), "stat": found.stat, "diff": found.diff }),
        );
    } else if found.diff.is_empty() {
        term::print_line(&format!("No changes since checkpoint {}", found.checkpoint.number));
    } else {
        print::lines(
            [found.stat.as_str(), &found.diff].map(|text| term::printable(text.trim_end()).into_owned()),
        );
    }
    Ok(Exit::Answered)
}

async fn restore(
    store: &CheckpointStore,
    project: &Path,
    request: &Restore,
    is_json: bool,
) -> Result<Exit, Failure> {
    let restored = match store.restore(project, request).await {
        Err(CheckpointError::Conflicts { conflicts }) if is_json => {
            let conflicts: Vec<Value> = conflicts
                .iter()
                .map(|conflict| {
                    json!({ "path": conflict.path, "reason": conflict.reason(), "saved": conflict.is_saved })
                })
                .collect();
            print::json(&json!({ "restored": null, "conflicts": conflicts }));
            return Ok(Exit::FailedTurn);
        }
        other => other.map_err(failure)?,
    };
    let Restored { checkpoint, restored, removed, kept, forced } = restored;
    if is_json {
        print::json(&json!({ "checkpoint": as_json(&checkpoint), "restored": restored, "removed": removed,
            "kept": kept, "forced": forced }));
        return Ok(Exit::Answered);
    }
    match restored.len() + removed.len() {
        0 => {
            let what =
                format!("Nothing to restore: the agent's files are as in checkpoint {}", checkpoint.number);
            term::print_line(&what);
        }
        count => {
            let files = counted(count, "file");
            let what =
                format!("Restored {files} to checkpoint {} ({})", checkpoint.number, checkpoint.reason);
            term::print_line(&term::printable(&what));
            print::notice(
                "the files as they were are checkpoint 1 now; `hermes rollback restore 1` restores them",
            );
        }
    }
    for (paths, what) in [(&kept, "kept, you edited it"), (&forced, "overwritten, you had edited it")] {
        print::lines(paths.iter().map(|path| term::printable(&format!("  {path}: {what}")).into_owned()));
    }
    Ok(Exit::Answered)
}

/// A file that was named in the working directory, as a path of the project.
fn from_project(project: &Path, here: &Path, file: &str) -> String {
    let here = here.canonicalize().unwrap_or_else(|_| here.to_owned());
    let path: PathBuf = here.strip_prefix(project).unwrap_or(Path::new("")).join(file);
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.pop() => {}
            other => plain.push(other),
        }
    }
    plain.to_str().unwrap_or(file).to_owned()
}

fn failure(error: CheckpointError) -> Failure {
    let exit = match error {
        CheckpointError::Unknown { .. }
        | CheckpointError::Outside { .. }
        | CheckpointError::NothingAt { .. } => Exit::Usage,
        _ => Exit::FailedTurn,
    };
    Failure::new(exit, with_causes(&error))
}
