//! Attachments of a prompt: what `@file:PATH` and its like refer to, and images.
//!
//! Attachments become part of the user's message and are stored with it: what the model saw can be looked up
//! later, even if the files have changed.

mod images;
mod references;

pub use images::{Image, ImageError, message_with_descriptions, message_with_images};
pub use references::{ExpandedPrompt, References, Sources};
