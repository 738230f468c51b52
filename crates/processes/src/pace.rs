//! Limits for notices of output. Times are durations since any fixed moment.

use std::collections::VecDeque;
use std::time::Duration;

/// The least time between two notices of one process.
const BETWEEN: Duration = Duration::from_secs(15);
/// Consecutive periods with suppressed output after which a process is no longer watched.
const STRIKES: u32 = 3;
/// Notices of all processes within `WITHIN`; then `SILENCE`.
const MOST: usize = 15;
const WITHIN: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(30);

/// The decision about output that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Send a notice, which also tells of this many suppressed matches.
    Notify {
        suppressed: u32,
    },
    Suppress,
    /// The output matches too often: tell of the end only.
    OnlyTheEnd,
}

/// The notices of one process.
#[derive(Debug, Default)]
pub(crate) struct ProcessPace {
    last: Option<Duration>,
    suppressed: u32,
    strikes: u32,
}

impl ProcessPace {
    /// Decides about a match at the time `now`.
    pub(crate) fn decide(&mut self, now: Duration, all: &mut SharedPace) -> Decision {
        if self.last.is_some_and(|last| now < last + BETWEEN) {
            if self.suppressed == 0 {
                self.strikes += 1;
            }
            self.suppressed += 1;
            return if self.strikes >= STRIKES { Decision::OnlyTheEnd } else { Decision::Suppress };
        }
        if self.suppressed == 0 {
            self.strikes = 0;
        }
        if !all.allows(now) {
            self.suppressed += 1;
            return Decision::Suppress;
        }
        self.last = Some(now);
        Decision::Notify { suppressed: std::mem::take(&mut self.suppressed) }
    }
}

/// The notices of all processes.
#[derive(Debug, Default)]
pub(crate) struct SharedPace {
    sent: VecDeque<Duration>,
    silent_until: Duration,
}

impl SharedPace {
    fn allows(&mut self, now: Duration) -> bool {
        if now < self.silent_until {
            return false;
        }
        while self.sent.front().is_some_and(|&sent| sent + WITHIN <= now) {
            self.sent.pop_front();
        }
        if self.sent.len() >= MOST {
            self.silent_until = now + SILENCE;
            return false;
        }
        self.sent.push_back(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decisions(seconds: &[u64]) -> Vec<Decision> {
        let (mut pace, mut all) = (ProcessPace::default(), SharedPace::default());
        seconds.iter().map(|&at| pace.decide(Duration::from_secs(at), &mut all)).collect()
    }

    #[test]
    fn one_notice_in_fifteen_seconds() {
        let got = decisions(&[0, 1, 14, 15, 40]);
        let notify = |suppressed| Decision::Notify { suppressed };
        assert_eq!(got, [notify(0), Decision::Suppress, Decision::Suppress, notify(2), notify(0)]);
    }

    #[test]
    fn third_busy_period_ends_watching() {
        let got = decisions(&[0, 1, 15, 16, 30, 31]);
        assert_eq!(got[5], Decision::OnlyTheEnd);
        assert!(!got[..5].contains(&Decision::OnlyTheEnd));
    }

    #[test]
    fn quiet_period_forgives() {
        let got = decisions(&[0, 1, 15, 16, 30, 60, 61, 75]);
        assert!(!got.contains(&Decision::OnlyTheEnd), "{got:?}");
    }

    #[test]
    fn many_processes_share_a_limit() {
        let mut all = SharedPace::default();
        let mut at = |seconds: u64| ProcessPace::default().decide(Duration::from_secs(seconds), &mut all);
        for _ in 0..15 {
            assert_eq!(at(1), Decision::Notify { suppressed: 0 });
        }
        assert_eq!(at(2), Decision::Suppress);
        assert_eq!(at(31), Decision::Suppress, "the silence lasts thirty seconds");
        assert_eq!(at(32), Decision::Notify { suppressed: 0 });
    }
}
