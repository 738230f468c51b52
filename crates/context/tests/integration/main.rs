//! The context engines over whole sessions.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod histories;
mod needles;
mod record;
mod story;
