//! Incremental UTF-8 decoding.

/// Decodes UTF-8 leniently: a sequence split between two pieces is joined; an invalid one becomes the
/// replacement character.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The incomplete sequence at the end of the last piece; at most three bytes.
    pending: Vec<u8>,
}

impl Decoder {
    /// Decodes `bytes` up to the last complete sequence.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> String {
        let mut joined = std::mem::take(&mut self.pending);
        joined.extend_from_slice(bytes);
        let keep = unfinished(&joined);
        self.pending = joined.split_off(joined.len() - keep);
        match String::from_utf8(joined) {
            Ok(text) => text,
            Err(broken) => String::from_utf8_lossy(broken.as_bytes()).into_owned(),
        }
    }

    /// Decodes the rest at the end of the input.
    pub(crate) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned()
    }
}

/// The length of an incomplete sequence at the end.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0x80..=0xBF => continue,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => return 0,
        };
        return if length > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_at_any_split() {
        let whole = "a中é🎉z";
        for cut in 0..=whole.len() {
            let mut decoder = Decoder::default();
            let mut text = decoder.feed(&whole.as_bytes()[..cut]);
            text += &decoder.feed(&whole.as_bytes()[cut..]);
            text += &decoder.finish();
            assert_eq!(text, whole, "cut at {cut}");
        }
    }

    #[test]
    fn invalid_bytes_become_replacement_characters() {
        for (bytes, want) in [
            (&b"a\xff"[..], "a\u{fffd}"),
            (b"\xe4\xb8", "\u{fffd}"),
            (b"\x80\x80\x80", "\u{fffd}\u{fffd}\u{fffd}"),
            (b"a\0b", "a\0b"),
        ] {
            let mut decoder = Decoder::default();
            let text = decoder.feed(bytes) + &decoder.finish();
            assert_eq!(text, want, "{bytes:?}");
        }
    }
}
