//! What is safe to show, store and send: threat scan, redaction and fences.
//!
//! [`scan`] finds text that tries to steer the agent, and [`neutralise`] takes it out. [`redact`] takes secrets out of text on its way to a screen, a log or a model. [`fence`] marks
//! text from outside as data before it enters a prompt. All are plain functions over values;
//! finding the secrets and keeping the fence key is the caller's work.

mod abandoned;
mod encoding;
mod fence;
mod labelled;
mod pairs;
mod redact;
mod scan;
mod seal;
mod secrets;
mod shapes;

pub use abandoned::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX, sweep_abandoned};
pub use fence::{FenceKey, defuse_tag, delimit, fence};
pub use redact::{placeholders, redact};
pub use scan::{Finding, Neutralised, Scope, neutralise, scan};
pub use seal::{seal, unseal};
pub use secrets::Secrets;
