//! Images as providers accept them: their media type, their size, and a smaller copy of one that is too large.
//!
//! Everything works on bytes. They may come from anyone, so memory is bounded before anything is decoded, and an image
//! that cannot be decoded is an error: sent once, it would make every later request of its session fail.

mod data_url;
mod encoded;
mod fit;
mod kind;
mod opened;

pub use data_url::bytes_of;
pub use fit::{Fitted, Limits, fit};
pub use kind::Kind;

/// An image that cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    #[error("it is not a PNG, JPEG, GIF or WebP image")]
    Unknown,
    #[error("the {} file is damaged or incomplete: {cause}", kind.name())]
    Damaged { kind: Kind, cause: String },
    #[error("it has more pixels than can be decoded")]
    TooManyPixels,
    #[error("it cannot be made small enough")]
    TooLarge,
}
