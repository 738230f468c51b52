//! Copies of files beside an export, for its import.

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_conversation::SessionId;
use hermes_store::{CopiedFiles, Imported, SessionDb};
use hermes_terminal::print;
use hermes_terminal::term::{self, printable};
use hermes_terminal::text::counted;
use std::path::{Path, PathBuf};

/// Refuses `--files` for an export to standard output.
pub(in crate::commands::sessions) fn require_folder(file: &str, with_files: bool) -> Result<(), Failure> {
    if with_files && file == "-" {
        return Err(Failure::usage("--files copies files beside the export; export to a file"));
    }
    Ok(())
}

/// The directory beside an export.
fn beside(file: &str) -> PathBuf {
    PathBuf::from(format!("{file}.files"))
}

/// Copies the files of exported sessions, or prints how many were left out.
pub(in crate::commands::sessions) async fn after_export(
    store: &SessionDb,
    file: &str,
    sessions: &[SessionId],
    with_files: bool,
) -> Result<Exit, Failure> {
    if !with_files {
        let left_out = kept_files(store, sessions).await?;
        if left_out > 0 {
            let files = counted(left_out, "file");
            let hint = if file == "-" { "export to a file with --files" } else { "--files copies them" };
            print::notice(&format!("{files} of long tool results left out; {hint}"));
        }
        return Ok(Exit::Answered);
    }
    let folder = beside(file);
    let done = store.export_files(sessions, &folder).await?;
    tell("Copied", "to", &done, &folder);
    if !done.missing.is_empty() {
        let files = counted(count(&done.missing), "file");
        print::notice(&format!("{files} referred to in messages, but missing"));
    }
    Ok(if done.problems.is_empty() { Exit::Answered } else { Exit::FailedTurn })
}

async fn kept_files(store: &SessionDb, ids: &[SessionId]) -> Result<u64, Failure> {
    let mentioned = store.files_of(ids).await?;
    if mentioned.is_empty() {
        return Ok(0);
    }
    let kept = store.files().await?;
    Ok(kept.iter().map(|file| u64::from(mentioned.contains(&file.name))).sum())
}

/// Imports the files beside an export; `false` if one does not match its digest. Sessions that were already stored
/// get missing files back.
pub(in crate::commands::sessions) async fn after_import(
    store: &SessionDb,
    file: &str,
    imported: &Imported,
    common: &Common,
) -> Result<bool, Failure> {
    let folder = beside(file);
    if file == "-" || !folder.is_dir() {
        return Ok(true);
    }
    let ids = [imported.sessions.as_slice(), imported.skipped.as_slice()].concat();
    let done = store.import_files(&ids, &folder).await?;
    if common.json {
        print_error(&done);
    } else {
        tell("Imported", "from", &done, &folder);
    }
    Ok(done.problems.is_empty())
}

/// Prints to standard error: standard output may be the export itself, or a JSON value.
fn tell(did: &str, way: &str, done: &CopiedFiles, folder: &Path) {
    if !done.copied.is_empty() {
        let files = counted(count(&done.copied), "file");
        term::print_error(&format!("{did} {files} {way} {}", printable(&folder.to_string_lossy())));
    }
    print_error(done);
}

fn print_error(done: &CopiedFiles) {
    for problem in &done.problems {
        print::notice(&format!("not copied: {}", problem));
    }
}

fn count(names: &[String]) -> u64 {
    u64::try_from(names.len()).unwrap_or_default()
}
