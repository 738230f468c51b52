//! Errors of recording, reading and replaying.

use std::path::PathBuf;

/// A failure to write, read or replay a recording. Differences are not errors: they are the result of a replay.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("{} exists already; recordings do not overwrite files, use another name", .path.display())]
    Exists { path: PathBuf },
    #[error("{} cannot be written", .path.display())]
    Create {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{} cannot be read", .path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{}, line {line}: {why}", .path.display())]
    Line { path: PathBuf, line: usize, why: String },
    #[error("there is no step {wanted} in this recording; `--list` shows its {steps}")]
    NoSuchStep { wanted: u64, steps: u64 },
    #[error("the recording differs before step {step}, so no model was called: {why}")]
    DiffersBefore { step: u64, why: String },
    #[error("the replay could not be set up: {what}")]
    Setup { what: String },
}
