//! Keeping results at a length the model can afford.
//!
//! Secrets are taken out first. A result that is too long goes to a file, whole; the model gets its beginning and the way
//! to the rest. What leaves here is always well-formed JSON.

use crate::text::head;
use crate::{Origin, ToolContext, ToolOutput, untrusted};
use hermes_exec::{SpillFile, SpillLimits};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Characters one result may have, however large the window is.
pub const MOST: usize = 100_000;
/// Characters one result may have, however small the window is.
const LEAST: usize = 2_000;
/// Below this many characters for one result the window is small, and pages of files are held to it, too.
const SMALL: usize = 38_400;
/// Characters shown of a result that has more.
const PREVIEW: usize = 1500;

/// Characters that one result may have, by the model's window in tokens: 15 % of it.
pub fn result_limit(window: Option<u64>) -> usize {
    share(window, 15, LEAST, MOST)
}

/// Characters that a page of a file may have, where a result may have `result` and the settings allow `stated`.
pub(crate) fn page_limit(result: usize, stated: usize) -> usize {
    if result < SMALL { stated.min(result) } else { stated }
}

/// A percentage of a context window, in characters; the maximum if the window is unknown.
pub(crate) fn share(window: Option<u64>, percent: u64, least: usize, most: usize) -> usize {
    /// Characters of a token, roughly.
    const CHARS: u64 = 4;
    let Some(tokens) = window else { return most };
    let chars = tokens.saturating_mul(CHARS * percent) / 100;
    usize::try_from(chars).unwrap_or(most).clamp(least, most)
}

/// The text of `output` for the model, of at most so many characters unless it pages itself.
pub(crate) fn fitted(output: ToolOutput, most: usize, cx: &ToolContext) -> String {
    let output = ToolOutput { value: cleaned(output.value, cx), ..output };
    let text = output.value.to_string();
    // Bytes bound characters, so most results need no counting.
    if output.pages_itself || text.len() <= most {
        return text;
    }
    let chars = text.chars().count();
    if chars <= most {
        return text;
    }
    persisted(&output, chars, cx)
}

/// The same for a result that is a text already and has to go to a file, however long it is.
pub(crate) fn persisted_text(text: &str, origin: Origin, cx: &ToolContext) -> String {
    let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    let failed = value.get("error").is_some_and(|error| !error.is_null());
    let output = ToolOutput::json(value).failed_if(failed).with_origin(origin);
    persisted(&output, text.chars().count(), cx)
}

/// Writes a result of `chars` characters to a file, and says where it is and how it begins.
fn persisted(output: &ToolOutput, chars: usize, cx: &ToolContext) -> String {
    let value = &output.value;
    // Pretty-printed, because a reader pages by lines.
    let readable = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    let where_to = match save(cx, &readable, output.origin) {
        Ok(path) => {
            format!("Saved whole to: {}\nRead it in pages with read_file (offset, limit).", path.display())
        }
        Err(error) => {
            tracing::warn!(%error, dir = %cx.results_dir().display(), "a long result could not be saved");
            "It could not be saved; ask for less at a time.".to_owned()
        }
    };
    let block = format!(
        "<persisted-output>\nThe result has {chars} characters, too many to show.\n{where_to}\n\nIt begins:\n{}\n</persisted-output>",
        preview(&readable)
    );
    let key = if output.failed { "error" } else { "output" };
    json!({ key: block, "truncated": true }).to_string()
}

/// The value with secrets taken out of every string. The strings and not the JSON text: a
/// replacement must not be able to swallow a closing quote.
fn cleaned(value: Value, cx: &ToolContext) -> Value {
    match value {
        Value::String(text) => Value::String(cx.clean(text)),
        Value::Array(items) => items.into_iter().map(|item| cleaned(item, cx)).collect(),
        Value::Object(map) => map.into_iter().map(|(key, item)| (key, cleaned(item, cx))).collect(),
        other => other,
    }
}

/// The beginning, cut at the end of a line where there is one.
fn preview(text: &str) -> &str {
    let cut = head(text, PREVIEW);
    match cut.rfind('\n') {
        Some(end) if end > cut.len() / 2 => &cut[..end],
        _ => cut,
    }
}

/// Writes a text to a file whose name marks its origin.
pub(crate) fn save(cx: &ToolContext, text: &str, origin: Origin) -> std::io::Result<PathBuf> {
    let mut file = SpillFile::create(&cx.results_dir(), cx.spill_limits())?;
    file.write(text.as_bytes())?;
    match origin {
        Origin::Here => file.finish(),
        Origin::Outside => file.finish_as(untrusted::ENDING),
    }
}

/// Writes a text of others to a private file in `dir`, whose oldest files make room.
pub(crate) fn save_untrusted(dir: &std::path::Path, text: &str) -> std::io::Result<PathBuf> {
    /// Bytes that all of them may have.
    const TOTAL: u64 = 64 << 20;
    let mut file = SpillFile::create(dir, SpillLimits { total: TOTAL, ..SpillLimits::default() })?;
    file.write(text.as_bytes())?;
    file.finish_as(untrusted::ENDING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;

    #[test]
    fn one_result_may_take_its_share_of_the_window() {
        for (window, want) in [
            (None, 100_000),
            (Some(0), 2_000),
            (Some(4_096), 2_457),
            (Some(8_192), 4_915),
            (Some(32_768), 19_660),
            (Some(64_000), 38_400),
            (Some(128_000), 76_800),
            (Some(200_000), 100_000),
            (Some(u64::MAX), 100_000),
        ] {
            assert_eq!(result_limit(window), want, "{window:?}");
        }
    }

    #[test]
    fn a_page_is_held_to_the_share_of_a_small_window() {
        for (window, stated, want) in [
            (None, 100_000, 100_000),
            (Some(128_000), 100_000, 100_000),
            (Some(64_000), 100_000, 100_000),
            (Some(63_000), 100_000, 37_800),
            (Some(4_096), 100_000, 2_457),
            (Some(4_096), 1_000, 1_000),
        ] {
            assert_eq!(page_limit(result_limit(window), stated), want, "{window:?}");
        }
    }

    #[test]
    fn a_result_is_kept_to_the_last_character_of_its_limit() {
        let bench = Bench::new();
        let output = ToolOutput::json(json!({"output": "中".repeat(8_000)}));
        let chars = output.value.to_string().chars().count();
        assert_eq!(fitted(output.clone(), chars, &bench.cx), output.value.to_string());
        assert!(!bench.cx.results_dir().exists());
        assert!(fitted(output.clone(), chars - 1, &bench.cx).contains("<persisted-output>"));
        // What pages itself has its own limit.
        assert_eq!(fitted(output.clone().paging_itself(), 1, &bench.cx), output.value.to_string());
    }

    #[test]
    fn short_results_pass_and_long_ones_are_saved() {
        let bench = Bench::new();
        let small = ToolOutput::json(json!({"output": "x"}));
        assert_eq!(fitted(small, MOST, &bench.cx), r#"{"output":"x"}"#);

        let large = ToolOutput::json(json!({"output": "中\"\n".repeat(60_000)}));
        let text = fitted(large.clone(), MOST, &bench.cx);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let block = value["output"].as_str().unwrap();
        let path = bench.result_file();
        assert!(block.starts_with("<persisted-output>") && block.contains(path.to_str().unwrap()));
        assert!(block.chars().count() < 2200);
        let saved: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(saved, large.value);

        let paging = large.clone().paging_itself();
        assert_eq!(fitted(paging, MOST, &bench.cx), large.value.to_string());
    }
}
