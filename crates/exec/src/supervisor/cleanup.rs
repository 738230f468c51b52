//! Cleanup after a previous supervisor.
//!
//! A supervisor that was killed leaves records without an end, and perhaps processes. The outcome of those
//! commands is unknown, so their processes are killed and the records say so.

use super::command_processes::mark_of;
use super::error::SuperviseError;
use super::paths::SupervisorPaths;
use super::record::{CommandFile, End, write_end};
use super::spec::{Key, SupervisorSettings};
use crate::group::{Stat, pid, processes};
use crate::reap;
use rustix::process::{Signal, kill_process};
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const PATIENCE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(10);
const LOST: &str = "the supervisor that ran it was lost";

/// Closes open records and removes old ones. Must be called before the first command.
pub(crate) async fn clean_up(
    paths: &SupervisorPaths,
    settings: &SupervisorSettings,
) -> Result<(), SuperviseError> {
    let listed =
        std::fs::read_dir(&paths.spool).map_err(SuperviseError::io("list the records of commands"))?;
    for path in listed.filter_map(|entry| Some(entry.ok()?.path())) {
        let Some(key) = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| Key::new(stem).ok())
        else {
            continue;
        };
        let file = CommandFile::of(&paths.spool, &key);
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("cmd") => close(paths, settings, &key, &file).await,
            // A temporary file: its command never ran, and no client knows of it.
            Some("new") => remove(&path),
            _ => {}
        }
    }
    Ok(())
}

async fn close(paths: &SupervisorPaths, settings: &SupervisorSettings, key: &Key, file: &CommandFile) {
    let recorded = match file.read() {
        Ok(Some(recorded)) => recorded,
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(%error, "a record stays as it is");
            return;
        }
    };
    if recorded.end.is_some() {
        if is_older(&file.path, settings.keep)
            && let Err(error) = file.remove()
        {
            tracing::warn!(%error, key = key.as_str(), "an old record stays");
        }
        return;
    }
    reap(&recorded.prepared.group).await;
    kill_marked(&format!("{}:{}", paths.tag(), key.as_str())).await;
    let end = End::unknown(file.output(), LOST);
    if let Err(error) = file.reopen().and_then(|open| write_end(&open, &end)) {
        tracing::warn!(%error, key = key.as_str(), "the end of a command could not be written down");
    }
}

/// Kills processes that left the group and the session of their command.
async fn kill_marked(mark: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let is_ours = |id: &u32| {
            Stat::of(*id).is_ok_and(|stat| stat.is_alive()) && mark_of(*id).is_some_and(|found| found == mark)
        };
        let left: Vec<_> = processes().filter(is_ours).filter_map(pid).collect();
        if left.is_empty() || Instant::now() >= deadline {
            return;
        }
        for process in left {
            let _ = kill_process(process, Signal::KILL);
        }
        sleep(POLL).await;
    }
}

fn is_older(path: &Path, age: Duration) -> bool {
    let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|elapsed| elapsed > age))
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        tracing::warn!(%error, path = %path.display(), "a useless file stays");
    }
}
