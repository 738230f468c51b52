//! Numbers that look random and come again with their seed (SplitMix64).

use std::time::{Duration, SystemTime};

/// A source of numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any moment up to `most`.
    pub(crate) fn within(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.fraction())
    }

    /// True this often, of 1.
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.fraction() < share
    }

    /// Any number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.fraction() * end as f64) as usize
    }

    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A seed nobody chose.
pub(crate) fn seed() -> u64 {
    seed32().into()
}

/// A seed nobody chose, small enough to be one number of several.
pub(crate) fn seed32() -> u32 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(1, |now| now.subsec_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_itself_within_bounds() {
        let most = Duration::from_secs(1);
        let take = |seed| {
            let mut random = Random::new(seed);
            [0; 50].map(|_| random.within(most))
        };
        assert_eq!(take(7), take(7));
        assert_ne!(take(7), take(8));
        assert!(take(7).iter().all(|moment| *moment < most));
    }
}
