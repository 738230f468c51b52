//! Seeds for long runs.

pub(crate) use hermes_testkit::Random;
use std::time::SystemTime;

/// A random seed.
pub(crate) fn seed() -> u64 {
    seed32().into()
}

/// A random seed that is small enough to be one of several numbers.
pub(crate) fn seed32() -> u32 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(1, |now| now.subsec_nanos())
}
