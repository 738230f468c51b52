//! Images of a message.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hermes_conversation::{Content, RawJson, UserMessage};
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest image that is accepted. Providers accept less and reject larger ones themselves.
const MAX_IMAGE: u64 = 20 << 20;

/// An image that cannot be attached.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error("{path} could not be read: {cause}")]
    Unreadable { path: PathBuf, cause: std::io::Error },
    #[error("{path} is larger than {} MiB", MAX_IMAGE >> 20)]
    TooLarge { path: PathBuf },
    #[error("{path} is not a PNG, JPEG, GIF or WebP image")]
    Unknown { path: PathBuf },
}

/// An image, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    url: String,
}

impl Image {
    pub fn read(path: &Path) -> Result<Self, ImageError> {
        let unreadable = |cause| ImageError::Unreadable { path: path.to_owned(), cause };
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.take(MAX_IMAGE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_IMAGE {
            return Err(ImageError::TooLarge { path: path.to_owned() });
        }
        let kind = kind(&bytes).ok_or_else(|| ImageError::Unknown { path: path.to_owned() })?;
        Ok(Self { url: format!("data:{kind};base64,{}", STANDARD.encode(&bytes)) })
    }
}

/// The media type of an image by its first bytes; file names are not reliable.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Returns a message with text and images, the text first.
pub fn message_with_images(text: &str, images: &[Image]) -> UserMessage {
    if images.is_empty() {
        return UserMessage::text(text);
    }
    let words = json!({ "type": "text", "text": text });
    let pictures =
        images.iter().map(|image| json!({ "type": "image_url", "image_url": { "url": image.url } }));
    let parts: Vec<Value> = std::iter::once(words).chain(pictures).collect();
    match RawJson::of(&parts) {
        Some(parts) => UserMessage { content: Content::Parts(parts), api_content: None },
        None => UserMessage::text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_known_by_their_bytes() {
        for (bytes, want) in [
            (&b"\x89PNG\r\n\x1a\n..."[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"<svg>", None),
            (b"", None),
        ] {
            assert_eq!(kind(bytes), want);
        }
    }

    #[test]
    fn a_message_has_text_and_images() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        std::fs::write(&path, b"GIF89a").unwrap();
        let image = Image::read(&path).unwrap();
        let message = message_with_images("look", &[image]);
        assert_eq!(
            message.content.as_text(),
            r#"[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lGODlh"}}]"#
        );
        assert_eq!(message_with_images("plain", &[]), UserMessage::text("plain"));
        std::fs::write(&path, b"nothing").unwrap();
        let error = Image::read(&path).unwrap_err().to_string();
        assert!(error.ends_with("is not a PNG, JPEG, GIF or WebP image"), "{error}");
        assert!(Image::read(&dir.path().join("none")).is_err());
        std::fs::File::create(&path).unwrap().set_len(MAX_IMAGE + 1).unwrap();
        assert!(matches!(Image::read(&path), Err(ImageError::TooLarge { .. })));
    }
}
