//! The status line between a reply and the next prompt.

use crate::term::{Style, one_line};
use hermes_runtime::SessionStatus;
use std::time::Duration;

/// The widths below which parts are left out.
const WIDE: usize = 76;
const NARROW: usize = 52;

/// The usage of the context window from which on it is coloured, in percent.
const HALF: u64 = 50;
const MOSTLY: u64 = 80;

/// The line for a terminal of this width.
pub(crate) fn status_line(status: &SessionStatus, open: Duration, width: usize, style: Style) -> String {
    let Style { dim, red, off, .. } = style;
    let model = status.model.rsplit('/').next().unwrap_or_default();
    let model = format!("⚕ {}", one_line(model, 30));
    let percent = status.used.map(|used| (used * 100).checked_div(status.window).unwrap_or(100).min(100));
    let breaks = match status.unexplained {
        0 => None,
        1 => Some("⚠ 1 cache break".to_owned()),
        many => Some(format!("⚠ {many} cache breaks")),
    };
    let colour = match percent {
        Some(percent) if percent > MOSTLY => red,
        Some(percent) if percent >= HALF => "",
        _ => dim,
    };
    let breaks = breaks.map(|words| format!("{off}{red}{words}{off}{dim}"));
    let used = match (percent, width) {
        (_, ..NARROW) => None,
        (Some(percent), ..WIDE) => Some(format!("{percent}%")),
        (None, ..WIDE) => None,
        (Some(percent), _) => {
            let full = usize::try_from(percent / 10).unwrap_or(10);
            let bar = "█".repeat(full) + &"░".repeat(10 - full);
            let sizes = format!("{}/{}", short(status.used.unwrap_or_default()), short(status.window));
            Some(format!("{sizes} │ {off}{colour}[{bar}] {percent}%{off}{dim}"))
        }
        (None, _) => Some("ctx --".to_owned()),
    };
    let summed_up = (status.compactions > 0).then(|| format!("🗜 {}", status.compactions));
    let parts = [Some(model), used, summed_up, breaks, Some(spoken(open))];
    let between = if width < WIDE { " · " } else { " │ " };
    format!("{dim} {}{off}", parts.into_iter().flatten().collect::<Vec<_>>().join(between))
}

/// A number of tokens in few characters.
pub(crate) fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..10_000 => format!("{:.1}K", tokens as f64 / 1e3).replace(".0K", "K"),
        10_000..999_500 => format!("{:.0}K", tokens as f64 / 1e3),
        _ => format!("{:.1}M", tokens as f64 / 1e6).replace(".0M", "M"),
    }
}

fn spoken(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3_600 => format!("{}m", seconds / 60),
        seconds => format!("{}h{:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_fits_the_terminal() {
        let status = |used, unexplained| SessionStatus {
            model: "vendor/mock-model".into(),
            used,
            window: 128_000,
            compactions: unexplained / 2,
            unexplained,
        };
        for (status, seconds, width, want) in [
            (status(None, 0), 3, 100, " ⚕ mock-model │ ctx -- │ 3s"),
            (status(Some(100), 0), 18, 100, " ⚕ mock-model │ 100/128K │ [░░░░░░░░░░] 0% │ 18s"),
            (
                status(Some(64_200), 2),
                7_320,
                100,
                " ⚕ mock-model │ 64K/128K │ [█████░░░░░] 50% │ 🗜 1 │ ⚠ 2 cache breaks │ 2h02m",
            ),
            (status(Some(500_000), 1), 60, 70, " ⚕ mock-model · 100% · ⚠ 1 cache break · 1m"),
            (status(Some(64_000), 0), 60, 40, " ⚕ mock-model · 1m"),
        ] {
            let line = status_line(&status, Duration::from_secs(seconds), width, Style::PLAIN);
            assert_eq!(line, want);
        }
    }

    #[test]
    fn numbers_are_short() {
        for (tokens, want) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1K"),
            (1_234, "1.2K"),
            (12_345, "12K"),
            (200_000, "200K"),
            (999_999, "1M"),
            (1_050_000, "1.1M"),
        ] {
            assert_eq!(short(tokens), want);
        }
    }
}
