//! The formats and the strict provider against each other.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod anthropic_requests;
mod caching;
mod content_round_trip;
mod encodings;
mod fake_messages;
mod responses_histories;
mod responses_provider;
mod streams;
