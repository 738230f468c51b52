//! Logins against small servers on loopback.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod browser;
mod copilot;
mod device;
mod renewing;
mod silence;
mod stub;
