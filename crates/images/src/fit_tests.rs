use super::*;
use hermes_testkit::{png, png_bomb};
use image::{Rgb, RgbImage, Rgba, RgbaImage};
use proptest::prelude::*;

/// Pixels that do not compress well, the same in each run.
fn noise(width: u32, height: u32) -> RgbImage {
    let mut state = 7_u32;
    RgbImage::from_fn(width, height, |_, _| {
        Rgb(std::array::from_fn(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        }))
    })
}

fn file(image: impl Into<DynamicImage>, kind: Kind) -> Vec<u8> {
    encode(&image.into(), kind).unwrap()
}

fn transparent(width: u32, height: u32) -> RgbaImage {
    let mut image = DynamicImage::from(noise(width, height)).into_rgba8();
    image.put_pixel(0, 0, Rgba([1, 2, 3, 4]));
    image
}

const ALL: [Kind; 4] = [Kind::Png, Kind::Jpeg, Kind::Gif, Kind::Webp];

#[test]
fn image_within_the_limits_keeps_its_bytes() {
    for kind in ALL {
        let bytes = file(noise(20, 10), kind);
        let fitted = fit(bytes.clone(), Limits::STANDARD).unwrap();
        assert_eq!(fitted, Fitted { kind, bytes, size: (20, 10), was: (20, 10), is_copy: false }, "{kind:?}");
    }
}

#[test]
fn large_image_is_shrunk_and_keeps_its_format_where_possible() {
    let side = Limits { encoded: 1_000_000, side: 50 };
    let bytes = |encoded| Limits { encoded, side: 1_000 };
    let opaque = DynamicImage::from(noise(100, 60)).into_rgba8();
    for (name, file, limits, kind, size) in [
        ("png by its side", file(noise(100, 60), Kind::Png), side, Kind::Png, Some((50, 30))),
        ("jpeg by its side", file(noise(100, 60), Kind::Jpeg), side, Kind::Jpeg, Some((50, 30))),
        ("gif by its side", file(noise(60, 100), Kind::Gif), side, Kind::Gif, Some((30, 50))),
        ("webp by its side", file(noise(100, 60), Kind::Webp), side, Kind::Webp, Some((50, 30))),
        ("a line", file(noise(100, 1), Kind::Png), side, Kind::Png, Some((50, 1))),
        ("png by its bytes", file(noise(100, 60), Kind::Png), bytes(16_000), Kind::Jpeg, Some((100, 60))),
        ("png with a useless alpha", file(opaque, Kind::Png), bytes(16_000), Kind::Jpeg, Some((100, 60))),
        ("png with transparency", file(transparent(100, 60), Kind::Png), bytes(12_000), Kind::Png, None),
        ("webp with transparency", file(transparent(100, 60), Kind::Webp), bytes(12_000), Kind::Webp, None),
        ("jpeg by its bytes", file(noise(100, 60), Kind::Jpeg), bytes(4_000), Kind::Jpeg, None),
        ("gif by its bytes", file(noise(100, 60), Kind::Gif), bytes(4_000), Kind::Gif, None),
    ] {
        let before = (100, 60);
        let fitted = fit(file, limits).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(fitted.kind, kind, "{name}");
        assert_eq!(Kind::of(&fitted.bytes), Some(kind), "{name}");
        assert!(encoded_len(fitted.bytes.len()) <= limits.encoded, "{name}: {}", fitted.bytes.len());
        match size {
            Some(size) => assert_eq!(fitted.size, size, "{name}"),
            None => assert!(fitted.size.0 < before.0 && fitted.was == before, "{name}: {:?}", fitted.size),
        }
        // The same image gives the same bytes, and one that fits is left alone.
        assert_eq!(fit(fitted.bytes.clone(), limits).unwrap().bytes, fitted.bytes, "{name}");
    }
}

#[test]
fn real_limits_hold_for_a_wide_image() {
    let wide = png(8_000, 2);
    assert_eq!(fit(wide.clone(), Limits::STANDARD).unwrap().size, (7_900, 2));
    assert_eq!(fit(wide, Limits::TIGHT).unwrap().size, (2_000, 1));
}

#[test]
fn image_that_cannot_be_small_enough_is_an_error() {
    let limits = Limits { encoded: 20, side: 100 };
    assert_eq!(fit(file(noise(90, 90), Kind::Png), limits), Err(ImageError::TooLarge));
}

/// A JPEG file with the orientation of a phone held upright.
fn turned() -> Vec<u8> {
    let jpeg = file(RgbImage::from_fn(40, 20, |x, _| Rgb([if x < 20 { 250 } else { 5 }; 3])), Kind::Jpeg);
    let exif =
        [&b"Exif\0\0MM\0*\0\0\0\x08\0\x01"[..], b"\x01\x12\0\x03\0\0\0\x01\0\x06\0\0", b"\0\0\0\0"].concat();
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    [&jpeg[..2], &[0xff, 0xe1], &length, &exif, &jpeg[2..]].concat()
}

#[test]
fn shrunk_photo_is_turned_upright() {
    let fitted = fit(turned(), Limits { encoded: 100_000, side: 20 }).unwrap();
    assert_eq!((fitted.size, fitted.was), ((10, 20), (20, 40)));
    let image = image::load_from_memory(&fitted.bytes).unwrap().into_luma8();
    assert!(image.get_pixel(5, 2).0[0] > 200, "the left half is up");
    assert!(image.get_pixel(5, 17).0[0] < 50, "the right half is down");
    // A copy has no tag, so that it is not turned twice.
    assert!(!fitted.bytes.windows(4).any(|four| four == b"Exif"));
}

#[test]
fn animation_becomes_its_first_frame() {
    let mut bytes = Vec::new();
    let frame = |value| image::Frame::new(RgbaImage::from_pixel(60, 60, Rgba([value, 0, 0, 255])));
    let mut encoder = image::codecs::gif::GifEncoder::new(&mut bytes);
    encoder.encode_frames([frame(200), frame(10)]).unwrap();
    drop(encoder);
    assert_eq!(fit(bytes.clone(), Limits::STANDARD).unwrap().bytes, bytes);
    let fitted = fit(bytes, Limits { encoded: 100_000, side: 30 }).unwrap();
    let image = image::load_from_memory(&fitted.bytes).unwrap().into_rgb8();
    assert!(image.get_pixel(9, 9).0[0] > 150);
}

#[test]
fn hostile_files_are_errors() {
    let cut = |kind: Kind| {
        let bytes = file(noise(64, 64), kind);
        bytes[..bytes.len() / 2].to_vec()
    };
    for (name, bytes, want) in [
        ("text", b"<svg></svg>".to_vec(), "not a PNG, JPEG, GIF or WebP image"),
        ("empty", Vec::new(), "not a PNG, JPEG, GIF or WebP image"),
        ("bomb", png_bomb(50_000, 50_000), "more pixels than can be decoded"),
        ("larger bomb", png_bomb(0x7fff_ffff, 0x7fff_ffff), "more pixels than can be decoded"),
        ("wrong size", png_bomb(2, 900), "the PNG file is damaged or incomplete"),
        ("only the beginning", b"\x89PNG\r\n\x1a\n".to_vec(), "the PNG file is damaged or incomplete"),
        ("cut png", cut(Kind::Png), "the PNG file is damaged or incomplete"),
        ("cut jpeg", cut(Kind::Jpeg), "the JPEG file is damaged or incomplete"),
        ("cut gif", cut(Kind::Gif), "the GIF file is damaged or incomplete"),
        ("cut webp", cut(Kind::Webp), "the WebP file is damaged or incomplete"),
    ] {
        let error = fit(bytes, Limits::STANDARD).map(|fitted| fitted.size).unwrap_err().to_string();
        assert!(error.contains(want), "{name}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_bytes_cause_a_panic(kind in 0..4_usize, cut in 0..2_000_usize, changes in prop::collection::vec((0..2_000_usize, any::<u8>()), 0..6)) {
        let mut bytes = file(noise(24, 16), ALL[kind]);
        bytes.truncate(bytes.len() - cut.min(bytes.len()) * (cut % 2));
        for (at, value) in changes {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        let limits = Limits { encoded: 2_000, side: 20 };
        if let Ok(fitted) = fit(bytes, limits) {
            prop_assert!(limits.hold(&fitted.bytes, fitted.size));
        }
    }

    #[test]
    fn no_random_bytes_cause_a_panic(kind in 0..4_usize, rest in prop::collection::vec(any::<u8>(), 0..400)) {
        let start = &file(noise(2, 2), ALL[kind])[..20];
        let _ = fit([start, &rest].concat(), Limits::TIGHT);
    }
}
