//! The binary as a process, against a scripted provider.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod auth;
mod backend_kills;
mod backends;
mod background;
mod background_agents;
mod browse;
mod budget;
mod clarify;
mod cli;
#[path = "../../../clouds/tests/integration/stand_in.rs"]
#[allow(dead_code, reason = "the tests of clouds use all of it")]
mod cloud_stand_in;
mod command_log;
mod context;
mod crash_recovery;
mod cut_calls;
mod delegation;
mod demo;
mod doc_commands;
mod docs;
mod fallback;
mod faults;
mod files;
mod fsyncs;
mod golden_prompts;
mod hooks;
mod interactive;
mod keys;
mod layering;
mod local_servers;
mod login;
mod logs_and_traces;
mod mail;
mod memory;
mod model;
mod modes;
mod names;
#[cfg(feature = "otlp")]
mod otlp;
mod process;
mod prompt;
mod prompt_additions;
mod pty;
mod python_homes;
mod replay;
mod requests;
mod safety;
mod scripts;
mod security;
mod session_search;
mod sessions;
mod settings;
mod skills;
mod source_files;
mod supply;
mod switching;
mod system_prompt;
mod terminal;
mod turn_ends;
mod vision;
mod web;
