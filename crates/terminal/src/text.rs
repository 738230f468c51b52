//! Counts, sizes and times as text, and text in columns.

use crate::term::fitting;
use unicode_width::UnicodeWidthStr;

/// A count with its noun: `1 file`, `3 files`.
pub fn counted(count: impl TryInto<u64>, thing: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// A number of bytes: `12 B`, `3 KiB`, `1.5 MiB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KiB", bytes.div_ceil(1_024)),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// A time in seconds since the epoch, as local date and minute.
pub fn local_time(epoch: f64) -> String {
    let seconds = epoch as i64;
    jiff::Timestamp::from_second(seconds).map_or_else(
        |_| "?".to_owned(),
        |time| time.to_zoned(hermes_runtime::clock::local_zone()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

/// Text in exactly `width` columns, cut or padded.
pub fn padded(text: &str, width: usize) -> String {
    let text = fitting(text, width);
    let missing = width.saturating_sub(text.width());
    text + &" ".repeat(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_or_padded() {
        for (text, width, want) in [
            ("abc", 5, "abc  "),
            ("abcde", 5, "abcde"),
            ("abcdef", 5, "abcd…"),
            ("中文字", 5, "中文…"),
            ("中文字", 4, "中… "),
            ("a\x1b[2J", 4, "a\\u…"),
        ] {
            assert_eq!(padded(text, width), want, "{text:?}");
        }
    }

    #[test]
    fn counts_have_their_plural() {
        assert_eq!((counted(1_u64, "file"), counted(0_usize, "file")), ("1 file".into(), "0 files".into()));
    }
}
