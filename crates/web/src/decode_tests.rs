use super::*;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use std::io::Write;

#[test]
fn character_set_is_found() {
    let latin = b"<meta charset=iso-8859-1>caf\xe9";
    let cases: &[(Option<&str>, &[u8], &str)] = &[
        (None, "\u{feff}é".as_bytes(), "é"),
        (Some("text/html; charset=\"ISO-8859-1\""), b"caf\xe9", "café"),
        (Some("text/html;CHARSET=windows-1251"), b"\xcf\xf0\xe8", "При"),
        (Some("text/html; charset=nonsense"), "é".as_bytes(), "é"),
        (None, latin, "<meta charset=iso-8859-1>café"),
        (
            Some("text/html; charset=utf-8"),
            "é<meta charset=iso-8859-1>".as_bytes(),
            "é<meta charset=iso-8859-1>",
        ),
        (
            None,
            b"<?xml version='1.0' encoding='koi8-r'?>\xcd\xc9",
            "<?xml version='1.0' encoding='koi8-r'?>ми",
        ),
        (
            None,
            b"<meta http-equiv=x content='text/html; charset=shift_jis'>\x93\xfa",
            "<meta http-equiv=x content='text/html; charset=shift_jis'>日",
        ),
        (None, b"\xff\xfea\0b\0", "ab"),
        (None, "cut é".as_bytes().split_last().map(|(_, rest)| rest).unwrap_or_default(), "cut \u{fffd}"),
        (None, b"caf\xe9 x", "café x"),
        (None, b"<meta charset=utf-16>\xc3\xa9", "<meta charset=utf-16>é"),
    ];
    for (content_type, bytes, want) in cases {
        assert_eq!(text(*content_type, bytes), *want, "{content_type:?} {bytes:?}");
    }
}

#[test]
fn kind_follows_type_and_beginning() {
    type Case<'a> = (Option<&'a str>, &'a [u8], Result<Kind, ()>);
    let cases: &[Case<'_>] = &[
        (Some("text/html; charset=utf-8"), b"x", Ok(Kind::Html)),
        (Some("application/xhtml+xml"), b"x", Ok(Kind::Html)),
        (Some("text/plain"), b"plain", Ok(Kind::Text)),
        (Some("text/plain"), b" <!DOCTYPE html><p>", Ok(Kind::Html)),
        (None, b"<html>", Ok(Kind::Html)),
        (None, b"{\"a\":1}", Ok(Kind::Text)),
        (Some("text/markdown"), b"# a", Ok(Kind::Text)),
        (Some("application/ld+json"), b"{}", Ok(Kind::Text)),
        (Some("application/rss+xml"), b"<rss>", Ok(Kind::Xml)),
        (Some("application/xml"), b"<?xml version='1.0'?><!DOCTYPE html>", Ok(Kind::Html)),
        (Some("application/octet-stream"), b"%PDF-1.7", Ok(Kind::Pdf)),
        (Some("application/pdf"), b"x", Ok(Kind::Pdf)),
        (Some("image/png"), b"\x89PNG", Err(())),
        (Some("text/plain"), b"a\0b", Err(())),
        (Some("application/octet-stream"), b"\x7fELF\0", Err(())),
        (Some("text/html; charset=utf-16le"), b"<\0p\0", Ok(Kind::Html)),
    ];
    for (content_type, bytes, want) in cases {
        assert_eq!(kind(*content_type, bytes).map_err(|_| ()), *want, "{content_type:?} {bytes:?}");
    }
}

#[test]
fn compression_is_undone_up_to_the_limit() {
    let plain = b"text ".repeat(1_000);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&plain).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(&plain).unwrap();
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::best());
    raw.write_all(&plain).unwrap();
    for (encoding, bytes) in
        [("gzip", gzip.clone()), ("deflate", zlib.finish().unwrap()), ("deflate", raw.finish().unwrap())]
    {
        assert_eq!(unpacked(bytes.clone(), Some(encoding), 10_000), Ok((plain.clone(), false)), "{encoding}");
        assert_eq!(unpacked(bytes, Some(encoding), 100).map(|(all, cut)| (all.len(), cut)), Ok((100, true)));
    }
    let half = gzip[..gzip.len() / 2].to_vec();
    assert!(matches!(unpacked(half, Some("gzip"), 10_000), Ok((_, true)) | Err(_)));
    assert!(unpacked(b"x".to_vec(), Some("br"), 10).is_err());
    assert!(unpacked(b"no gzip".to_vec(), Some("gzip"), 10).is_err());
}

#[test]
fn compressed_bomb_is_bounded() {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..256 {
        bomb.write_all(&vec![b'a'; 1 << 20]).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    let (text, is_cut) = unpacked(bomb, Some("gzip"), 10 << 20).unwrap();
    assert_eq!((text.len(), is_cut), (10 << 20, true));
}
