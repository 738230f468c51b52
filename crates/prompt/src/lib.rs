//! From a session and settings to one request: system-prompt layers and the request itself.
//!
//! Everything except [`files`] is pure. The system prompt is assembled once, when a session starts, and
//! stored; after that it is only read.

mod additions;
mod code_project;
mod family;
pub mod files;
mod layers;
mod outline;
mod plain;
mod platform;
mod project;
mod request;
mod small_images;
mod steering;
mod tool_guidance;
mod wording;

pub use additions::Additions;
pub use code_project::CodeProject;
pub use family::ToolUse;
pub use layers::{BETWEEN, Layer, Layers, Sourced, Surroundings, SystemPrompt, Tier, Without};
pub use outline::{OutlinedLayer, ShownLayer, taken_apart};
pub use platform::HintChange;
pub use project::{ProjectFile, ReadyFile, project_file_limit, ready_file};
pub use request::{Offer, build_request};
pub use small_images::has_large_images;
pub use steering::{steered, without_pretence};
pub use tool_guidance::ToolGuidance;
