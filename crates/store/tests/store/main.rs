//! The public API of the session database, on real files in temporary directories.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod artifacts;
mod contention;
mod desk;
mod epochs;
mod exchange;
mod faults;
mod import;
mod index;
mod insights;
mod ledger;
mod lineage;
mod mailbox;
mod names;
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
