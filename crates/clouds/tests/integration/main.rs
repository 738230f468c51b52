//! Integration tests of cloud places, against stand-in servers: the conformance suite of places, kills of the client, faults
//! of the services, and the life of sandboxes.
//!
//! The client program is the example `place_client`, which `cargo test -p hermes-clouds` builds, too.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

#[path = "../../../places/tests/integration/bench.rs"]
mod bench;
#[path = "../../../places/tests/integration/cases.rs"]
mod cases;
#[path = "../../../places/tests/integration/commands.rs"]
mod commands;
mod conformance;
mod faults;
mod fixture;
mod kills;
mod sandboxes;
mod stand_in;
#[path = "../../../places/tests/integration/suite.rs"]
mod suite;
