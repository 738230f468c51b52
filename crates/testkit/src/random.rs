//! A pseudo-random generator with a seed (SplitMix64).

use std::time::Duration;

/// The generator.
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

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Returns true once in so many calls, on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// An element of a non-empty slice.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Returns true with this probability.
    pub fn chance(&mut self, share: f64) -> bool {
        self.fraction() < share
    }

    /// A duration up to `most`.
    pub fn within(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.fraction())
    }

    /// A number from 0 up to, but not including, 1.
    pub fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_numbers_within_bounds() {
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
