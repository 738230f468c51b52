//! The process groups of all commands that run now, in the whole process, and the supervisors that
//! run others for it.
//!
//! For a program that must go at once: futures are not dropped by `process::exit`, so nothing
//! else would end what they started.

use crate::Group;
use crate::supervisor::{Shared, Supervised};
use rustix::process::Signal;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

static LIVE: Mutex<Vec<Group>> = Mutex::new(Vec::new());
static SUPERVISED: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// Kills every process of every command that runs now, without waiting for their end; supervisors are
/// told to, and given a second to hear it. Meant for the moment before the process exits; commands
/// that are started meanwhile are not reached.
pub fn kill_all() {
    let groups = live().clone();
    // Twice, for what was forked into a group of its own while the first look was taken.
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
