//! The processes of each command.
//!
//! The supervisor is the subreaper of its commands: it adopts the processes that their shells leave, so a
//! process cannot escape by starting a new session. An adopted process belongs to a command by its session, its
//! group, or the mark in its environment. A process without any of the three belongs to the last command that
//! can have started it.

use crate::Group;
use crate::group::{Stat, pid, processes};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process, wait, waitid,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The variable that marks the processes of a command.
pub(crate) const MARK: &str = "HERMES_COMMAND";

/// The identity of a running command, by which its processes are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandIdentity {
    pub(crate) group: Group,
    pub(crate) mark: String,
}

#[derive(Debug)]
struct Member {
    name: CommandIdentity,
    exit: Option<oneshot::Sender<WaitStatus>>,
}

/// All commands of this supervisor, by the process id of their shells.
#[derive(Debug, Default)]
pub(crate) struct CommandProcesses(Mutex<BTreeMap<u32, Member>>);

impl CommandProcesses {
    /// Adds a shell. Must be called right after the spawn, so that its exit is not missed.
    pub(crate) fn add(&self, name: CommandIdentity) -> oneshot::Receiver<WaitStatus> {
        let (sender, receiver) = oneshot::channel();
        self.members().insert(name.group.id, Member { name, exit: Some(sender) });
        receiver
    }

    /// Removes a command without processes.
    pub(crate) fn remove(&self, name: &CommandIdentity) {
        self.members().retain(|_, member| member.name != *name);
    }

    /// Collects every child that has exited, own or adopted.
    pub(crate) fn collect(&self) {
        while let Ok(Some((child, status))) = wait(WaitOptions::NOHANG) {
            let id = child.as_raw_nonzero().get().unsigned_abs();
            let exit = self.members().get_mut(&id).and_then(|member| member.exit.take());
            if let Some(exit) = exit {
                let _ = exit.send(status);
            }
        }
    }

    /// Returns true if a command whose shell has exited has processes left. All of them were adopted, so in the
    /// normal case a look at our own children is enough.
    pub(crate) fn has_remnants(&self, name: &CommandIdentity) -> bool {
        if has_no_child() {
            return false;
        }
        let ours: BTreeSet<u32> = self.members().keys().copied().collect();
        match children() {
            Some(children) if children.iter().all(|child| ours.contains(child)) => false,
            _ => !self.remnants(name).is_empty(),
        }
    }

    /// The living processes of a command.
    pub(crate) fn remnants(&self, name: &CommandIdentity) -> Vec<Pid> {
        let others: Vec<CommandIdentity> = self
            .members()
            .values()
            .map(|member| &member.name)
            .filter(|other| *other != name)
            .cloned()
            .collect();
        let me = i64::from(std::process::id());
        if name.group.is_reused() {
            // The session is gone, but not the adopted processes.
            let gone =
                CommandIdentity { group: Group { id: 0, ..name.group.clone() }, mark: name.mark.clone() };
            return claim(&seen(me), me, &gone, &others).into_iter().filter_map(pid).collect();
        }
        claim(&seen(me), me, name, &others).into_iter().filter_map(pid).collect()
    }

    pub(crate) fn signal(&self, name: &CommandIdentity, signal: Signal) {
        for process in self.remnants(name) {
            let _ = kill_process(process, signal);
        }
    }

    /// Kills all children when no command runs: processes that could not be assigned to a command.
    pub(crate) fn kill_strays(&self) {
        let members = self.members();
        if members.is_empty() && !has_no_child() {
            for child in children().unwrap_or_default().into_iter().filter_map(pid) {
                let _ = kill_process(child, Signal::KILL);
            }
        }
    }

    fn members(&self) -> MutexGuard<'_, BTreeMap<u32, Member>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A process and its mark.
#[derive(Debug, Clone)]
struct Seen {
    id: u32,
    stat: Stat,
    mark: Option<String>,
}

/// Lists all processes. Marks are read of our own children only.
fn seen(me: i64) -> Vec<Seen> {
    let look = |id| {
        let stat = Stat::of(id).ok()?;
        let mark = if stat.parent == me { mark_of(id) } else { None };
        Some(Seen { id, stat, mark })
    };
    processes().filter_map(look).collect()
}

/// The ids in `seen` that belong to `command`. `others` run, too.
fn claim(seen: &[Seen], me: i64, command: &CommandIdentity, others: &[CommandIdentity]) -> Vec<u32> {
    let mut claimed: BTreeSet<u32> = seen
        .iter()
        .filter(|process| is_root(process, me, command, others))
        .map(|process| process.id)
        .collect();
    // Descendants of any depth; parents are not always listed before their children.
    loop {
        let before = claimed.len();
        let related = |process: &&Seen| {
            process.stat.is_alive()
                && u32::try_from(process.stat.parent).is_ok_and(|parent| claimed.contains(&parent))
        };
        let more: Vec<u32> = seen.iter().filter(related).map(|process| process.id).collect();
        claimed.extend(more);
        if claimed.len() == before {
            return claimed.into_iter().collect();
        }
    }
}

fn is_root(process: &Seen, me: i64, command: &CommandIdentity, others: &[CommandIdentity]) -> bool {
    let stat = &process.stat;
    let leader = i64::from(command.group.id);
    if !stat.is_alive() || stat.started < command.group.started {
        return false;
    }
    if leader != 0 && (stat.group == leader || stat.session == leader) {
        return true;
    }
    let is_of = |other: &CommandIdentity| {
        let id = i64::from(other.group.id);
        stat.group == id || stat.session == id || process.mark.as_ref() == Some(&other.mark)
    };
    if stat.parent != me || others.iter().any(is_of) {
        return false;
    }
    // Marked as this command's, or without mark: then it belongs to this command unless another one can have
    // started it.
    process.mark.as_ref() == Some(&command.mark)
        || others.iter().all(|other| other.group.started > stat.started)
}

/// Returns true if this process has no child, not even an exited one. Cheaper than listing them.
fn has_no_child() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::All, look).is_err_and(|error| error == Errno::CHILD)
}

/// Our children, if the kernel lists them.
fn children() -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(task.ok()?.path().join("children")).ok()?;
        all.extend(text.split_ascii_whitespace().filter_map(|id| id.parse::<u32>().ok()));
    }
    Some(all)
}

/// The mark in the environment of a process.
pub(crate) fn mark_of(id: u32) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{id}/environ")).ok()?;
    environment.split(|&byte| byte == 0).find_map(|variable| {
        let value = variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"=")?;
        String::from_utf8(value.to_vec()).ok()
    })
}

#[cfg(test)]
#[path = "command_processes_tests.rs"]
mod tests;
