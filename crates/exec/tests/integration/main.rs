//! Commands in processes of their own.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "tests say what they skip")]

mod kill_all;
mod sandbox;
mod supervisor;
