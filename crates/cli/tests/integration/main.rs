//! The binary as a process, against a scripted provider.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod aftermath;
mod auth;
mod browse;
mod budget;
mod clarify;
mod cli;
mod command_log;
mod context;
mod cut_calls;
mod delegation;
mod docs;
mod fallback;
mod faults;
mod files;
mod fsyncs;
mod golden_prompts;
mod hooks;
mod keys;
mod layering;
mod layers;
mod local_servers;
mod login;
mod mail;
mod memory;
mod model;
mod modes;
mod observe;
#[cfg(feature = "otlp")]
mod otlp;
mod process;
mod prompt;
mod prompt_additions;
mod pty;
mod python_homes;
mod replay;
mod requests;
mod security;
mod sessions;
mod settings;
mod skills;
mod source_files;
mod supply;
mod switching;
mod terminal;
mod turn_ends;
