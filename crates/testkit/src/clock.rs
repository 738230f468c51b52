//! A clock that tests advance explicitly.

use std::sync::{Arc, Mutex};

/// Seconds since 1970, as stored in the database. Clones share the time.
#[derive(Debug, Clone)]
pub struct FixedClock(Arc<Mutex<f64>>);

impl FixedClock {
    pub fn at(seconds: f64) -> Self {
        Self(Arc::new(Mutex::new(seconds)))
    }

    pub fn now(&self) -> f64 {
        *self.0.lock().unwrap()
    }

    pub fn advance(&self, seconds: f64) {
        *self.0.lock().unwrap() += seconds;
    }
}

impl Default for FixedClock {
    fn default() -> Self {
        Self::at(1_700_000_000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_time() {
        let clock = FixedClock::at(10.0);
        let other = clock.clone();
        clock.advance(2.5);
        assert_eq!((clock.now(), other.now()), (12.5, 12.5));
    }
}
