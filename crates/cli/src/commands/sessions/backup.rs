//! `hermes sessions backup`.

use super::progress::Progress;
use crate::exit::{Exit, Failure, with_causes};
use crate::flags::Common;
use clap::Args;
use hermes_store::{BackupError, Existing, SessionDb};
use hermes_terminal::text::size;
use hermes_terminal::{print, term};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes sessions backup sessions.db
  hermes sessions backup sessions.db --force")]
pub(crate) struct BackupArgs {
    /// File to write
    file: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

pub(super) async fn run(store: &SessionDb, args: &BackupArgs, common: &Common) -> Result<Exit, Failure> {
    let BackupArgs { file, force } = args;
    let existing = if *force { Existing::Replace } else { Existing::Keep };
    let mut progress = Progress::new("Copying");
    let bytes = store.backup(file, existing, move |done, total| progress.show(done, total)).await;
    let bytes = bytes.map_err(failure)?;
    if common.json {
        print::json(&json!({ "file": file.to_string_lossy(), "bytes": bytes }));
    } else {
        term::print_line(&format!("Copied {} to {}", size(bytes), file.display()));
    }
    Ok(Exit::Answered)
}

fn failure(error: BackupError) -> Failure {
    let line = with_causes(&error);
    match error {
        BackupError::Exists { .. } => Failure::usage(format!("{line}; --force replaces it")),
        BackupError::IsTheDatabase { .. } | BackupError::InUse { .. } => Failure::usage(line),
        BackupError::File { .. } => Failure::new(Exit::Permission, line),
        BackupError::Damaged { .. } => {
            Failure::new(Exit::Internal, format!("{line}; see `hermes sessions verify`"))
        }
        BackupError::Store(error) => error.into(),
    }
}
