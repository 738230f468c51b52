//! Keeping results at a length the model can afford.
//!
//! Secrets are taken out first. A result that is too long goes to a file, whole; the model gets its beginning and the way
//! to the rest. What leaves here is always well-formed JSON.

use crate::text::head;
use crate::{ToolContext, ToolOutput};
use hermes_exec::SpillFile;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Characters one result may have.
const MOST: usize = 100_000;
/// Characters shown of a result that has more.
const PREVIEW: usize = 1500;

/// The text of `output` for the model.
pub(crate) fn fitted(output: ToolOutput, cx: &ToolContext) -> String {
    let output = ToolOutput { value: cleaned(output.value, cx), ..output };
    let text = output.value.to_string();
    // Bytes bound characters, so most results need no counting.
    if output.pages_itself || text.len() <= MOST {
        return text;
    }
    let chars = text.chars().count();
    if chars <= MOST {
        return text;
    }
    persisted(&output.value, chars, output.failed, cx)
}

/// The same for a result that is a text already and has to go to a file, however long it is.
pub(crate) fn persisted_text(text: &str, cx: &ToolContext) -> String {
    let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    let failed = value.get("error").is_some_and(|error| !error.is_null());
    persisted(&value, text.chars().count(), failed, cx)
}

/// Writes a result of `chars` characters to a file, and says where it is and how it begins.
fn persisted(value: &Value, chars: usize, failed: bool, cx: &ToolContext) -> String {
    // Pretty-printed, because a reader pages by lines.
    let readable = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    let where_to = match save(cx, &readable) {
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
    let key = if failed { "error" } else { "output" };
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

pub(crate) fn save(cx: &ToolContext, text: &str) -> std::io::Result<PathBuf> {
    let mut file = SpillFile::create(&cx.results_dir(), cx.spill_limits())?;
    file.write(text.as_bytes())?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;

    #[test]
    fn short_results_pass_and_long_ones_are_saved() {
        let bench = Bench::new();
        let small = ToolOutput::json(json!({"output": "x"}));
        assert_eq!(fitted(small, &bench.cx), r#"{"output":"x"}"#);

        let large = ToolOutput::json(json!({"output": "中\"\n".repeat(60_000)}));
        let text = fitted(large.clone(), &bench.cx);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let block = value["output"].as_str().unwrap();
        let path = bench.result_file();
        assert!(block.starts_with("<persisted-output>") && block.contains(path.to_str().unwrap()));
        assert!(block.chars().count() < 2200);
        let saved: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(saved, large.value);

        let paging = large.clone().paging_itself();
        assert_eq!(fitted(paging, &bench.cx), large.value.to_string());
    }
}
