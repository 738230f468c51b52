//! The web tools against sites on loopback.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod addresses;
mod limits;
mod reference_pages;
mod services;
mod site;
