//! Names processes so that a reused process id is not mistaken for its former owner.

use hermes_conversation::Owner;
use std::fs;

/// Judges whether the process that took a lease still runs.
pub type Liveness = fn(&Owner) -> bool;

/// This process, as the owner of leases.
pub fn this_process() -> Owner {
    let pid = std::process::id();
    Owner { pid, started: start_of(pid).unwrap_or_default(), boot: boot() }
}

/// Whether `owner` still runs: same boot, same process id, same start. Where there is no `/proc`
/// nobody counts as alive, and only the generation keeps two writers apart.
pub fn is_alive(owner: &Owner) -> bool {
    owner.boot == boot() && start_of(owner.pid) == Some(owner.started)
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
}

fn start_of(pid: u32) -> Option<u64> {
    start_in(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The start time in a `stat` line. The command name may hold anything, brackets and spaces too,
/// so counting begins after its last bracket. A process that ended but was not yet reaped cannot
/// write any more and has no start.
fn start_in(stat: &str) -> Option<u64> {
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_is_found_behind_any_name() {
        let tail = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20";
        for (head, want) in [
            ("7 (hermes) S", Some(4242)),
            ("7 (a) b) (c) R", Some(4242)),
            ("7 (gone) Z", None),
            ("7 hermes S", None),
        ] {
            assert_eq!(start_in(&format!("{head} {tail}")), want, "{head}");
        }
    }

    #[test]
    fn this_process_is_alive_and_its_namesakes_are_not() {
        let me = this_process();
        assert!(is_alive(&me));
        for other in [
            Owner { started: me.started + 1, ..me.clone() },
            Owner { boot: "before".into(), ..me.clone() },
            Owner { pid: u32::MAX, ..me.clone() },
        ] {
            assert!(!is_alive(&other), "{other:?}");
        }
    }
}
