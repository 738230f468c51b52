//! Decoding of an image whose bytes may be hostile.

use crate::{ImageError, Kind};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageReader};
use std::io::Cursor;

/// The pixels that are decoded at most: the largest photos of phones have half of them.
const MOST_PIXELS: u64 = 100_000_000;
/// The memory that a decoder may use.
const MOST_MEMORY: u64 = 512 << 20;

/// A decoded image; of an animation, the first frame.
pub(crate) struct Opened {
    pub(crate) kind: Kind,
    /// As it is stored, before it is turned.
    pub(crate) image: DynamicImage,
    pub(crate) orientation: Orientation,
}

/// Decodes an image whole, so that one that is incomplete is not taken for a good one.
pub(crate) fn open(bytes: &[u8]) -> Result<Opened, ImageError> {
    let kind = Kind::of(bytes).ok_or(ImageError::Unknown)?;
    let failed = |error| match error {
        image::ImageError::Limits(_) => ImageError::TooManyPixels,
        error => ImageError::Damaged { kind, cause: error.to_string() },
    };
    let mut limits = image::Limits::default();
    limits.max_alloc = Some(MOST_MEMORY);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), kind.format());
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(failed)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MOST_PIXELS || decoder.total_bytes() > MOST_MEMORY {
        return Err(ImageError::TooManyPixels);
    }
    // A tag that cannot be read does not spoil the picture.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let image = DynamicImage::from_decoder(decoder).map_err(failed)?;
    match kind == Kind::Jpeg && !ends(bytes) {
        true => Err(ImageError::Damaged { kind, cause: "its end is missing".to_owned() }),
        false => Ok(Opened { kind, image, orientation }),
    }
}

/// Returns true if a JPEG file has an end after the beginning of its pixels. The decoder fills in what is missing.
fn ends(bytes: &[u8]) -> bool {
    const START_OF_SCAN: u8 = 0xda;
    let mut at = 2;
    while let Some([0xff, marker, rest @ ..]) = bytes.get(at..) {
        let length = match (marker, rest) {
            (0xff, _) => {
                at += 1;
                continue;
            }
            (&START_OF_SCAN, rest) => return rest.windows(2).any(|pair| pair == [0xff, 0xd9]),
            (_, [high, low, ..]) => usize::from(u16::from_be_bytes([*high, *low])),
            _ => return false,
        };
        at += 2 + length;
    }
    false
}
