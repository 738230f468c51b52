//! Makes text safe to show, store and send: prompt-injection scan, redaction of secrets, fences.
//!
//! [`scan`] finds prompt injections, and [`neutralise`] removes them. [`redact`] removes secrets from text on its
//! way to a screen, a log or a model. [`fence`] marks untrusted text as data before it enters a prompt. All are
//! pure functions; the caller collects the secrets and keeps the fence key.

mod byte_pairs;
mod credential_shapes;
mod fence;
mod labelled_secrets;
mod redact;
mod scan;
mod seal;
mod secret_encodings;
mod secrets;
mod temporary_files;

pub use fence::{FenceKey, delimit, escape_tag, fence};
pub use redact::{placeholders, redact};
pub use scan::{Finding, Neutralised, Scope, neutralise, scan};
pub use seal::{seal, unseal};
pub use secrets::Secrets;
pub use temporary_files::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX, remove_stale_temporaries};
