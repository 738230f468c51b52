//! Images of a message.

use hermes_conversation::{Content, RawJson, UserMessage};
use hermes_images::{Fitted, Limits, fit};
use hermes_tools::Vision;
use serde_json::{Value, json};
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file that is read. A large image is shrunk before it is sent.
const MAX_IMAGE: u64 = 50 << 20;
/// Characters of the prompt that a question about an image repeats.
const MOST_CONTEXT: usize = 2_000;

/// An image that cannot be attached.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error("{path} could not be read: {cause}")]
    Unreadable { path: PathBuf, cause: std::io::Error },
    #[error("{path} is larger than {} MiB", MAX_IMAGE >> 20)]
    TooLarge { path: PathBuf },
    #[error("{path} cannot be attached: {cause}")]
    Unusable { path: PathBuf, cause: hermes_images::ImageError },
    /// The model cannot see images, and no other model described this one.
    #[error("the prompt was not sent: the model cannot see images, and {0}")]
    NotDescribed(String),
}

/// An image, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    fitted: Fitted,
}

impl Image {
    /// Reads an image, and shrinks it if it is too large for providers.
    pub fn read(path: &Path) -> Result<Self, ImageError> {
        let unreadable = |cause| ImageError::Unreadable { path: path.to_owned(), cause };
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.take(MAX_IMAGE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_IMAGE {
            return Err(ImageError::TooLarge { path: path.to_owned() });
        }
        let unusable = |cause| ImageError::Unusable { path: path.to_owned(), cause };
        Ok(Self { fitted: fit(bytes, Limits::STANDARD).map_err(unusable)? })
    }
}

/// Returns a message with text and images, the text first.
pub fn message_with_images(text: &str, images: &[Image]) -> UserMessage {
    if images.is_empty() {
        return UserMessage::text(text);
    }
    let words = json!({ "type": "text", "text": text });
    let pictures = images
        .iter()
        .map(|image| json!({ "type": "image_url", "image_url": { "url": image.fitted.data_url() } }));
    let parts: Vec<Value> = std::iter::once(words).chain(pictures).collect();
    match RawJson::of(&parts) {
        Some(parts) => UserMessage { content: Content::Parts(parts), api_content: None },
        None => UserMessage::text(text),
    }
}

/// Returns a message with text and descriptions of the images, for a model that cannot see them.
pub async fn message_with_descriptions(
    text: &str,
    images: &[Image],
    vision: &dyn Vision,
) -> Result<UserMessage, ImageError> {
    let context: String = text.chars().take(MOST_CONTEXT).collect();
    let question = format!(
        "Describe this image for someone who cannot see it and has to act on the following message. Begin with what it \
         is, then give every detail that may matter, with all text in it.\n\nThe message:\n{context}"
    );
    let mut message = text.to_owned();
    for (place, image) in images.iter().enumerate() {
        let described = vision.describe(image.fitted.bytes.clone(), &question).await;
        let description = described.map_err(ImageError::NotDescribed)?.text;
        let number = place + 1;
        let _ = write!(message, "\n\n[Image {number}, as another model describes it]\n{description}");
    }
    Ok(UserMessage::text(message))
}

#[cfg(test)]
#[path = "images_tests.rs"]
mod tests;
