//! Encoding of the pixels of an image.

use crate::{ImageError, Kind};
use image::DynamicImage;
use image::codecs::jpeg::JpegEncoder;
use std::io::Cursor;

/// A loss that is not seen on photos, and hardly on text.
const QUALITY: u8 = 85;

/// Encodes an image in a format.
pub(crate) fn encode(image: &DynamicImage, kind: Kind) -> Result<Vec<u8>, ImageError> {
    let mut bytes = Vec::new();
    let written = match kind {
        Kind::Jpeg => JpegEncoder::new_with_quality(&mut bytes, QUALITY).encode_image(image),
        Kind::Png | Kind::Gif | Kind::Webp => image.write_to(&mut Cursor::new(&mut bytes), kind.format()),
    };
    written.map(|()| bytes).map_err(|_| ImageError::TooLarge)
}

/// The image in colours that every encoder has, without an alpha channel that has no effect.
pub(crate) fn plain(image: DynamicImage) -> DynamicImage {
    if !image.color().has_alpha() {
        return DynamicImage::ImageRgb8(image.into_rgb8());
    }
    let pixels = image.into_rgba8();
    match pixels.pixels().all(|pixel| pixel.0[3] == u8::MAX) {
        true => DynamicImage::ImageRgb8(DynamicImage::ImageRgba8(pixels).into_rgb8()),
        false => DynamicImage::ImageRgba8(pixels),
    }
}

/// The formats to try, the best first. Only a picture without transparency can become a JPEG.
pub(crate) fn formats(kind: Kind, image: &DynamicImage) -> &'static [Kind] {
    match (kind, image.color().has_alpha()) {
        (Kind::Jpeg, _) => &[Kind::Jpeg],
        (Kind::Png, true) => &[Kind::Png],
        (Kind::Png, false) => &[Kind::Png, Kind::Jpeg],
        (Kind::Gif, _) => &[Kind::Gif],
        (Kind::Webp, true) => &[Kind::Webp],
        (Kind::Webp, false) => &[Kind::Webp, Kind::Jpeg],
    }
}
