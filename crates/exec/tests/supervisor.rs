//! The supervisor with real processes: this test program is also the supervisor and the agents.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

#[path = "supervisor/case.rs"]
mod case;
#[path = "supervisor/cost.rs"]
mod cost;
#[path = "supervisor/crashes.rs"]
mod crashes;
#[path = "supervisor/kills.rs"]
mod kills;
#[path = "supervisor/lifetimes.rs"]
mod lifetimes;
#[path = "supervisor/role.rs"]
mod role;
#[path = "supervisor/starting.rs"]
mod starting;
