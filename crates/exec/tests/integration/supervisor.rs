//! The supervisor with real processes: this test program is the supervisor and the agents too.

pub(crate) mod case;
mod cost;
mod crashes;
mod detached;
mod exports;
mod kills;
mod lifetimes;
mod role;
mod starting;
mod strays;
