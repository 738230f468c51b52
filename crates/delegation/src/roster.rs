//! The sub-agents that run in this process, by number.

use hermes_conversation::SessionId;
use hermes_processes::Bell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The running sub-agents of all sessions of this process. Cheap to clone.
#[derive(Clone, Default)]
pub struct Roster(Arc<Shared>);

#[derive(Default)]
struct Shared {
    entries: Mutex<Entries>,
    bell: Bell,
}

#[derive(Default)]
struct Entries {
    last: u32,
    all: Vec<Entry>,
}

struct Entry {
    number: u32,
    session: SessionId,
    goal: String,
    is_background: bool,
    begun: Instant,
    cancel: CancellationToken,
}

/// A running sub-agent, for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningSubAgent {
    pub number: u32,
    pub goal: String,
    pub is_background: bool,
    pub uptime: Duration,
}

/// A sub-agent that runs until this is dropped.
pub struct Running {
    roster: Roster,
    pub number: u32,
    /// Stops this sub-agent.
    pub cancel: CancellationToken,
}

impl Roster {
    /// Enters a sub-agent of a session. `cancel` stops it.
    pub fn enter(
        &self,
        session: &SessionId,
        goal: &str,
        is_background: bool,
        cancel: CancellationToken,
    ) -> Running {
        let mut entries = self.lock();
        entries.last += 1;
        let number = entries.last;
        entries.all.push(Entry {
            number,
            session: session.clone(),
            goal: goal.to_owned(),
            is_background,
            begun: Instant::now(),
            cancel: cancel.clone(),
        });
        Running { roster: self.clone(), number, cancel }
    }

    /// The running sub-agents of a session, in the order of their numbers.
    pub fn of_session(&self, session: &SessionId) -> Vec<RunningSubAgent> {
        let entries = self.lock();
        let own = entries.all.iter().filter(|entry| entry.session == *session);
        own.map(|entry| RunningSubAgent {
            number: entry.number,
            goal: entry.goal.clone(),
            is_background: entry.is_background,
            uptime: entry.begun.elapsed(),
        })
        .collect()
    }

    /// Stops a sub-agent of a session. Returns its goal; `None` if none that runs has the number.
    pub fn stop(&self, session: &SessionId, number: u32) -> Option<String> {
        let entries = self.lock();
        let found = entries.all.iter().find(|entry| entry.session == *session && entry.number == number)?;
        found.cancel.cancel();
        Some(found.goal.clone())
    }

    /// Stops all background sub-agents of a session. Returns their number.
    pub fn stop_background(&self, session: &SessionId) -> usize {
        let entries = self.lock();
        let own = entries.all.iter().filter(|entry| entry.session == *session && entry.is_background);
        own.map(|entry| entry.cancel.cancel()).count()
    }

    /// The session goes on under another id.
    pub fn rename(&self, session: &SessionId, to: &SessionId) {
        for entry in self.lock().all.iter_mut().filter(|entry| entry.session == *session) {
            entry.session = to.clone();
        }
    }

    /// Returns true if a report may come for a session, or has come that it has not looked at.
    pub fn may_notice(&self, session: &SessionId) -> bool {
        // In this order: a sub-agent leaves only after its report is stored.
        let is_working = |entry: &Entry| entry.is_background && entry.session == *session;
        self.lock().all.iter().any(is_working) || self.0.bell.has(session)
    }

    /// Returns true if a report was stored for a session since this was last asked.
    pub fn take_noticed(&self, session: &SessionId) -> bool {
        self.0.bell.take(session)
    }

    /// Waits until a report is stored for a session.
    pub async fn noticed(&self, session: &SessionId) {
        self.0.bell.wait(session).await;
    }

    /// A report was stored for a session.
    pub(crate) fn ring(&self, session: SessionId) {
        self.0.bell.ring(session);
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.roster.lock().all.retain(|entry| entry.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_agents_are_listed_and_stopped_by_number() {
        let (roster, own, other) = (Roster::default(), SessionId::new("a"), SessionId::new("b"));
        let enter = |session, goal, is_background| {
            roster.enter(session, goal, is_background, CancellationToken::new())
        };
        let (first, second) = (enter(&own, "one", false), enter(&own, "two", true));
        let third = enter(&other, "three", true);
        let listed: Vec<(u32, String)> =
            roster.of_session(&own).into_iter().map(|one| (one.number, one.goal)).collect();
        assert_eq!(listed, [(1, "one".to_owned()), (2, "two".to_owned())]);
        assert_eq!(roster.stop(&own, third.number), None, "it is of another session");
        assert_eq!(roster.stop(&own, 1).as_deref(), Some("one"));
        assert!(first.cancel.is_cancelled() && !second.cancel.is_cancelled());
        assert_eq!(roster.stop_background(&own), 1);
        assert!(second.cancel.is_cancelled() && !third.cancel.is_cancelled());
        drop(first);
        assert_eq!(roster.stop(&own, 1), None);
        assert!(roster.may_notice(&own));
        roster.rename(&own, &other);
        assert_eq!(roster.of_session(&other).len(), 2);
        drop((second, third));
        assert!(!roster.may_notice(&other));
        roster.ring(other.clone());
        assert!(roster.may_notice(&other) && roster.take_noticed(&other) && !roster.may_notice(&other));
    }
}
