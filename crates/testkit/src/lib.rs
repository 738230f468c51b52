//! Test doubles: a strict provider server, an in-process model, a temporary home directory, a fixed clock.
//!
//! The doubles are stricter than the real thing: [`FakeProvider`] fails the test on any request that some real
//! provider would reject, and [`MemoryTranscript`] on any violation of its contract.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "test support: a broken expectation here is a failed test there"
)]

mod cache_simulator;
mod clock;
mod fake_provider;
mod fault;
pub mod hostile_events;
mod memory_transcript;
mod png;
mod random;
mod random_transcripts;
mod recorded_request;
mod rules;
mod scripted_model;
mod temp_home;

pub use cache_simulator::{CacheUse, MarkedCache, PrefixCache};
pub use clock::FixedClock;
pub use fake_provider::FakeProvider;
pub use fault::{Fault, refused_base_url};
pub use hermes_scripted::{CallScript, ReplyScript};
pub use memory_transcript::{CompactionLock, MemoryTranscript, Operation, lease};
pub use png::{png, png_bomb};
pub use random::Random;
pub use random_transcripts::{ISSUERS, issuer, stored_transcript, transcript};
pub use recorded_request::RecordedRequest;
pub use rules::{Rejection, Rule, check, check_anthropic, check_responses};
pub use scripted_model::{ModelStep, ScriptedModel};
pub use temp_home::TempHome;
