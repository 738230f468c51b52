//! Numbers that look random and come again with their seed (SplitMix64).

use std::time::Duration;

/// A source of numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Any number below `end`; 0 when there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of some things, of which there is at least one.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// True this often, of 1.
    pub fn chance(&mut self, share: f64) -> bool {
        self.fraction() < share
    }

    /// Any moment up to `most`.
    pub fn within(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.fraction())
    }

    /// From 0 up to, but not including, 1.
    pub fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_itself_within_bounds() {
        let take = |seed| {
            let mut random = Random::new(seed);
            [0; 50].map(|_| (random.below(7), random.fraction().to_bits()))
        };
        assert_eq!(take(7), take(7));
        assert_ne!(take(7), take(8));
        assert!(take(7).iter().all(|(number, share)| *number < 7 && f64::from_bits(*share) < 1.0));
        assert_eq!(Random::new(1).below(0), 0);
    }
}
