//! `hermes sessions stats`.

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_store::{NamedTally, SessionDb, Statistics, Tally};
use hermes_terminal::print;
use hermes_terminal::term::{self, Style, one_line};
use hermes_terminal::text::size;
use serde_json::{Value, json};

pub(super) async fn run(store: &SessionDb, common: &Common) -> Result<Exit, Failure> {
    let statistics = store.statistics().await?;
    if common.json {
        print::json(&statistics_json(&statistics));
    } else {
        term::print(&text(&statistics, Style::for_stream(&std::io::stdout())));
    }
    Ok(Exit::Answered)
}

fn statistics_json(statistics: &Statistics) -> Value {
    let list = |name: &str, rows: &[NamedTally]| -> Value {
        rows.iter()
            .map(|row| {
                let mut value = json!({ name: row.name });
                merge(&mut value, tally_json(&row.tally));
                value
            })
            .collect()
    };
    json!({
        "total": tally_json(&statistics.total),
        "by_model": list("model", &statistics.by_model),
        "by_source": list("source", &statistics.by_source),
        "by_day": list("day", &statistics.by_day),
        "database_bytes": statistics.bytes,
        "log_bytes": statistics.log_bytes,
    })
}

fn merge(value: &mut Value, more: Value) {
    if let (Value::Object(value), Value::Object(more)) = (value, more) {
        value.extend(more);
    }
}

fn tally_json(tally: &Tally) -> Value {
    json!({
        "sessions": tally.sessions, "messages": tally.messages, "tool_calls": tally.tool_calls,
        "api_calls": tally.api_calls, "input_tokens": tally.input_tokens,
        "output_tokens": tally.output_tokens, "cache_read_tokens": tally.cache_read_tokens,
        "cache_write_tokens": tally.cache_write_tokens, "reasoning_tokens": tally.reasoning_tokens,
    })
}

fn text(statistics: &Statistics, style: Style) -> String {
    let Style { dim, off, .. } = style;
    let mut text = format!(
        "{dim}{:<28} {:>8} {:>8} {:>8} {:>8} {:>12} {:>12}{off}\n",
        "", "Sessions", "Messages", "Tools", "Calls", "Tokens in", "Tokens out"
    );
    text.push_str(&row("In all", &statistics.total));
    for (heading, rows) in [
        ("By model", &statistics.by_model),
        ("By source", &statistics.by_source),
        ("By day (last 14)", &statistics.by_day),
    ] {
        text.push_str(&format!("\n{dim}{heading}{off}\n"));
        text.extend(rows.iter().map(|named| row(&named.name, &named.tally)));
    }
    text.push_str(&format!("\nDatabase {}, log {}\n", size(statistics.bytes), size(statistics.log_bytes)));
    text
}

/// Tokens read from a cache or written to one were sent as well.
fn row(name: &str, tally: &Tally) -> String {
    let sent = tally.input_tokens + tally.cache_read_tokens + tally.cache_write_tokens;
    format!(
        "{:<28} {:>8} {:>8} {:>8} {:>8} {sent:>12} {:>12}\n",
        one_line(name, 28),
        tally.sessions,
        tally.messages,
        tally.tool_calls,
        tally.api_calls,
        tally.output_tokens
    )
}
