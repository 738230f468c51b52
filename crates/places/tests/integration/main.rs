//! Integration tests of places: the conformance suite of backends, and the life of containers.
//!
//! The servers come from `.ci/servers`, which prints variables. Without them, the tests of real places say so, and fail
//! if `CI` is `true`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod bench;
mod cases;
mod commands;
mod conformance;
mod containers;
mod exchanges;
mod file_bench;
mod file_cases;
mod file_record;
mod files;
mod lost_clients;
mod servers;
mod suite;
mod supervisor;
