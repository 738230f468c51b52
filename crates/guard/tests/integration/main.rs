//! The threat scan over hostile and harmless texts.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod scan;
