//! From a session and settings to one request: system-prompt layers and the request itself.
//!
//! Everything here is pure. The system prompt is assembled once, when a session starts, and
//! stored; after that it is only read.

mod layers;
mod plain;
mod request;
mod steering;

pub use layers::{Layers, SystemPrompt};
pub use request::{Offer, build_request};
pub use steering::{steered, without_pretence};
