//! The width and height of an image, from its first bytes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The base64 characters that are decoded; a photo may have a preview before its size.
const MAX_BASE64: usize = 256 * 1024;

/// The size of an image in base64: PNG, GIF, JPEG or WebP.
pub(crate) fn image_size(base64: &str) -> Option<(u32, u32)> {
    let start = base64.get(..base64.len().min(MAX_BASE64))?;
    let whole = &start[..start.len() / 4 * 4];
    let bytes = STANDARD.decode(whole).ok()?;
    png(&bytes).or_else(|| gif(&bytes)).or_else(|| webp(&bytes)).or_else(|| jpeg(&bytes))
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    (header.get(4..8)? == b"IHDR").then_some(())?;
    Some((big(header.get(8..12)?), big(header.get(12..16)?)))
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    let rest = bytes.strip_prefix(b"GIF87a").or_else(|| bytes.strip_prefix(b"GIF89a"))?;
    Some((little(rest.get(..2)?), little(rest.get(2..4)?)))
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    (bytes.get(..4)? == b"RIFF" && bytes.get(8..12)? == b"WEBP").then_some(())?;
    match bytes.get(12..16)? {
        b"VP8X" => Some((little(bytes.get(24..27)?) + 1, little(bytes.get(27..30)?) + 1)),
        b"VP8 " => Some((little(bytes.get(26..28)?) & 0x3fff, little(bytes.get(28..30)?) & 0x3fff)),
        b"VP8L" => {
            let bits = little(bytes.get(21..25)?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        _ => None,
    }
}

/// Skips segments up to the one that begins a frame.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.strip_prefix(b"\xff\xd8")?;
    loop {
        let &[0xff, marker, ..] = rest else { return None };
        let is_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if is_frame {
            return Some((big(rest.get(7..9)?), big(rest.get(5..7)?)));
        }
        let length = usize::try_from(big(rest.get(2..4)?)).ok()?;
        rest = rest.get(2 + length.max(2)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_the_first_bytes() {
        let vp8x = [b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".as_slice(), &[0x7f, 2, 0, 0xdf, 1, 0]].concat();
        let photo = [
            b"\xff\xd8\xff\xe0\0\x04ab".as_slice(),
            b"\xff\xc2\0\x11\x08\x01\xe0\x02\x80\x03\0\0\0\0\0\0\0\0\0",
        ]
        .concat();
        for (bytes, want) in [
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0".to_vec(), Some((640, 480))),
            (b"GIF89a\x80\x02\xe0\x01\0\0".to_vec(), Some((640, 480))),
            (vp8x, Some((640, 480))),
            (photo, Some((640, 480))),
            (b"\xff\xd8\xff\xe0\0\0\0\0".to_vec(), None),
            (b"no image at all".to_vec(), None),
            (Vec::new(), None),
        ] {
            assert_eq!(image_size(&STANDARD.encode(&bytes)), want, "{bytes:?}");
        }
        assert_eq!(image_size("not base64!"), None);
    }
}
