//! `hermes sessions files`: the files of long tool results.

mod copies;

pub(super) use copies::{after_export, after_import, require_folder};

use crate::confirm::confirm;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use clap::{Args, Subcommand};
use hermes_store::{FileKind, FileRule, PrunableFile, SessionDb, StoredFile};
use hermes_terminal::print::{self, Column, Table};
use hermes_terminal::term::{self, Style};
use hermes_terminal::text::{counted, local_time, size};
use serde_json::{Value, json};

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum FilesCommand {
    /// List the files with size, last write and sessions
    List,
    /// Remove files permanently
    ///
    /// Without --older-than, --max-mb and --orphans, the settings `sessions.files_retention_days` and
    /// `sessions.files_max_mb` apply, as they do once a day automatically. Files that a running session may need are
    /// kept. Messages that refer to a removed file stay as they are.
    Prune(FilesPruneArgs),
}

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes sessions files prune --older-than 30 --dry-run
  hermes sessions files prune --max-mb 500
  hermes sessions files prune --orphans --yes")]
pub(crate) struct FilesPruneArgs {
    /// Remove files last written more than this many days ago
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
    /// Remove the oldest files until the rest has at most this many MiB
    #[arg(long, value_name = "N")]
    max_mb: Option<u32>,
    /// Remove files that no stored message refers to
    #[arg(long)]
    orphans: bool,
    /// List the files without removing them
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

pub(super) async fn run(
    store: &SessionDb,
    command: Option<FilesCommand>,
    settings: FileRule,
    common: &Common,
) -> Result<Exit, Failure> {
    match command {
        None | Some(FilesCommand::List) => {
            print(&store.files().await?, common);
            Ok(Exit::Answered)
        }
        Some(FilesCommand::Prune(wanted)) => prune(store, &wanted, settings, common).await,
    }
}

/// Prints files; `false` means that standard output is closed.
pub(super) fn print(files: &[StoredFile], common: &Common) -> bool {
    if common.json {
        let rows: Vec<Value> = files.iter().map(file_json).collect();
        return print::json(&json!(rows));
    }
    if files.is_empty() {
        return term::print_line("No files; long tool results create them.");
    }
    let heading = TABLE.heading(Style::for_stream(&std::io::stdout()));
    let rows = files.iter().map(|file| line(file, &users(file)));
    print::lines(std::iter::once(heading).chain(rows))
        && term::print_line(&sum(files.len(), files.iter().map(|file| file.bytes).sum()))
}

const TABLE: Table<'static> = Table::new(&[
    Column::left("File", 36),
    Column::right("Size", 9),
    Column::left("Last written", 16),
    Column::left("Sessions", 0),
]);

fn line(file: &StoredFile, note: &str) -> String {
    TABLE.row(&[&file.name, &size(file.bytes), &local_time(file.used_at), note])
}

fn users(file: &StoredFile) -> String {
    match (file.kind, file.sessions.as_slice()) {
        (FileKind::Growing, _) => "(incomplete)".to_owned(),
        (FileKind::Other, _) => "(not written by this version)".to_owned(),
        (FileKind::Content, []) => "(orphan: no message refers to it)".to_owned(),
        (FileKind::Content, [one]) => one.to_string(),
        (FileKind::Content, [one, rest @ ..]) => format!("{one} and {} more", rest.len()),
    }
}

fn sum(count: usize, bytes: u64) -> String {
    format!("{}, {}", counted(count, "file"), size(bytes))
}

fn file_json(file: &StoredFile) -> Value {
    json!({ "name": file.name, "kind": file.kind.as_str(), "bytes": file.bytes, "used_at": file.used_at,
        "sessions": file.sessions, "orphan": file.is_orphan() })
}

async fn prune(
    store: &SessionDb,
    wanted: &FilesPruneArgs,
    settings: FileRule,
    common: &Common,
) -> Result<Exit, Failure> {
    let rule = rule(wanted, settings);
    let found = store.prunable_files(rule).await?;
    let bytes = found.iter().map(|old| old.file.bytes).sum();
    if !common.json {
        list(&found, bytes);
    }
    if wanted.dry_run || found.is_empty() {
        report_json(&found, &[], common);
        return Ok(Exit::Answered);
    }
    let question = || format!("Remove {} permanently?", sum(found.len(), bytes));
    if !wanted.yes && !confirm(&question(), "add --yes to remove them, or --dry-run to list them")? {
        term::print_error("Not removed.");
        return Ok(Exit::FailedTurn);
    }
    let chosen: Vec<String> = found.iter().map(|old| old.file.name.clone()).collect();
    let gone = store.prune_files(rule, &chosen).await?;
    report_json(&found, &gone, common);
    if !common.json {
        let went = found.iter().filter(|old| gone.contains(&old.file.name));
        term::print_line(&format!("Removed {}", sum(gone.len(), went.map(|old| old.file.bytes).sum())));
    }
    Ok(Exit::Answered)
}

/// The rule of the flags, or that of the settings without flags.
fn rule(wanted: &FilesPruneArgs, settings: FileRule) -> FileRule {
    let asked = FileRule {
        older_than_days: wanted.older_than,
        max_bytes: wanted.max_mb.map(|mebibytes| u64::from(mebibytes) << 20),
        orphans: wanted.orphans,
    };
    if asked == FileRule::default() { settings } else { asked }
}

fn list(found: &[PrunableFile], bytes: u64) {
    if found.is_empty() {
        term::print_line("No files to remove.");
        return;
    }
    let shown = print::lines(found.iter().map(|old| line(&old.file, old.reason.as_str())));
    if shown {
        term::print_line(&format!("{} to remove", sum(found.len(), bytes)));
    }
}

fn report_json(found: &[PrunableFile], gone: &[String], common: &Common) {
    if common.json {
        let row = |old: &PrunableFile| {
            json!({ "name": old.file.name, "bytes": old.file.bytes, "used_at": old.file.used_at,
                "reason": old.reason.as_str() })
        };
        let rows: Vec<Value> = found.iter().map(row).collect();
        let bytes: u64 = found.iter().map(|old| old.file.bytes).sum();
        let report = json!({ "prunable": rows, "prunable_bytes": bytes, "removed": gone });
        print::json(&report);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_override_the_settings() {
        let settings = FileRule { older_than_days: Some(30), max_bytes: Some(5), orphans: false };
        let asked = |older_than, max_mb, orphans| FilesPruneArgs {
            older_than,
            max_mb,
            orphans,
            dry_run: false,
            yes: true,
        };
        for (wanted, want) in [
            (asked(None, None, false), settings),
            (asked(Some(0), None, false), FileRule { older_than_days: Some(0), ..FileRule::default() }),
            (asked(None, Some(2), false), FileRule { max_bytes: Some(2 << 20), ..FileRule::default() }),
            (asked(None, None, true), FileRule { orphans: true, ..FileRule::default() }),
        ] {
            assert_eq!(rule(&wanted, settings), want, "{wanted:?}");
        }
    }
}
