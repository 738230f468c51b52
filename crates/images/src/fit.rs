//! A copy of an image that is small enough.

use crate::data_url::encoded_len;
use crate::encoded::{encode, formats, plain};
use crate::opened::{Opened, open};
use crate::{ImageError, Kind};
use image::DynamicImage;
use image::imageops::FilterType;

/// The sides below which an image is not shrunk further.
const LEAST_SIDE: u32 = 32;

/// The largest image that may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in base64.
    pub encoded: usize,
    /// Pixels of the longest side.
    pub side: u32,
}

impl Limits {
    /// The limits for an image that is sent for the first time. The strictest of the large providers accept 5 MB and
    /// 8,000 pixels.
    pub const STANDARD: Self = Self { encoded: 4_000_000, side: 7_900 };

    /// The limits after a provider refused an image as too large: half the bytes, and the side that is accepted even
    /// beside many other images.
    pub const TIGHT: Self = Self { encoded: 2_000_000, side: 2_000 };

    fn hold(&self, bytes: &[u8], (width, height): (u32, u32)) -> bool {
        encoded_len(bytes.len()) <= self.encoded && width.max(height) <= self.side
    }
}

/// An image within limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fitted {
    pub kind: Kind,
    pub bytes: Vec<u8>,
    /// Width and height.
    pub size: (u32, u32),
    /// Width and height before it was shrunk.
    pub was: (u32, u32),
    /// The bytes are those of a smaller copy.
    pub is_copy: bool,
}

/// Returns the image if it is within the limits, else a smaller copy of it, turned as its camera says. Takes time that
/// depends on the size.
pub fn fit(bytes: Vec<u8>, limits: Limits) -> Result<Fitted, ImageError> {
    let Opened { kind, mut image, orientation } = open(&bytes)?;
    let was = size(&image);
    if limits.hold(&bytes, was) {
        return Ok(Fitted { kind, bytes, size: was, was, is_copy: false });
    }
    drop(bytes);
    image.apply_orientation(orientation);
    let was = size(&image);
    let mut image = shrunk(image, limits.side);
    image = plain(image);
    loop {
        let mut smallest = usize::MAX;
        for kind in formats(kind, &image) {
            let bytes = encode(&image, *kind)?;
            if limits.hold(&bytes, size(&image)) {
                return Ok(Fitted { kind: *kind, bytes, size: size(&image), was, is_copy: true });
            }
            smallest = smallest.min(encoded_len(bytes.len()));
        }
        let side = next_side(&image, smallest, limits.encoded);
        if side < LEAST_SIDE {
            return Err(ImageError::TooLarge);
        }
        image = shrunk(image, side);
    }
}

/// The longest side with which the image should have so many bytes.
fn next_side(image: &DynamicImage, bytes: usize, wanted: usize) -> u32 {
    let factor = (wanted as f64 / bytes as f64).sqrt() * 0.95;
    (f64::from(image.width().max(image.height())) * factor.clamp(0.25, 0.9)) as u32
}

fn shrunk(image: DynamicImage, side: u32) -> DynamicImage {
    match image.width().max(image.height()) > side {
        true => image.resize(side, side, FilterType::CatmullRom),
        false => image,
    }
}

fn size(image: &DynamicImage) -> (u32, u32) {
    (image.width(), image.height())
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
