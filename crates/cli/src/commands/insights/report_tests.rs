use super::*;
use hermes_conversation::{SessionId, Usage};
use hermes_store::{MessageCounts, Quarter};
use jiff::civil::date;
use unicode_width::UnicodeWidthStr;

fn stretch(days: u32) -> Stretch {
    let now = date(2026, 11, 15).at(12, 0, 0, 0).in_tz("UTC").unwrap();
    Stretch::ending(&now, days).unwrap()
}

fn insights() -> Insights {
    let usage = Usage { input: 1_000, output: 400, cache_read: 2_500, cache_write: 500, reasoning: 100 };
    let share =
        |name: &str, messages| Share { name: name.into(), sessions: 2, messages, api_calls: 9, usage };
    let count = |name: &str, count| Count { name: name.into(), count };
    let session = SessionUse {
        id: SessionId::new("20261114_120000_abcdef"),
        title: None,
        preview: "看看这个仓库 📦 and tell me\x1b[2J".into(),
        source: "cli".into(),
        started_at: 0.0,
        messages: 1,
        api_calls: 9,
        usage,
        active_seconds: 4_000.0,
    };
    Insights {
        approvals: hermes_store::ApprovalCounts {
            asked: 12,
            denied: 3,
            rules: vec![
                Count { name: "recursive delete".to_owned(), count: 9 },
                Count { name: "find -delete".to_owned(), count: 3 },
            ],
        },
        sessions: 2,
        messages: MessageCounts { user: 4, assistant: 9, tool: 12, other: 0 },
        tool_calls: 12,
        api_calls: 9,
        usage,
        cost: CostSummary { actual_usd: Some(0.5), unknown_sessions: 1, ..CostSummary::default() },
        active_seconds: 4_000.0,
        models: vec![share("m", 0)],
        sources: vec![share("cli", 25)],
        tools: (0..10).map(|number| count(&format!("tool_{number}"), 20 - number)).collect(),
        turn_exits: vec![count("text_response(finish_reason=stop)", 4)],
        session_ends: vec![],
        // Saturday the 14th at 9:30, and Sunday the 15th at 23:45.
        quarters: vec![
            Quarter { at: 1_794_648_600, messages: 20 },
            Quarter { at: 1_794_786_300, messages: 5 },
        ],
        top_sessions: vec![session.clone()],
        longest: Some(session),
    }
}

fn page(insights: &Insights, days: u32, width: usize) -> String {
    text(&Shown { insights, stretch: &stretch(days), source: None }, width, Style::PLAIN)
}

#[test]
fn page_has_every_block() {
    let shown = page(&insights(), 30, 80);
    for want in [
        "│                               Hermes insights                                │",
        "2026-10-17 to 2026-11-15 (30 days)",
        "  Sessions       2                       Tokens in      4,000\n",
        "Cache hits     62%",
        "Active time    1h 06m",
        "  Messages: 4 user, 9 assistant, 12 tool",
        "  Cost: $0.50 billed, unknown for 1 session",
        "\nModels (tokens)\n  m    ████████████████████████████████████████ 4,400  2 sessions\n",
        "\nSources (messages)\n  cli  ████████████████████████████████████████ 25  2 sessions\n",
        "  tool_7  ██████████████████████████               13   8%\n  and 2 more: 23\n",
        "\nOutcomes of turns\n  text_response(finish_reas…  ████",
        "\n  Sat  ████████████████████████████████████████ 20\n  Sun  ██████████                                5\n",
        "\n  ·········█·············▂  by hour\n  0     6     12    18\n",
        "\n  ····························█▂  by day\n  Busiest day: 2026-11-14 (20)\n",
        "      4,400  20261114_120000_abcdef    看看这个仓库 📦 and tell me\\u{1b}[2J\n",
        "\nLongest session\n  1h 06m active, 1 message: 看看",
    ] {
        assert!(shown.contains(want), "{want:?} is missing in\n{shown}");
    }
    assert!(!shown.contains("Outcomes of sessions"), "{shown}");
}

#[test]
fn lines_fit_and_have_no_colour() {
    for (width, days) in [(36, 1), (40, 30), (80, 400), (200, 36_500)] {
        let shown = page(&insights(), days, width);
        assert!(!shown.contains('\x1b'), "{shown}");
        for line in shown.lines() {
            assert!(line.width() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn page_without_messages_is_one_line() {
    let none = Insights::default();
    for (days, source, want) in [
        (1, None, "No messages today. "),
        (7, None, "No messages in the last 7 days. "),
        (7, Some("cron"), "No messages with source cron in the last 7 days. "),
    ] {
        let shown = text(&Shown { insights: &none, stretch: &stretch(days), source }, 80, Style::PLAIN);
        assert!(shown.starts_with(want) && shown.ends_with("with --days.\n"), "{shown}");
    }
}

#[test]
fn cost_names_sessions_without_a_price() {
    let none = CostSummary::default();
    for (given, want) in [
        (none, "Cost: none"),
        (CostSummary { unknown_sessions: 2, ..none }, "Cost: unknown for 2 sessions"),
        (
            CostSummary { estimated_usd: Some(1.5), included_sessions: 1, ..none },
            "Cost: $1.50 estimated, included for 1 session",
        ),
    ] {
        assert_eq!(cost(&given), want);
    }
}
