//! A set of byte pairs: the first filter of every search in this crate.
//!
//! Hardly any pair of ordinary text begins a secret, so one table look-up per byte rules out most positions
//! without comparing strings or compiling patterns.

/// The first two bytes of every search string.
#[derive(Clone)]
pub(crate) struct PairSet([u64; 1024]);

impl PairSet {
    pub(crate) const fn new() -> Self {
        Self([0; 1024])
    }

    /// Adds the first two bytes of a search string.
    pub(crate) const fn insert(&mut self, first: u8, second: u8) {
        let pair = pair(first, second);
        self.0[pair / 64] |= 1 << (pair % 64);
    }

    pub(crate) fn contains(&self, first: u8, second: u8) -> bool {
        let pair = pair(first, second);
        self.0[pair / 64] & (1 << (pair % 64)) != 0
    }

    /// The next position at or after `from`, in steps of `step`, whose pair is in the set.
    pub(crate) fn next_hit_by(&self, bytes: &[u8], from: usize, step: usize) -> Option<usize> {
        let mut at = from;
        while let Some(&[first, second]) = bytes.get(at..at + 2) {
            if self.contains(first, second) {
                return Some(at);
            }
            at += step;
        }
        None
    }

    /// The next position at or after `from` whose pair is in the set.
    pub(crate) fn next_hit(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let rest = bytes.get(from..)?;
        rest.windows(2).position(|two| self.contains(two[0], two[1])).map(|at| from + at)
    }
}

const fn pair(first: u8, second: u8) -> usize {
    (first as usize) << 8 | second as usize
}
