//! Tests of checkpoints with a real git.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod bench;
mod hostile;
mod limits;
mod python;
mod restore;
mod speed;
mod taking;
