//! The choice of a credential from a pool. Pure: the time and the random number are inputs.

use super::{Availability, Entry};

/// The strategy of using the credentials of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// The first one, until it is in cooldown.
    #[default]
    FillFirst,
    /// One after the other.
    RoundRobin,
    Random,
    /// The least used one.
    LeastUsed,
}

impl Strategy {
    pub const NAMES: [(&str, Self); 4] = [
        ("fill_first", Self::FillFirst),
        ("round_robin", Self::RoundRobin),
        ("random", Self::Random),
        ("least_used", Self::LeastUsed),
    ];

    /// Parses the value of the setting.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.trim().to_ascii_lowercase();
        Self::NAMES.iter().find(|(name, _)| *name == word).map(|(_, strategy)| *strategy)
    }

    pub fn as_str(self) -> &'static str {
        Self::NAMES.iter().find(|(_, strategy)| *strategy == self).map_or("", |(name, _)| name)
    }

    /// Returns true if each use is stored, because the next choice depends on it.
    pub(super) fn is_noted(self) -> bool {
        matches!(self, Self::RoundRobin | Self::LeastUsed)
    }
}

/// The inputs of a choice.
pub struct Choosing<'a> {
    pub strategy: Strategy,
    pub now: f64,
    /// From 0 up to, but not including, 1.
    pub random: f64,
    /// The number of users of a credential in this process, by id.
    pub taken: &'a dyn Fn(&str) -> usize,
}

/// Returns the credential to use: an available one and, if possible, one that is not in use.
pub fn choose<'a>(entries: &'a [Entry], by: &Choosing<'_>) -> Option<&'a Entry> {
    let ready = || entries.iter().filter(|entry| entry.availability(by.now) == Availability::Ready);
    let least_taken = ready().map(|entry| (by.taken)(&entry.id)).min()?;
    let mut free = ready().filter(|entry| (by.taken)(&entry.id) == least_taken);
    match by.strategy {
        // A used one goes to the end of the list, so the first one is next.
        Strategy::FillFirst | Strategy::RoundRobin => free.next(),
        Strategy::LeastUsed => free.min_by_key(|entry| entry.request_count),
        Strategy::Random => {
            let free: Vec<_> = free.collect();
            let at = (by.random.clamp(0.0, 1.0) * free.len() as f64) as usize;
            free.get(at.min(free.len() - 1)).copied()
        }
    }
}

/// Returns the end of the first cooldown.
pub(super) fn soonest(entries: &[Entry], now: f64) -> Option<f64> {
    let until = entries.iter().filter_map(|entry| match entry.availability(now) {
        Availability::CoolingDown { until } => Some(until),
        Availability::Ready | Availability::Dead | Availability::NoKey => None,
    });
    until.reduce(f64::min)
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
