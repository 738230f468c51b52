//! Disk usage, and the integrity of stored files.

use super::{Finding, bad, good};
use hermes_runtime::Home;
use hermes_store::{FilesHealth, check_files};
use hermes_terminal::text::{counted, size};
use serde_json::json;
use std::path::Path;

/// Limit of bytes whose digests are checked, for a second or two.
const BUDGET: u64 = 512 << 20;
/// Number of damaged files that are named.
const SHOWN: usize = 3;
const COPY: &str = "state.db.bak-v";

/// The sizes of all stores, and the state of the files of long tool results.
pub(super) async fn findings(home: &Home) -> Vec<Finding> {
    let (db, results) = (home.state_db(), home.results_dir());
    let examined = tokio::task::spawn_blocking(move || check_files(&db, &results, BUDGET)).await;
    let Ok(files) = examined else {
        return vec![bad("files", format!("{} could not be examined", home.results_dir().display()))];
    };
    vec![files_finding(home, &files), sizes_finding(home, &files)]
}

fn files_finding(home: &Home, files: &FilesHealth) -> Finding {
    let folder = home.results_dir();
    let details = json!({ "files": files.files, "bytes": files.bytes, "orphans": files.orphans,
        "orphan_bytes": files.orphan_bytes, "growing": files.growing, "damaged": files.damaged,
        "unchecked": files.unchecked, "problems": files.problems });
    let wrong = wrong_with(files);
    let text = if wrong.is_empty() { kept(files) } else { format!("{}: {wrong}", folder.display()) };
    Finding { ok: wrong.is_empty(), details: Some(details), ..good("files", text) }
}

fn kept(files: &FilesHealth) -> String {
    if files.files == 0 {
        return "no files of long tool results".to_owned();
    }
    let checked = match files.unchecked {
        0 => "all intact".to_owned(),
        left => format!("intact as far as checked ({} not checked)", counted(left, "file")),
    };
    format!(
        "{} of long tool results, {}, {} ({}), {} incomplete, {checked}",
        counted(files.files, "file"),
        size(files.bytes),
        counted(files.orphans.unwrap_or_default(), "orphan"),
        size(files.orphan_bytes),
        files.growing
    )
}

/// The warnings; empty if all is well.
fn wrong_with(files: &FilesHealth) -> String {
    let mut wrong = files.problems.clone();
    if !files.damaged.is_empty() {
        let count = u64::try_from(files.damaged.len()).unwrap_or_default();
        let shown: Vec<&str> = files.damaged.iter().take(SHOWN).map(String::as_str).collect();
        let more = if files.damaged.len() > SHOWN { ", …" } else { "" };
        wrong.push(format!(
            "{} changed after being written ({}{more}); remove those that are not needed",
            counted(count, "file"),
            shown.join(", ")
        ));
    }
    wrong.join("; ")
}

fn sizes_finding(home: &Home, files: &FilesHealth) -> Finding {
    let of = |name: &str| bytes_of(&home.path().join(name));
    let (store, log, search) = (of("state.db"), of("state.db-wal"), of("search.db"));
    let (copies, copied) = backups(home.path());
    let details = json!({ "state_db": store, "state_db_log": log, "search_db": search,
        "results": files.bytes, "backups": copies, "backup_bytes": copied });
    let text = format!(
        "state.db {} + {} log, search.db {}, results {}, {} {}",
        size(store),
        size(log),
        size(search),
        size(files.bytes),
        counted(copies, "backup"),
        size(copied)
    );
    Finding { details: Some(details), ..good("sizes", text) }
}

/// The number and size of the copies made before upgrades.
fn backups(home: &Path) -> (u64, u64) {
    let entries = std::fs::read_dir(home).into_iter().flatten().flatten();
    let copies = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(COPY));
    copies.fold((0, 0), |(count, bytes), copy| (count + 1, bytes + bytes_of(&copy.path())))
}

fn bytes_of(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_of_files_is_described() {
        let some =
            FilesHealth { files: 2, bytes: 2048, orphans: Some(1), orphan_bytes: 48, ..Default::default() };
        for (files, want, ok) in [
            (FilesHealth::default(), "no files of long tool results", true),
            (
                some.clone(),
                "2 files of long tool results, 2 KiB, 1 orphan (48 B), 0 incomplete, all intact",
                true,
            ),
            (
                FilesHealth { unchecked: 1, growing: 1, ..some.clone() },
                "2 files of long tool results, 2 KiB, 1 orphan (48 B), 1 incomplete, \
                 intact as far as checked (1 file not checked)",
                true,
            ),
            (
                FilesHealth { damaged: vec!["x.txt".into()], problems: vec!["no room".into()], ..some },
                "/h/cache/terminal/hermes-results: no room; 1 file changed after being written (x.txt); \
                 remove those that are not needed",
                false,
            ),
        ] {
            let finding = files_finding(&Home::at("/h"), &files);
            assert_eq!((finding.text.as_str(), finding.ok), (want, ok));
        }
    }
}
