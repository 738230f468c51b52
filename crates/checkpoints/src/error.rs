//! Errors of checkpoints.

use crate::Conflict;
use hermes_exec::ExecError;
use std::path::PathBuf;
use std::time::Duration;

/// A checkpoint that could not be taken, shown or restored.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error("git is not installed or cannot be started; install git, or set checkpoints.enabled to false")]
    NoGit {
        #[source]
        source: ExecError,
    },
    #[error("git {command} failed: {output}")]
    Git { command: String, output: String },
    #[error("git {command} took longer than {} s; HERMES_CHECKPOINT_TIMEOUT allows up to 60", after.as_secs())]
    GitTimeout { command: String, after: Duration },
    #[error("cannot {doing} {path}")]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(
        "{project} has more than {limit} files, so no checkpoints are taken; exclude generated files in .gitignore"
    )]
    TooManyFiles { project: PathBuf, limit: usize },
    #[error("reading the files of {project} took longer than {} s", after.as_secs())]
    SlowWalk { project: PathBuf, after: Duration },
    #[error("another process has been using the checkpoints of {project} for {} s; try again later", after.as_secs())]
    Busy { project: PathBuf, after: Duration },
    #[error(
        "{project} is not a project: it has no .git, Cargo.toml, package.json or similar file, or is a home directory"
    )]
    NoProject { project: PathBuf },
    #[error("the path {path} is not UTF-8, which checkpoints do not support")]
    NotUtf8 { path: PathBuf },
    #[error("no checkpoints of {project} yet; one is taken before the agent changes files")]
    None { project: PathBuf },
    #[error("no checkpoint {wanted} of {project}: there are {count}; list them with `hermes rollback`")]
    Unknown { wanted: String, project: PathBuf, count: usize },
    #[error("{path} is not a path inside {project}; name a file of the project, relative to it")]
    Outside { path: String, project: PathBuf },
    #[error("checkpoint {wanted} has the same {path} as the project, or neither has it")]
    NothingAt { path: String, wanted: String },
    #[error("nothing was restored: {}", conflict_list(.conflicts))]
    Conflicts { conflicts: Vec<Conflict> },
    #[error("{path} changed while it was being restored; nothing was restored, try again")]
    Changed { path: String },
    #[error(
        "{done} of {all} files were restored, then {path} failed ({why}); the files as they were are checkpoint 1"
    )]
    Partly { done: usize, all: usize, path: String, why: String },
}

impl CheckpointError {
    pub(crate) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }
}

/// At most this many conflicts are named.
const MOST_NAMED: usize = 20;

fn conflict_list(conflicts: &[Conflict]) -> String {
    let mut lines: Vec<String> = conflicts
        .iter()
        .take(MOST_NAMED)
        .map(|conflict| format!("\n  {}: {}", conflict.path, conflict.reason()))
        .collect();
    if conflicts.len() > MOST_NAMED {
        lines.push(format!("\n  and {} more", conflicts.len() - MOST_NAMED));
    }
    let can_force = conflicts.iter().all(|conflict| conflict.is_saved);
    let next = match can_force {
        true => "\nadd --force to restore them too; they are saved in a checkpoint first",
        false => "\nmove files that checkpoints do not save out of the way, then try again",
    };
    format!("{}{next}", lines.concat())
}
