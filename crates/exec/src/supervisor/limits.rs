//! The time limits of a command.

use super::record::EndReason;
use std::time::Duration;
use tokio::time::Instant;

/// The times that bound a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The time at which its gate was opened.
    pub(crate) since: Instant,
    pub(crate) timeout: Duration,
    /// The time since which its owner is gone.
    pub(crate) orphaned: Option<Instant>,
    pub(crate) grace: Duration,
}

impl Limits {
    /// The time at which the command is ended, and the reason; `None` if it is too far in the future.
    pub(crate) fn end(&self) -> Option<(Instant, EndReason)> {
        let own = self.since.checked_add(self.timeout).map(|at| (at, EndReason::TimedOut));
        let orphan =
            self.orphaned.and_then(|at| at.checked_add(self.grace)).map(|at| (at, EndReason::Orphaned));
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
    fn earlier_of_timeout_and_grace_ends_the_command() {
        let since = Instant::now();
        let after = |seconds| since + Duration::from_secs(seconds);
        for (timeout, orphaned, grace, want) in [
            (10, None, 600, Some((10, EndReason::TimedOut))),
            (10, Some(3), 600, Some((10, EndReason::TimedOut))),
            (1000, Some(3), 600, Some((603, EndReason::Orphaned))),
            (1000, Some(3), 0, Some((3, EndReason::Orphaned))),
            (603, Some(3), 600, Some((603, EndReason::TimedOut))),
            (u64::MAX, None, 600, None),
            (u64::MAX, Some(1), 600, Some((601, EndReason::Orphaned))),
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
