//! What the supervisor of a home and its commands took. It is nobody's child, so no one is told by the system.

use crate::home::Home;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The process that holds the supervisor's lock, and its CPU and that of its commands so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Supervisor {
    id: u32,
    cpu: Duration,
}

impl Supervisor {
    /// The supervisor of this home, if it is there.
    pub(super) fn of(home: &Home) -> Option<Self> {
        let lock = home.hermes().join("commands/supervisor.lock");
        let ids = fs::read_dir("/proc")
            .ok()?
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id: &u32| holds(*id, &lock)).find_map(|id| Some(Self { id, cpu: cpu(id)? }))
    }

    /// What was used between two looks. Another process began with nothing.
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

/// Own and waited-for children's time, in ticks of ten milliseconds.
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
    fn ticks_are_read_behind_any_name() {
        let stat = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0";
        assert_eq!(ticks(stat), Some(127));
        assert_eq!(ticks("12 (a) S 1"), None);
    }

    #[test]
    fn only_what_was_used_in_between_counts() {
        let at = |id, millis| Some(Supervisor { id, cpu: Duration::from_millis(millis) });
        let used = |before, after| Supervisor::used(before, after).as_millis();
        assert_eq!(used(at(1, 30), at(1, 50)), 20);
        assert_eq!(used(at(1, 30), at(2, 10)), 10);
        assert_eq!(used(None, at(2, 10)), 10);
        assert_eq!(used(at(1, 30), None), 0);
    }
}
