//! Writes a value as YAML on one line.
//!
//! Text is left bare only where every YAML version reads it as the same text; Python's reader
//! still takes `off`, `12:30` and `2024-01-01` for something else.

use serde_json::Value;

/// The value in flow style: also valid inside `{}` and `[]`.
pub(crate) fn yaml_text(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(yaml_text).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", yaml_text(&key.as_str().into()), yaml_text(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        // JSON's scalars are YAML's: quoted text, numbers, true, false, null.
        other => other.to_string(),
    }
}

fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan"];
    let starts_well = text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '/');
    let safe = |char: char| char.is_ascii_alphanumeric() || "_-./:@%+ ".contains(char);
    starts_well
        && text.chars().all(safe)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_quoted_where_needed_and_read_back() {
        for (value, want) in [
            (json!("plain-name/x:7b"), "plain-name/x:7b"),
            (json!("two words"), "two words"),
            (json!("off"), "\"off\""),
            (json!("12:30"), "\"12:30\""),
            (json!(""), "\"\""),
            (json!("a: b"), "\"a: b\""),
            (json!("a # b"), "\"a # b\""),
            (json!("${HOME}/x"), "\"${HOME}/x\""),
            (json!("tab\tquote\"ü"), "\"tab\\tquote\\\"ü\""),
            (json!(12), "12"),
            (json!(1.5), "1.5"),
            (json!(null), "null"),
            (json!(["a", 1, "x, y"]), "[a, 1, \"x, y\"]"),
            (json!({"a": {"b": [true]}, "c d": ""}), "{a: {b: [true]}, c d: \"\"}"),
            (json!({}), "{}"),
        ] {
            let text = yaml_text(&value);
            assert_eq!(text, want);
            assert_eq!(
                serde_saphyr::from_str::<Value>(&format!("k: {text}\n")).unwrap(),
                json!({"k": value}),
                "{text}"
            );
        }
    }
}
