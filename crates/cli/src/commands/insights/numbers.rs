//! Numbers as short text, and as bars.

/// A number with separators; from a million on abbreviated.
pub(super) fn number(count: u64) -> String {
    match count {
        0..1_000_000 => grouped(count),
        1_000_000..1_000_000_000 => format!("{:.1}M", count as f64 / 1e6),
        _ => format!("{:.1}G", count as f64 / 1e9),
    }
}

fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub(super) fn percent(part: f64) -> String {
    format!("{:.0}%", part * 100.0)
}

pub(super) fn dollars(amount: f64) -> String {
    if amount != 0.0 && amount.abs() < 0.01 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

pub(super) fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0) as u64;
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{}s", seconds as u64),
        (0, minutes) => format!("{minutes}m"),
        (hours, minutes) => format!("{}h {minutes:02}m", grouped(hours)),
    }
}

/// A bar for `part`, where `whole` fills the width. A positive number has at least one cell.
pub(super) fn bar(part: u64, whole: u64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let whole = whole.max(1);
    let length = (part.min(whole) as f64 / whole as f64 * width as f64 * 8.0).round() as usize;
    let length = length.max(usize::from(part > 0 && width > 0));
    format!("{}{}", "█".repeat(length / 8), EIGHTHS[length % 8])
}

/// One column per value, as high as the value; a dot for zero.
pub(super) fn columns(values: &[u64]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = values.iter().copied().max().unwrap_or_default().max(1);
    let column = |&value: &u64| match value {
        0 => '·',
        _ => HEIGHTS[((value as f64 / highest as f64 * 8.0).ceil() as usize).clamp(1, 8) - 1],
    };
    values.iter().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        for (count, want) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (123_456, "123,456"),
            (1_250_000, "1.2M"),
            (3_000_000_000, "3.0G"),
        ] {
            assert_eq!(number(count), want);
        }
        for (seconds, want) in
            [(0.0, "0s"), (59.9, "59s"), (60.0, "1m"), (3_660.0, "1h 01m"), (4_000_000.0, "1,111h 06m")]
        {
            assert_eq!(duration(seconds), want);
        }
        for (amount, want) in [(0.0, "$0.00"), (0.0012, "$0.0012"), (12.345, "$12.35")] {
            assert_eq!(dollars(amount), want);
        }
        assert_eq!(percent(0.555), "56%");
    }

    #[test]
    fn bars_are_proportional() {
        for (part, whole, width, want) in [
            (0, 10, 4, ""),
            (10, 10, 4, "████"),
            (5, 10, 4, "██"),
            (1, 1_000, 4, "▏"),
            (3, 8, 1, "▍"),
            (20, 10, 2, "██"),
            (1, 0, 0, ""),
        ] {
            assert_eq!(bar(part, whole, width), want, "{part} of {whole} in {width}");
        }
        assert_eq!(columns(&[0, 1, 50, 100]), "·▁▄█");
        assert_eq!(columns(&[]), "");
    }
}
