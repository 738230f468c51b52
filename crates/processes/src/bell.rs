//! Wakes the sessions of this process for which a notice was stored.

use hermes_conversation::SessionId;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The sessions with a notice that they have not looked at yet. The notices themselves are in the store.
#[derive(Default)]
pub struct Bell {
    rung: Mutex<HashSet<SessionId>>,
    changed: Notify,
}

impl Bell {
    /// A notice was stored for a session.
    pub fn ring(&self, session: SessionId) {
        self.lock().insert(session);
        self.changed.notify_waiters();
    }

    /// Returns true once after each ring, or after several.
    pub fn take(&self, session: &SessionId) -> bool {
        self.lock().remove(session)
    }

    /// Returns true if there is a ring to take.
    pub fn has(&self, session: &SessionId) -> bool {
        self.lock().contains(session)
    }

    /// Waits for a ring and takes it.
    pub async fn wait(&self, session: &SessionId) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before the look, so that no ring is lost in between.
            changed.as_mut().enable();
            if self.take(session) {
                return;
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn ring_wakes_its_session_once() {
        let (bell, own, other) = (Bell::default(), SessionId::new("a"), SessionId::new("b"));
        let mut waiting = Box::pin(bell.wait(&own));
        assert!(waiting.as_mut().now_or_never().is_none());
        bell.ring(other.clone());
        assert!(waiting.as_mut().now_or_never().is_none());
        bell.ring(own.clone());
        assert!(waiting.now_or_never().is_some());
        assert!(!bell.take(&own) && bell.take(&other));
        // A ring without a waiter is kept.
        bell.ring(own.clone());
        assert!(bell.has(&own) && !bell.has(&other));
        assert!(bell.wait(&own).now_or_never().is_some());
    }
}
