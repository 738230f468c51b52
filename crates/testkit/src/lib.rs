//! Stand-ins for tests: a strict provider server, an in-process model, a temporary home, a fixed clock.
//!
//! The stand-ins are stricter than what they stand for: [`FakeProvider`] fails the test over
//! any request that some real provider would refuse, and [`MemoryTranscript`] over any use
//! that its contract forbids.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "test support: a broken expectation here is a failed test there"
)]

mod cache_simulator;
mod clock;
mod fake_provider;
mod fault;
mod memory_transcript;
mod random;
mod recorded;
mod rules;
mod scripted_model;
mod temp_home;
mod transcripts;

pub use cache_simulator::{CacheUse, MarkedCache, PrefixCache};
pub use clock::FixedClock;
pub use fake_provider::FakeProvider;
pub use fault::{Fault, refused_base_url};
pub use hermes_scripted::{CallScript, ReplyScript};
pub use memory_transcript::{Compacting, MemoryTranscript, Operation, lease};
pub use random::Random;
pub use recorded::Recorded;
pub use rules::{Rejection, Rule, check, check_anthropic, check_responses};
pub use scripted_model::{ModelStep, ScriptedModel};
pub use temp_home::TempHome;
pub use transcripts::{ISSUERS, issuer, stored_transcript, transcript};
