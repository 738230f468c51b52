//! The session database in temporary directories.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod artifacts;
mod contention;
mod desk;
mod epochs;
mod exchange;
mod faults;
mod import;
mod index;
mod inner_calls;
mod insights;
mod ledger;
mod lineage;
mod mailbox;
mod names;
mod processes;
mod python;
mod python_rows;
mod recovery;
mod rewrite;
mod round_trip;
mod schema;
mod scripts;
mod split;
mod trace;
mod turns;
mod upgrade;
mod upkeep;
