//! Retention of the files of long tool results, with a daily clean-up.

use crate::{Runtime, RuntimeError};
use hermes_config::home::PRIVATE_FILE;
use hermes_store::FileRule;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The time limit of a clean-up, because the exit waits for it; the rest is removed another day.
const PATIENCE: Duration = Duration::from_secs(2);

impl Runtime {
    /// Returns the limits of the settings. Orphans are removed by age like all others.
    pub fn file_limits(&self) -> Result<FileRule, RuntimeError> {
        let sessions = &self.config().settings.sessions;
        Ok(rule(sessions.files_retention_days.value()?, sessions.files_max_mb.value()?))
    }

    /// Removes expired files, at most once a day. Without any, or before a day has passed, this takes two file
    /// system calls.
    pub async fn tidy_files(&self) {
        let stamp = self.home().cache_dir().join("results-checked");
        let (Some(store), true) = (self.store.get(), self.home().results_dir().is_dir()) else { return };
        if !is_due(last_time(&stamp), SystemTime::now()) {
            return;
        }
        // The stamp is written first, so that only one of two processes that exit together cleans up. If it cannot be
        // written, nothing can be removed either.
        if let (Ok(()), Ok(rule)) = (mark(&stamp), self.file_limits()) {
            store.tidy_files(rule, PATIENCE).await;
        }
    }
}

/// The rule of the two settings; 0 means no limit.
fn rule(days: u64, mebibytes: u64) -> FileRule {
    FileRule {
        older_than_days: (days > 0).then(|| u32::try_from(days).unwrap_or(u32::MAX)),
        max_bytes: (mebibytes > 0).then(|| mebibytes.saturating_mul(1 << 20)),
        orphans: false,
    }
}

fn mark(stamp: &Path) -> std::io::Result<()> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(PRIVATE_FILE).open(stamp)?;
    file.set_modified(SystemTime::now())
}

fn last_time(stamp: &Path) -> Option<SystemTime> {
    std::fs::metadata(stamp).and_then(|stamp| stamp.modified()).ok()
}

/// A stamp in the future is ignored: the clock was set back.
fn is_due(last: Option<SystemTime>, now: SystemTime) -> bool {
    last.and_then(|last| now.duration_since(last).ok()).is_none_or(|age| age >= DAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    #[test]
    fn settings_become_limits() {
        for (days, mebibytes, want) in [
            (30, 2, (Some(30), Some(2 << 20))),
            (0, 0, (None, None)),
            (u64::MAX, u64::MAX, (Some(u32::MAX), Some(u64::MAX))),
        ] {
            let rule = rule(days, mebibytes);
            assert_eq!((rule.older_than_days, rule.max_bytes), want, "{days:?} {mebibytes:?}");
        }
    }

    #[test]
    fn clean_up_runs_once_a_day() {
        let day = |days: f64| UNIX_EPOCH + DAY.mul_f64(days);
        for (last, want) in [
            (None, true),
            (Some(day(9.5)), false),
            (Some(day(9.0)), true),
            (Some(day(10.0)), false),
            (Some(day(11.0)), true),
        ] {
            assert_eq!(is_due(last, day(10.0)), want, "{last:?}");
        }
    }
}
