//! When a command is over its time, and why.

use super::record::How;
use std::time::Duration;
use tokio::time::Instant;

/// The times that bound a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// When its gate was opened; its shell was made a moment before.
    pub(crate) since: Instant,
    pub(crate) timeout: Duration,
    /// Since when its owner is gone.
    pub(crate) orphaned: Option<Instant>,
    pub(crate) grace: Duration,
}

impl Limits {
    /// The moment at which the command is ended; `None` if that is too far away to be a time.
    pub(crate) fn end(&self) -> Option<(Instant, How)> {
        let own = self.since.checked_add(self.timeout).map(|at| (at, How::TimedOut));
        let orphan = self.orphaned.and_then(|at| at.checked_add(self.grace)).map(|at| (at, How::Orphaned));
        match (own, orphan) {
            (Some(own), Some(orphan)) => Some(if own.0 <= orphan.0 { own } else { orphan }),
            (own, orphan) => own.or(orphan),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_of_timeout_and_grace_ends_a_command() {
        let since = Instant::now();
        let after = |seconds| since + Duration::from_secs(seconds);
        for (timeout, orphaned, grace, want) in [
            (10, None, 600, Some((10, How::TimedOut))),
            (10, Some(3), 600, Some((10, How::TimedOut))),
            (1000, Some(3), 600, Some((603, How::Orphaned))),
            (1000, Some(3), 0, Some((3, How::Orphaned))),
            (603, Some(3), 600, Some((603, How::TimedOut))),
            (u64::MAX, None, 600, None),
            (u64::MAX, Some(1), 600, Some((601, How::Orphaned))),
        ] {
            let limits = Limits {
                since,
                timeout: Duration::from_secs(timeout),
                orphaned: orphaned.map(after),
                grace: Duration::from_secs(grace),
            };
            let want = want.map(|(at, how)| (after(at), how));
            assert_eq!(limits.end(), want, "{timeout} {orphaned:?} {grace}");
        }
    }
}
