//! What is safe to show, store and send: redaction and fences.
//!
//! [`redact`] takes secrets out of text on its way to a screen, a log or a model. [`fence`] marks
//! text from outside as data before it enters a prompt. Both are plain functions over values;
//! finding the secrets and keeping the fence key is the caller's work.

mod encoding;
mod fence;
mod pairs;
mod redact;
mod secrets;
mod shapes;

pub use fence::{FenceKey, defuse_tag, fence};
pub use redact::{placeholders, redact};
pub use secrets::Secrets;
