//! Process identity: pid, start time and boot id, so that a reused pid is not mistaken for its former owner.

use hermes_conversation::Owner;
use std::fs;

/// Decides if the owner of a lease is alive.
pub type Liveness = fn(&Owner) -> bool;

/// Returns the identity of this process.
pub fn this_process() -> Owner {
    let pid = std::process::id();
    Owner { pid, started: start_of(pid).unwrap_or_default(), boot: boot() }
}

/// Returns true if `owner` still runs: same boot, pid and start time. Without `/proc` every owner counts as
/// dead, and only the generation protects against two writers.
pub fn is_alive(owner: &Owner) -> bool {
    owner.boot == boot() && start_of(owner.pid) == Some(owner.started)
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
}

fn start_of(pid: u32) -> Option<u64> {
    start_in(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses the start time in a `stat` line. The command name may contain brackets and spaces, so counting
/// begins after its last bracket. A zombie cannot write any more and counts as ended.
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
    fn start_time_is_parsed_after_any_command_name() {
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
    fn process_with_other_start_boot_or_pid_is_not_alive() {
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
