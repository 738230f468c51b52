//! Conversion of command-line text to values of the file.

use serde_json::Value;

use super::error::{ConfigError, Origin, Problem};
use super::keys::Key;
use super::value::{Parsed, found, wanted};

/// The value for `key`: by its type when the key is known, by its looks when it is not.
pub(crate) fn coerce(key: &str, text: &str) -> Result<Value, ConfigError> {
    let Some(known) = Key::find(key) else {
        return Ok(by_looks(text));
    };
    match Parsed::of_text(known.kind, text) {
        Some(value) => Ok(value.into_tree()),
        None => Err(ConfigError::Value(Problem::WrongType {
            origin: Origin::CommandLine,
            key: key.to_owned(),
            found: found(&text.into(), known.secret),
            wanted: wanted(known.kind),
        })),
    }
}

fn by_looks(text: &str) -> Value {
    let trimmed = text.trim();
    match trimmed.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => return true.into(),
        "false" | "no" | "off" => return false.into(),
        "null" | "~" => return Value::Null,
        _ => {}
    }
    // Numbers, lists and maps look the same in JSON; quotes ask for text ("12").
    match serde_json::from_str(trimmed) {
        Ok(value) => value,
        Err(_) => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_keys_take_what_the_text_looks_like() {
        for (text, want) in [
            ("true", json!(true)),
            ("Off", json!(false)),
            ("null", json!(null)),
            ("12", json!(12)),
            ("-1.5", json!(-1.5)),
            ("012", json!("012")),
            ("1.2.3", json!("1.2.3")),
            ("\"12\"", json!("12")),
            ("[1, \"a\"]", json!([1, "a"])),
            ("{\"a\": {\"b\": null}}", json!({"a": {"b": null}})),
            ("[a", json!("[a")),
            ("some text: here", json!("some text: here")),
            ("", json!("")),
        ] {
            assert_eq!(coerce("some.key", text).unwrap(), want, "{text}");
        }
    }

    #[test]
    fn known_keys_take_their_type_or_nothing() {
        assert_eq!(coerce("model.default", "123").unwrap(), json!("123"));
        assert_eq!(coerce("toolsets", "web, file").unwrap(), json!(["web", "file"]));
        assert_eq!(coerce("approvals.mode", "off").unwrap(), json!("off"));
        let error = coerce("agent.max_turns", "lots").unwrap_err().to_string();
        assert_eq!(
            error,
            "`agent.max_turns` must be a whole number, 0 or more, but the command line has `lots`"
        );
    }
}
