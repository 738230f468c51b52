//! Files that go along with an export, and come back with an import.

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_conversation::SessionId;
use hermes_store::{CopiedFiles, Imported, SessionDb};
use hermes_terminal::print;
use hermes_terminal::term::{self, printable};
use hermes_terminal::text::counted;
use std::path::{Path, PathBuf};

/// Refuses a wish for files where they have no place.
pub(in crate::commands::sessions) fn require_folder(file: &str, with_files: bool) -> Result<(), Failure> {
    if with_files && file == "-" {
        return Err(Failure::usage("--files puts files beside the export; give the export a file name"));
    }
    Ok(())
}

/// The directory beside an export.
fn beside(file: &str) -> PathBuf {
    PathBuf::from(format!("{file}.files"))
}

/// Copies the files of exported sessions, or says how many were left out.
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
        print::notice(&format!("{files} mentioned in messages, but no longer kept"));
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

/// Takes the files of imported sessions from beside the export; `false` when one of them is not
/// what it should be. Sessions that were there already get back what they lost.
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
        complain(&done);
    } else {
        tell("Took", "from", &done, &folder);
    }
    Ok(done.problems.is_empty())
}

/// On standard error: standard output may be the export itself, or a JSON value.
fn tell(did: &str, way: &str, done: &CopiedFiles, folder: &Path) {
    if !done.copied.is_empty() {
        let files = counted(count(&done.copied), "file");
        term::complain(&format!("{did} {files} {way} {}", printable(&folder.to_string_lossy())));
    }
    complain(done);
}

fn complain(done: &CopiedFiles) {
    for problem in &done.problems {
        print::notice(&format!("not copied: {}", problem));
    }
}

fn count(names: &[String]) -> u64 {
    u64::try_from(names.len()).unwrap_or_default()
}
