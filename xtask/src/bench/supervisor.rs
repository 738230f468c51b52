//! The CPU time of the supervisor of a home directory and its commands, which are not children of the measured
//! process.

use crate::home::Home;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The process that holds the supervisor's lock, with its CPU time and that of its commands so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Supervisor {
    id: u32,
    cpu: Duration,
}

impl Supervisor {
    /// The supervisor of this home directory, if it runs.
    pub(super) fn of(home: &Home) -> Option<Self> {
        let lock = home.hermes().join("commands/supervisor.lock");
        let ids = fs::read_dir("/proc")
            .ok()?
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id: &u32| holds(*id, &lock)).find_map(|id| Some(Self { id, cpu: cpu(id)? }))
    }

    /// The CPU time between two samples. A new process began with zero.
    pub(super) fn used(before: Option<Self>, after: Option<Self>) -> Duration {
        match (before, after) {
            (Some(before), Some(after)) if before.id == after.id => after.cpu.saturating_sub(before.cpu),
            (_, Some(after)) => after.cpu,
            (_, None) => Duration::ZERO,
        }
    }
}

fn holds(id: u32, lock: &Path) -> bool {
    let open = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    open.into_iter().any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target == lock))
}

/// The time of the process and its collected children, in ticks of ten milliseconds.
fn cpu(id: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let ticks = ticks(&stat)?;
    Some(Duration::from_millis(ticks * 10))
}

fn ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let numbers: Vec<u64> =
        after_name.split_whitespace().skip(11).take(4).map_while(|word| word.parse().ok()).collect();
    (numbers.len() == 4).then(|| numbers.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_parse_with_any_process_name() {
        let stat = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0";
        assert_eq!(ticks(stat), Some(127));
        assert_eq!(ticks("12 (a) S 1"), None);
    }

    #[test]
    fn only_time_between_samples_counts() {
        let at = |id, millis| Some(Supervisor { id, cpu: Duration::from_millis(millis) });
        let used = |before, after| Supervisor::used(before, after).as_millis();
        assert_eq!(used(at(1, 30), at(1, 50)), 20);
        assert_eq!(used(at(1, 30), at(2, 10)), 10);
        assert_eq!(used(None, at(2, 10)), 10);
        assert_eq!(used(at(1, 30), None), 0);
    }
}
