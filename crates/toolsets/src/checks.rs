//! Results of availability checks, kept for a while.
//!
//! A check that fails shortly after it succeeded is not believed yet: a program that is being updated, or a server that
//! restarts, would otherwise take its tools from every session that starts in that moment.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time for which a result is used again.
const FRESH: Duration = Duration::from_secs(30);
/// The time after a success in which a failure is not believed.
const GRACE: Duration = Duration::from_secs(60);

/// The result of a check: what is missing, if anything.
pub(crate) type Missing = Option<String>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Checked {
    at: Instant,
    missing: Missing,
    succeeded_at: Option<Instant>,
}

/// The newest result of each check.
#[derive(Debug, Default)]
pub(crate) struct Checks(Mutex<BTreeMap<&'static str, Checked>>);

impl Checks {
    /// The result of a check at `now`, which runs only if the last one is too old.
    pub(crate) fn result(
        &self,
        name: &'static str,
        now: Instant,
        check: impl FnOnce() -> Missing,
    ) -> Missing {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let checked = next(all.get(name), now, check);
        let missing = checked.missing.clone();
        all.insert(name, checked);
        missing
    }
}

/// The result after `last`.
fn next(last: Option<&Checked>, now: Instant, check: impl FnOnce() -> Missing) -> Checked {
    if let Some(last) = last.filter(|last| now.saturating_duration_since(last.at) < FRESH) {
        return last.clone();
    }
    let succeeded_at = last.and_then(|last| last.succeeded_at);
    match check() {
        None => Checked { at: now, missing: None, succeeded_at: Some(now) },
        Some(_) if succeeded_at.is_some_and(|at| now.saturating_duration_since(at) < GRACE) => {
            Checked { at: now, missing: None, succeeded_at }
        }
        missing => Checked { at: now, missing, succeeded_at },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_kept_and_short_failures_are_not_believed() {
        let begun = Instant::now();
        let checks = Checks::default();
        // Seconds, the state of the machine then, the expected result, and whether the check runs.
        for (second, is_there, want, runs) in [
            (0, true, true, true),
            (29, false, true, false),
            (30, false, true, true),
            (59, false, true, false),
            (60, false, false, true),
            (61, true, false, false),
            (90, true, true, true),
            (125, false, true, true),
            (156, false, false, true),
        ] {
            let mut ran = false;
            let missing = checks.result("x", begun + Duration::from_secs(second), || {
                ran = true;
                (!is_there).then(|| "x".to_owned())
            });
            assert_eq!((missing.is_none(), ran), (want, runs), "after {second} s");
        }
    }

    #[test]
    fn failure_without_success_before_is_believed_at_once() {
        let checks = Checks::default();
        let now = Instant::now();
        assert_eq!(checks.result("x", now, || Some("gone".to_owned())), Some("gone".to_owned()));
        assert_eq!(checks.result("y", now, || None), None);
    }
}
