//! Whole sessions in temporary homes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod caching;
mod compacting;
mod context_engines;
mod conversing;
mod faults;
mod memory;
mod money;
mod needles;
mod opened;
mod python_defaults;
mod recordings;
mod rollback;
mod session_handles;
mod small_windows;
