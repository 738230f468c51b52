//! Which credential of a pool is used. Pure: the moment and the random number are given.

use super::{Availability, Entry};

/// How the work is spread over the credentials of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// The first one, until it has to rest.
    #[default]
    FillFirst,
    /// One after the other.
    RoundRobin,
    Random,
    /// The one that was taken least often.
    LeastUsed,
}

impl Strategy {
    pub const NAMES: [(&str, Self); 4] = [
        ("fill_first", Self::FillFirst),
        ("round_robin", Self::RoundRobin),
        ("random", Self::Random),
        ("least_used", Self::LeastUsed),
    ];

    /// Reads the word of the setting.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.trim().to_ascii_lowercase();
        Self::NAMES.iter().find(|(name, _)| *name == word).map(|(_, strategy)| *strategy)
    }

    pub fn as_str(self) -> &'static str {
        Self::NAMES.iter().find(|(_, strategy)| *strategy == self).map_or("", |(name, _)| name)
    }

    /// Whether taking one is noted in the file, so that the next to choose knows of it.
    pub(super) fn is_noted(self) -> bool {
        matches!(self, Self::RoundRobin | Self::LeastUsed)
    }
}

/// What a choice depends on.
pub struct Choosing<'a> {
    pub strategy: Strategy,
    pub now: f64,
    /// From 0 up to, but not including, 1.
    pub random: f64,
    /// How many users in this process have the credential of an id.
    pub taken: &'a dyn Fn(&str) -> usize,
}

/// The credential to use: one that is ready and, if there is any, not in use.
pub fn choose<'a>(entries: &'a [Entry], by: &Choosing<'_>) -> Option<&'a Entry> {
    let ready = || entries.iter().filter(|entry| entry.availability(by.now) == Availability::Ready);
    let least_taken = ready().map(|entry| (by.taken)(&entry.id)).min()?;
    let mut free = ready().filter(|entry| (by.taken)(&entry.id) == least_taken);
    match by.strategy {
        // Who was taken goes to the end of the line, so the first is the next.
        Strategy::FillFirst | Strategy::RoundRobin => free.next(),
        Strategy::LeastUsed => free.min_by_key(|entry| entry.request_count),
        Strategy::Random => {
            let free: Vec<_> = free.collect();
            let at = (by.random.clamp(0.0, 1.0) * free.len() as f64) as usize;
            free.get(at.min(free.len() - 1)).copied()
        }
    }
}

/// When the first of those that rest is ready again.
pub(super) fn soonest(entries: &[Entry], now: f64) -> Option<f64> {
    let until = entries.iter().filter_map(|entry| match entry.availability(now) {
        Availability::Resting { until } => Some(until),
        Availability::Ready | Availability::Dead | Availability::NoKey => None,
    });
    until.reduce(f64::min)
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
