//! Seeds for long runs.

pub(crate) use hermes_testkit::Random;
use std::time::SystemTime;

/// A seed nobody chose.
pub(crate) fn seed() -> u64 {
    seed32().into()
}

/// A seed nobody chose, small enough to be one number of several.
pub(crate) fn seed32() -> u32 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(1, |now| now.subsec_nanos())
}
