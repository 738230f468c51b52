//! The clock of this machine.

use jiff::{Timestamp, Zoned};
use std::time::{SystemTime, UNIX_EPOCH};

/// This moment. A clock beyond the year 9999 stands at its end.
pub fn timestamp() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX)
}

/// This moment, in the time zone of this machine.
pub fn zoned() -> Zoned {
    timestamp().to_zoned(jiff::tz::TimeZone::system())
}

/// Seconds since 1970.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// Milliseconds since 1970.
pub(crate) fn millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
