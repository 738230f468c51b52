//! Compactions and context usage as text.

use crate::status_line::short;
use crate::term::{Style, one_line, printable};
use crate::text::counted;
use hermes_conversation::{CompactionReport, SummaryBy, TokenCount};
use hermes_runtime::ContextMeter;

/// One line about a compaction.
pub(crate) fn compaction_line(report: &CompactionReport) -> String {
    let CompactionReport { messages_before, messages_after, tokens_before, tokens_after, .. } = report;
    let sizes = format!(
        "🗜 {messages_before} → {messages_after} messages, {} → {} tokens",
        tokens(*tokens_before),
        tokens(*tokens_after)
    );
    let by = match &report.by {
        SummaryBy::Model(model) => format!("by {} in {:.1} s", printable(model), report.seconds),
        SummaryBy::Excerpts => "by excerpts".to_owned(),
        SummaryBy::Fallback { why } => {
            format!("by excerpts, because the summary failed ({})", one_line(why, 120))
        }
    };
    format!("{sizes}, {by}")
}

/// A number of tokens; estimates have a `~`.
pub fn tokens(count: TokenCount) -> String {
    match count {
        TokenCount::Measured(tokens) => short(tokens),
        TokenCount::Estimated(tokens) => format!("~{}", short(tokens)),
    }
}

/// The usage of the context window, part by part.
pub fn meter_lines(meter: &ContextMeter, style: Style) -> Vec<String> {
    const CELLS: u64 = 40;
    let Style { bold, dim, off, .. } = style;
    let used = meter.parts.whole.value();
    let window = meter.window.unwrap_or(0).max(1);
    let percent = used * 100 / window;
    let cells = |tokens: u64| usize::try_from((tokens * CELLS).div_ceil(window).min(CELLS)).unwrap_or(0);
    let full = cells(used);
    let mark = meter.threshold.map(cells).filter(|mark| *mark > full && *mark < CELLS as usize);
    let bar: String = (0..CELLS as usize)
        .map(|cell| match cell {
            _ if cell < full => '█',
            _ if Some(cell) == mark => '┊',
            _ => '░',
        })
        .collect();
    let mut lines = vec![
        format!(
            "{bold}{}{off}  {} of {} tokens, {percent}%",
            printable(&meter.model),
            tokens(meter.parts.whole),
            short(window)
        ),
        format!("[{bar}]"),
        format!(
            "{dim}system prompt ~{}, tools ~{}, {} ~{}{off}",
            short(meter.parts.system),
            short(meter.parts.tools),
            counted(meter.parts.message_count, "message"),
            short(meter.parts.messages)
        ),
    ];
    lines.push(match meter.threshold {
        Some(threshold) => format!(
            "{dim}compaction at {} tokens (engine: {}); {} so far{off}",
            short(threshold),
            printable(&meter.engine),
            counted(meter.compactions, "compaction")
        ),
        None => format!("{dim}automatic compaction is off (compression.enabled){off}"),
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::{KeptCounts, Trigger};
    use hermes_runtime::Weighed;

    #[test]
    fn compaction_is_described_in_one_line() {
        let report = |by| CompactionReport {
            engine: "compressor".into(),
            trigger: Trigger::Loop,
            by,
            messages_before: 48,
            messages_after: 12,
            tokens_before: TokenCount::Measured(96_000),
            tokens_after: TokenCount::Estimated(31_400),
            seconds: 3.21,
            cost_usd: None,
            kept: KeptCounts::default(),
        };
        for (by, want) in [
            (SummaryBy::Model("m".into()), "96K → ~31K tokens, by m in 3.2 s"),
            (SummaryBy::Excerpts, "~31K tokens, by excerpts"),
            (
                SummaryBy::Fallback { why: "HTTP\n500".into() },
                "by excerpts, because the summary failed (HTTP 500)",
            ),
        ] {
            let line = compaction_line(&report(by));
            assert!(line.starts_with("🗜 48 → 12 messages, 96K →") && line.ends_with(want), "{line}");
        }
    }

    #[test]
    fn meter_shows_usage_and_threshold() {
        let meter = |whole, threshold| ContextMeter {
            model: "m".into(),
            engine: "compressor".into(),
            window: Some(100_000),
            threshold,
            compactions: 1,
            parts: Weighed { system: 900, tools: 2_000, messages: 47_100, message_count: 31, whole },
        };
        let lines = meter_lines(&meter(TokenCount::Measured(50_000), Some(75_000)), Style::PLAIN);
        assert_eq!(lines[0], "m  50K of 100K tokens, 50%");
        assert_eq!(lines[1], format!("[{}{}┊{}]", "█".repeat(20), "░".repeat(10), "░".repeat(9)));
        assert_eq!(lines[2], "system prompt ~900, tools ~2K, 31 messages ~47K");
        assert_eq!(lines[3], "compaction at 75K tokens (engine: compressor); 1 compaction so far");
        let lines = meter_lines(&meter(TokenCount::Estimated(500_000), None), Style::PLAIN);
        assert_eq!(lines[1], format!("[{}]", "█".repeat(40)));
        assert!(lines[3].contains("compression.enabled"), "{}", lines[3]);
    }
}
