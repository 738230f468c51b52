//! Process groups: identity, members, signals.
//!
//! Every command leads its own session, so its members are found by session as well as by group: a script with
//! job control creates new groups in the same session.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::sync::OnceLock;
use std::time::Duration;

/// A process group, identified so that a reused id is not mistaken for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The process id of the leader, which is also the id of the group and the session.
    pub id: u32,
    /// The start time of the leader in clock ticks since boot.
    pub started: u64,
    pub boot: String,
}

/// The time for which [`reap`] waits for killed processes.
const REAP_PATIENCE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(10);
/// More than 52 numbers and a name can have.
const LONGEST_STAT: usize = 2048;

/// The id of the current boot; empty if the system has none.
pub fn this_boot() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .map(|text| text.trim().to_owned())
            .unwrap_or_default()
    })
}

/// Kills the processes of a command whose owner died, and returns their number.
pub async fn reap(group: &Group) -> usize {
    let mut killed = std::collections::BTreeSet::new();
    let deadline = tokio::time::Instant::now() + REAP_PATIENCE;
    loop {
        let members = group.members();
        if members.is_empty() || tokio::time::Instant::now() >= deadline {
            return killed.len();
        }
        for member in members {
            if kill_process(member, Signal::KILL).is_ok() {
                killed.insert(member.as_raw_nonzero());
            }
        }
        tokio::time::sleep(POLL).await;
    }
}

impl Group {
    /// The group of a newly started leader.
    pub(crate) fn led_by(id: u32) -> std::io::Result<Self> {
        let stat = Stat::of(id)?;
        Ok(Self { id, started: stat.started, boot: this_boot().to_owned() })
    }

    /// The living processes of the group and its session.
    pub(crate) fn members(&self) -> Vec<Pid> {
        self.found(0).into_iter().map(|(process, _)| process).collect()
    }

    /// Returns true if a group that is only seconds old has living members. Process ids increase, so unless
    /// they have just wrapped around, only ids above the leader's are examined: on a busy machine that takes
    /// microseconds instead of milliseconds.
    pub(crate) fn is_alive_when_young(&self) -> bool {
        let first = if newest_process().is_some_and(|newest| newest >= self.id) { self.id } else { 0 };
        !self.found(first).is_empty()
    }

    /// Returns true for a process of the group, and for one that such a process has started.
    pub fn has_started(&self, process: u32) -> bool {
        /// Generations between the leader and the process.
        const DEEPEST: usize = 64;
        let mut next = process;
        for _ in 0..DEEPEST {
            match Stat::of(next) {
                Ok(stat) if self.owns(&stat) => return self.boot == this_boot() && !self.is_reused(),
                Ok(stat) if stat.parent > 1 => next = u32::try_from(stat.parent).unwrap_or_default(),
                _ => return false,
            }
        }
        false
    }

    /// Sends `signal` to every member.
    pub(crate) fn signal(&self, signal: Signal) {
        let members = self.found(0);
        let Some(leader) = pid(self.id) else { return };
        if members.is_empty() {
            return;
        }
        // One call reaches the whole group at once, including processes that are being forked.
        let _ = kill_process_group(leader, signal);
        for (member, stat) in members {
            if stat.group != i64::from(self.id) {
                let _ = kill_process(member, signal);
            }
        }
    }

    fn found(&self, first: u32) -> Vec<(Pid, Stat)> {
        if self.boot != this_boot() || self.is_reused() {
            return Vec::new();
        }
        processes()
            .filter(|&id| id >= first)
            .filter_map(|id| Some((pid(id)?, Stat::of(id).ok()?)))
            .filter(|(_, stat)| self.owns(stat))
            .collect()
    }

    fn owns(&self, stat: &Stat) -> bool {
        let id = i64::from(self.id);
        (stat.group == id || stat.session == id) && stat.is_alive() && stat.started >= self.started
    }

    /// Returns true if no process of the group is left: the kernel does not reuse an id while a group or
    /// session has it, so a process with the leader's id and another start time is a different one.
    pub(crate) fn is_reused(&self) -> bool {
        Stat::of(self.id).is_ok_and(|stat| stat.started != self.started)
    }
}

pub(crate) fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

pub(crate) fn processes() -> impl Iterator<Item = u32> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The process id that was assigned last.
fn newest_process() -> Option<u32> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_ascii_whitespace().last()?.parse().ok()
}

/// Fields of `/proc/<pid>/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) state: char,
    pub(crate) parent: i64,
    pub(crate) group: i64,
    pub(crate) session: i64,
    pub(crate) started: u64,
}

impl Stat {
    pub(crate) fn of(id: u32) -> std::io::Result<Self> {
        // The kernel writes the line at once and has no size for it: one read is enough, and `read_to_string` needs six.
        let mut line = [0; LONGEST_STAT];
        let read = File::open(format!("/proc/{id}/stat"))?.read(&mut line)?;
        let text = line.get(..read).and_then(|line| str::from_utf8(line).ok());
        text.and_then(Self::parse).ok_or_else(|| Errno::INVAL.into())
    }

    /// Parses the fields after the name, which is in parentheses and may contain anything.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        let started = fields.nth(15)?.parse().ok()?;
        Some(Self { state, parent, group, session, started })
    }

    /// Returns false for a zombie, which may remain for ever if it is not collected.
    pub(crate) fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines_parse_with_any_name() {
        let tail = "S 1 2 3 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        for name in ["bash", "a) b (c", "x y"] {
            let stat = Stat::parse(&format!("42 ({name}) {tail}"));
            assert_eq!(
                stat,
                Some(Stat { state: 'S', parent: 1, group: 2, session: 3, started: 4711 }),
                "{name}"
            );
        }
        assert_eq!(Stat::parse("42 (bash) S 1"), None);
    }

    #[tokio::test]
    async fn reap_ignores_other_boots_and_reused_ids() {
        let own = Group::led_by(std::process::id()).unwrap();
        let elsewhere = Group { boot: "another".into(), ..own.clone() };
        let earlier = Group { started: own.started - 1, ..own };
        assert_eq!(reap(&elsewhere).await, 0);
        assert_eq!(reap(&earlier).await, 0);
    }
}
