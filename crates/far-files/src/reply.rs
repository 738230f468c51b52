//! The protocol of the scripts: quoting, encoding, replies.

use crate::files::Facts;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Quotes any bytes but NUL for bash.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && *byte != b'\'';
    let text = String::from_utf8_lossy(bytes);
    if bytes.iter().all(is_plain) {
        return format!("'{text}'");
    }
    let escaped = |byte: &u8| match byte {
        b'\\' => "\\\\".to_owned(),
        byte if is_plain(byte) => char::from(*byte).to_string(),
        byte => format!("\\x{byte:02x}"),
    };
    format!("$'{}'", bytes.iter().filter(|byte| **byte != 0).map(escaped).collect::<String>())
}

/// Content for the standard input of a script, never empty. Without base64, escapes that bash decodes.
pub(crate) fn encoded(content: &[u8], has_base64: bool) -> Vec<u8> {
    if has_base64 {
        return (STANDARD.encode(content) + "\n").into_bytes();
    }
    let lines = content.chunks(1000).map(|chunk| {
        let escapes = chunk.iter().map(|byte| format!("\\x{byte:02x}"));
        escapes.collect::<String>() + "\n"
    });
    lines.collect::<String>().into_bytes().into_iter().chain(*b"\n").collect()
}

/// The content that a script encoded: `b` and base64, or `x` and hexadecimal digits.
fn decoded(text: &str) -> Option<Vec<u8>> {
    match text.split_at_checked(1)? {
        ("b", digits) => STANDARD.decode(digits).ok(),
        ("x", digits) => {
            let pairs = digits.as_bytes().chunks(2);
            pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
        }
        _ => None,
    }
}

/// The reply of a script: lines of a key and a value.
pub(crate) struct Reply {
    fields: Vec<(String, String)>,
}

impl Reply {
    pub(crate) fn read(text: &str) -> Self {
        let fields = text.lines().filter_map(|line| line.split_once(' '));
        Self { fields: fields.map(|(key, value)| (key.to_owned(), value.to_owned())).collect() }
    }

    pub(crate) fn word(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The word by which the script ended; empty if it did not.
    pub(crate) fn status(&self) -> &str {
        self.word("end").unwrap_or_default()
    }

    pub(crate) fn bytes(&self, key: &str) -> Option<Vec<u8>> {
        decoded(self.word(key)?)
    }

    pub(crate) fn path(&self, key: &str) -> Option<PathBuf> {
        self.bytes(key).map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
    }

    pub(crate) fn number(&self, key: &str) -> Option<usize> {
        self.word(key)?.trim().parse().ok()
    }

    /// The facts that `stat` printed: size, inode, device, kind, time.
    pub(crate) fn facts(&self) -> Option<Facts> {
        let mut parts = self.word("stat")?.splitn(5, '|');
        let (size, inode) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let (_device, kind, time) = (parts.next()?, parts.next()?.to_owned(), parts.next()?);
        Some(Facts { size, inode, modified: time_of(time), kind })
    }
}

/// The time of `2026-11-19 22:48:10.123456789 +0000`; some programs print no fraction.
pub(crate) fn time_of(text: &str) -> Option<SystemTime> {
    let text = text.trim().strip_suffix("+0000")?.trim();
    let time: jiff::civil::DateTime = text.replacen(' ', "T", 1).parse().ok()?;
    let stamp = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    let since = Duration::from_nanos(u64::try_from(stamp.as_nanosecond()).ok()?);
    Some(SystemTime::UNIX_EPOCH + since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_survive_quoting() {
        for (bytes, want) in [
            (&b"/a b/$(x)"[..], "'/a b/$(x)'"),
            (b"it's", "$'it\\x27s'"),
            (b"a\nb\\c", "$'a\\x0ab\\\\c'"),
            (b"\xff-", "$'\\xff-'"),
            (b"", "''"),
        ] {
            assert_eq!(quoted(bytes), want, "{bytes:?}");
        }
    }

    #[test]
    fn both_encodings_are_read() {
        assert_eq!(decoded("bYQA=").unwrap(), b"a\0");
        assert_eq!(decoded("x6100").unwrap(), b"a\0");
        assert_eq!((decoded("x6"), decoded("q"), decoded("")), (Some(vec![6]), None, None));
        assert_eq!(encoded(b"a\0", true), b"YQA=\n");
        assert_eq!(encoded(b"a\0", false), b"\\x61\\x00\n\n");
    }

    #[test]
    fn facts_are_read_with_and_without_a_fraction() {
        let facts = |text: &str| Reply::read(&format!("stat {text}\nend ok\n")).facts().unwrap();
        let one = facts("5|7|8|regular file|1970-01-01 00:00:02.000000003 +0000");
        assert_eq!(one.modified, Some(SystemTime::UNIX_EPOCH + Duration::new(2, 3)));
        assert_eq!((one.size, one.inode, one.other_kind()), (5, 7, None));
        let other = facts("5|7|8|fifo|1970-01-01 00:00:02 +0000");
        assert_eq!(other.modified, Some(SystemTime::UNIX_EPOCH + Duration::from_secs(2)));
        assert_eq!(other.other_kind(), Some("a named pipe"));
    }
}
