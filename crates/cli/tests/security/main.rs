//! The program against a hostile project, server, model and archive.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod caches;
mod control_bytes;
mod environment;
mod imports;
mod own_keys;
#[path = "../process/mod.rs"]
mod process;
mod project_files;
mod scene;
mod smaller;
