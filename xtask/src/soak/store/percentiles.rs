//! Percentiles of durations.

use std::fmt;

/// Durations in microseconds.
#[derive(Debug, Default)]
pub(super) struct Times(Vec<u64>);

impl Times {
    pub(super) fn add(&mut self, micros: u64) {
        self.0.push(micros);
    }

    /// The duration that `share` of them do not exceed.
    fn within(sorted: &[u64], share: f64) -> u64 {
        let place = (sorted.len() as f64 * share).ceil() as usize;
        sorted.get(place.saturating_sub(1)).copied().unwrap_or_default()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let shares = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];
        for (place, (name, share)) in shares.into_iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{name} {:.1} ms", Self::within(&sorted, share) as f64 / 1000.0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_use_sorted_times() {
        let mut times = Times::default();
        for micros in (1..=100).rev() {
            times.add(micros * 1000);
        }
        assert_eq!(times.to_string(), "p50 50.0 ms, p99 99.0 ms, p99.9 100.0 ms, max 100.0 ms");
        assert_eq!(Times::default().to_string(), "p50 0.0 ms, p99 0.0 ms, p99.9 0.0 ms, max 0.0 ms");
    }
}
