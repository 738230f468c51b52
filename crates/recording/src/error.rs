//! Why a recording cannot be made, read or replayed.

use std::path::PathBuf;

/// What can go wrong with a recording, differences aside: those are what a replay is for.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("{} is there already; a recording never overwrites a file, so give another name", .path.display())]
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
    #[error("the recording differs before step {step}, so nothing was asked: {why}")]
    DiffersBefore { step: u64, why: String },
    #[error("the replay could not be set up: {what}")]
    Setup { what: String },
}
