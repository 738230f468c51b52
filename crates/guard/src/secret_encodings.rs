//! The encodings in which a secret may occur: plain, JSON, percent-encoded and base64.
//!
//! A secret inside longer base64 text (`user:secret` in a Basic header) starts at one of three bit offsets, and its
//! first and last characters depend on its neighbours, so only the characters between them are searched for.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// All encodings of `value` to search for, including the plain one. May contain duplicates.
pub(crate) fn spellings(value: &str) -> Vec<String> {
    let mut found = vec![value.to_owned(), percent(value, Hex::Upper), percent(value, Hex::Lower)];
    let in_json = json(value);
    if in_json != value {
        found.push(in_json);
    }
    for alphabet in [STANDARD, URL_SAFE] {
        found.push(base64(value.as_bytes(), alphabet));
        found.extend((0..3).map(|offset| base64_core(value.as_bytes(), offset, alphabet)));
    }
    found
}

/// Encodes for a JSON string, without the quotation marks.
fn json(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for char in value.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            char if char.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(char))),
            char => out.push(char),
        }
    }
    out
}

#[derive(Clone, Copy)]
enum Hex {
    Upper,
    Lower,
}

fn percent(value: &str, hex: Hex) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match (byte, hex) {
            (b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~', _) => {
                out.push(byte as char)
            }
            (_, Hex::Upper) => out.push_str(&format!("%{byte:02X}")),
            (_, Hex::Lower) => out.push_str(&format!("%{byte:02x}")),
        }
    }
    out
}

/// The padded base64 of `bytes`.
fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().enumerate().fold(0, |sum, (at, byte)| sum | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            if at <= chunk.len() {
                out.push(alphabet[(group >> (18 - 6 * at)) as usize & 63] as char);
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// The base64 characters that depend only on `bytes`, after `offset` other bytes.
fn base64_core(bytes: &[u8], offset: usize, alphabet: &[u8; 64]) -> String {
    let mut shifted = vec![0; offset];
    shifted.extend_from_slice(bytes);
    let first = (offset * 8).div_ceil(6);
    let end = shifted.len() * 8 / 6;
    base64(&shifted, alphabet).get(first..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_matches_standard_examples() {
        for (plain, want) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes(), STANDARD), want, "{plain}");
        }
        assert_eq!(base64(&[0xfb, 0xff], URL_SAFE), "-_8=");
    }

    #[test]
    fn base64_core_is_found_at_every_offset() {
        for before in ["", "a", "ab", "abc", "user:"] {
            for after in ["", "x", "xy", "xyz"] {
                let whole = base64(format!("{before}hunter2secret{after}").as_bytes(), STANDARD);
                let core = base64_core(b"hunter2secret", before.len() % 3, STANDARD);
                assert!(core.len() >= 15 && whole.contains(&core), "{before}|{after}");
            }
        }
    }

    #[test]
    fn percent_encoding_keeps_unreserved_characters() {
        assert_eq!(percent("a-b_c.d~e/+ü", Hex::Upper), "a-b_c.d~e%2F%2B%C3%BC");
        assert_eq!(percent("a/b", Hex::Lower), "a%2fb");
    }
}
