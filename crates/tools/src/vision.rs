//! Models that see images, for a conversation whose own model does not.

use hermes_conversation::{BoxFuture, Cost};

/// The answer to a question about an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    pub text: String,
    pub cost: Cost,
}

/// Models that see images. Errors are sentences for the model and the user.
pub trait Vision: Send + Sync {
    /// Answers a question about an image, which is shrunk if it is too large. Dropping the future cancels the call.
    fn describe<'a>(&'a self, image: Vec<u8>, question: &'a str) -> BoxFuture<'a, Result<Analysis, String>>;
}
