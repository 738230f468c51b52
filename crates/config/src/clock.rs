//! The clock of this machine.

mod local_zone;

pub use local_zone::local_zone;

use jiff::{Timestamp, Zoned};
use std::time::{SystemTime, UNIX_EPOCH};

/// The current time.
pub fn timestamp() -> Timestamp {
    at(SystemTime::now())
}

/// A time of the system clock. One beyond the year 9999 becomes its end.
fn at(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or(Timestamp::MAX)
}

/// The current time, in the time zone of this machine.
pub fn zoned() -> Zoned {
    timestamp().to_zoned(local_zone())
}

/// Seconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// Milliseconds since 1970.
pub fn millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn clock_beyond_the_year_9999_stays_at_its_end() {
        assert_eq!(at(UNIX_EPOCH + Duration::from_secs(300_000_000_000)), Timestamp::MAX);
        assert_eq!(at(UNIX_EPOCH + Duration::from_secs(86_400)).to_string(), "1970-01-02T00:00:00Z");
    }
}
