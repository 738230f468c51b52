//! Requests, credentials and logins over loopback.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod chat_bodies;
mod http_model;
mod login;
mod pool;
mod python;
mod questions;
mod tls;
