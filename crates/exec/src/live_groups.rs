//! The process groups of all running commands of this process, and its supervisors.
//!
//! For a program that must exit immediately: `process::exit` does not drop futures, so nothing else would end
//! their commands.

use crate::Group;
use crate::supervisor::{Shared, Supervised};
use rustix::process::Signal;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

static LIVE: Mutex<Vec<Group>> = Mutex::new(Vec::new());
static SUPERVISED: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// Kills every process of every running command without waiting for its end; supervisors are asked to do so,
/// within a second. For use right before the process exits; commands that are started meanwhile are not killed.
pub fn kill_all() {
    let groups = live().clone();
    // Twice, for processes that were forked into a new group during the first pass.
    for _ in 0..2 {
        for group in &groups {
            group.signal(Signal::KILL);
        }
    }
    for supervised in supervised().iter().filter_map(Supervised::upgrade) {
        supervised.leave_now();
    }
}

pub(crate) fn add_supervised(new: &Supervised) {
    let mut all = supervised();
    all.retain(|other| other.strong_count() > 0);
    all.push(new.downgrade());
}

fn supervised() -> MutexGuard<'static, Vec<Weak<Shared>>> {
    SUPERVISED.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn add(group: Group) {
    live().push(group);
}

pub(crate) fn remove(group: &Group) {
    live().retain(|other| other != group);
}

fn live() -> MutexGuard<'static, Vec<Group>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(crate) fn contains(group: &Group) -> bool {
    live().contains(group)
}
