//! Whole turns against a scripted model.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod clarify;
mod compacting;
mod desk;
mod fallback;
mod hooks;
mod images;
mod mail;
mod results;
mod resume_seam;
mod simulation;
mod text_calls;
mod turns;
