//! Images as data URLs.

use crate::Fitted;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Bytes of base64 for so many bytes.
pub(crate) fn encoded_len(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4)
}

/// Returns the bytes of a data URL in base64. Its media type is ignored: it is known by the bytes.
pub fn bytes_of(url: &str) -> Option<Vec<u8>> {
    let scheme = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"))?;
    let (head, data) = url[scheme.len()..].split_once(',')?;
    head.to_ascii_lowercase().ends_with(";base64").then_some(())?;
    STANDARD.decode(data.trim()).ok()
}

impl Fitted {
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.kind.media_type(), STANDARD.encode(&self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn data_urls_hold_the_bytes() {
        let image =
            Fitted { kind: Kind::Gif, bytes: b"GIF89a".to_vec(), size: (1, 1), was: (1, 1), is_copy: false };
        assert_eq!(image.data_url(), "data:image/gif;base64,R0lGODlh");
        for (url, want) in [
            ("data:image/gif;base64,R0lGODlh", Some(&b"GIF89a"[..])),
            ("DATA:;BASE64,R0lGODlh ", Some(b"GIF89a")),
            ("data:image/gif,R0lGODlh", None),
            ("data:image/gif;base64,R0lG ODlh", None),
            ("data:image/gif;base64", None),
            ("https://example.org/a.gif", None),
            ("dätä:", None),
        ] {
            assert_eq!(bytes_of(url).as_deref(), want, "{url}");
        }
        for count in 0..10 {
            assert_eq!(encoded_len(count), STANDARD.encode(vec![0; count]).len(), "{count}");
        }
    }
}
