//! Vision models against scripted models and files on loopback.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod availability;
mod calls;
