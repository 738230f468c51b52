//! A setting's value in its own type, read from text (flags, variables) or from a YAML tree.

use hermes_conversation::Money;
use serde_json::Value;

use super::expand::{expand, unset};
use super::keys::{Fallback, Kind};

/// A value of the type its key asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Parsed {
    Text(String),
    Integer(i64),
    /// Digits that [`Money::parse`] understands.
    Dollars(String),
    /// Digits of a number from 0 to 1.
    Share(String),
    Boolean(bool),
    List(Vec<String>),
}

impl Parsed {
    pub(crate) fn of_default(default: Fallback) -> Option<Self> {
        match default {
            Fallback::None => None,
            Fallback::Text(text) => Some(Self::Text(text.to_owned())),
            Fallback::Integer(number) => Some(Self::Integer(number)),
            Fallback::Boolean(on) => Some(Self::Boolean(on)),
            Fallback::List(items) => Some(Self::List(items.iter().map(|item| item.to_string()).collect())),
        }
    }

    /// The first variable in a value of the file that is not set.
    pub(crate) fn unset_variable(value: &Value, lookup: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        match value {
            Value::String(text) => unset(text, lookup).map(str::to_owned),
            Value::Array(items) => items.iter().find_map(|item| Self::unset_variable(item, lookup)),
            _ => None,
        }
    }

    /// Reads a flag or a variable. `None` when the text is not of this kind.
    pub(crate) fn of_text(kind: Kind, text: &str) -> Option<Self> {
        let text = text.trim();
        match kind {
            Kind::Text => Some(Self::Text(text.to_owned())),
            Kind::Integer => integer(text).map(Self::Integer),
            Kind::Dollars => {
                let digits = text.strip_prefix('$').unwrap_or(text).replace('_', "");
                Money::parse(&digits).map(|_| Self::Dollars(digits))
            }
            Kind::Share => share(text).map(|number| Self::Share(number.to_string())),
            Kind::Boolean => boolean(text).map(Self::Boolean),
            Kind::List => list(text).map(Self::List),
            Kind::Choice(words) => {
                let word = if text.eq_ignore_ascii_case("false") { "off" } else { text };
                words
                    .iter()
                    .find(|known| known.eq_ignore_ascii_case(word))
                    .map(|word| Self::Text(word.to_string()))
            }
        }
    }

    /// Reads a value of the file. `Some(None)` when it says nothing (null or empty text).
    pub(crate) fn of_tree(
        kind: Kind,
        value: &Value,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Option<Self>> {
        let read = match (kind, value) {
            (_, Value::Null) => return Some(None),
            (_, Value::String(text)) if text.trim().is_empty() => return Some(None),
            // An unknown text must not loosen anything, so it means the last choice, the strictest.
            (Kind::Choice(words), Value::String(text)) => Self::of_text(kind, &expand(text, lookup))
                .or_else(|| words.last().map(|word| Self::Text(word.to_string()))),
            // YAML reads the bare word `off` as false and `on` as true.
            (Kind::Choice(words), Value::Bool(on)) => {
                let word = match on {
                    true if words.contains(&"on") => "on",
                    true => words.last().copied()?,
                    false => "off",
                };
                Self::of_text(kind, word)
            }
            (kind, Value::String(text)) => Self::of_text(kind, &expand(text, lookup)),
            (Kind::Boolean, Value::Bool(on)) => Some(Self::Boolean(*on)),
            (
                Kind::Integer | Kind::Dollars | Kind::Share | Kind::Text | Kind::Boolean,
                Value::Number(number),
            ) => Self::of_text(kind, &number.to_string()),
            (Kind::List, Value::Array(items)) => {
                items.iter().map(|item| scalar(item, lookup)).collect::<Option<_>>().map(Self::List)
            }
            _ => None,
        };
        read.map(Some)
    }

    /// The text that is shown to users: lists as `a, b`.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Text(text) | Self::Dollars(text) | Self::Share(text) => text.clone(),
            Self::Integer(number) => number.to_string(),
            Self::Boolean(on) => on.to_string(),
            Self::List(items) => items.join(", "),
        }
    }

    /// As it is written to the file.
    pub(crate) fn into_tree(self) -> Value {
        match self {
            Self::Text(text) => text.into(),
            Self::Integer(number) => number.into(),
            // As the number it is, where it can be written as one.
            Self::Dollars(digits) | Self::Share(digits) => {
                serde_json::from_str(&digits).unwrap_or_else(|_| digits.into())
            }
            Self::Boolean(on) => on.into(),
            Self::List(items) => items.into(),
        }
    }
}

/// A part of a whole: `0.5`, or `50%`.
fn share(text: &str) -> Option<f64> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    (0.0..=1.0).contains(&number).then_some(number)
}

/// The name of a kind in messages.
pub(crate) fn wanted(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".into(),
        Kind::Integer => "a whole number, 0 or more".into(),
        Kind::Dollars => "a number of dollars such as 2.50".into(),
        Kind::Share => "a number from 0 to 1 such as 0.5".into(),
        Kind::Boolean => "true or false".into(),
        Kind::List => "a list of texts".into(),
        Kind::Choice(choices) => format!("one of {}", choices.join(", ")),
    }
}

/// The name of a value in messages; its content is shown only if that helps and it is not a secret.
pub(crate) fn found(value: &Value, secret: bool) -> String {
    match value {
        Value::Null => "nothing".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "a section".into(),
        _ if secret => "something else".into(),
        Value::String(text) => format!("`{}`", text.chars().take(40).collect::<String>()),
        other => format!("`{other}`"),
    }
}

pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Whole numbers, also as Python writes them (`180.0`, `50_000`).
/// Every number of the settings counts something, so none is negative.
fn integer(text: &str) -> Option<i64> {
    let plain = text.replace('_', "");
    let whole = plain.strip_suffix(".0").unwrap_or(&plain);
    whole.parse().ok().filter(|number| *number >= 0)
}

fn list(text: &str) -> Option<Vec<String>> {
    if text.starts_with('[') {
        let items: Vec<Value> = serde_json::from_str(text).ok()?;
        return items.iter().map(|item| scalar(item, &|_| None)).collect();
    }
    Some(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect())
}

fn scalar(value: &Value, lookup: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    match value {
        Value::String(text) => Some(expand(text, lookup).into_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(on.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MODES: Kind = Kind::Choice(&["smart", "off", "manual"]);

    fn text(text: &str) -> Option<Parsed> {
        Some(Parsed::Text(text.into()))
    }

    #[test]
    fn text_is_read_by_kind() {
        let list = |items: &[&str]| Some(Parsed::List(items.iter().map(|i| i.to_string()).collect()));
        for (kind, given, want) in [
            (Kind::Text, " 12 ", text("12")),
            (Kind::Integer, "12", Some(Parsed::Integer(12))),
            (Kind::Share, "0.50", Some(Parsed::Share("0.5".into()))),
            (Kind::Share, "85%", Some(Parsed::Share("0.85".into()))),
            (Kind::Share, "1.5", None),
            (Kind::Share, "nan", None),
            (Kind::Share, "half", None),
            (Kind::Integer, "1800.0", Some(Parsed::Integer(1800))),
            (Kind::Integer, "50_000", Some(Parsed::Integer(50_000))),
            (Kind::Integer, "1.5", None),
            (Kind::Integer, "many", None),
            (Kind::Boolean, "Yes", Some(Parsed::Boolean(true))),
            (Kind::Boolean, "0", Some(Parsed::Boolean(false))),
            (Kind::Boolean, "maybe", None),
            (Kind::List, "a, b,,c", list(&["a", "b", "c"])),
            (Kind::List, r#"["a,b", 1]"#, list(&["a,b", "1"])),
            (Kind::List, "[a", None),
            (MODES, "OFF", text("off")),
            (MODES, "false", text("off")),
            (MODES, "sometimes", None),
        ] {
            assert_eq!(Parsed::of_text(kind, given), want, "{given}");
        }
    }

    #[test]
    fn a_tree_is_read_by_kind() {
        for (kind, given, want) in [
            (Kind::Text, json!(null), Some(None)),
            (Kind::Text, json!(" "), Some(None)),
            (Kind::Text, json!("${X}"), Some(text("from x"))),
            (Kind::Text, json!(7), Some(text("7"))),
            (Kind::Text, json!({"a": 1}), None),
            (Kind::Integer, json!("90"), Some(Some(Parsed::Integer(90)))),
            (Kind::Integer, json!(90.0), Some(Some(Parsed::Integer(90)))),
            (Kind::Integer, json!(true), None),
            (Kind::Boolean, json!(false), Some(Some(Parsed::Boolean(false)))),
            (Kind::List, json!(["a", "${X}"]), Some(Some(Parsed::List(vec!["a".into(), "from x".into()])))),
            (Kind::List, json!([["a"]]), None),
            (MODES, json!(false), Some(text("off"))),
            (MODES, json!(true), Some(text("manual"))),
            (MODES, json!("paranoid"), Some(text("manual"))),
            (MODES, json!([1]), None),
        ] {
            let lookup = |name: &str| (name == "X").then(|| "from x".to_owned());
            assert_eq!(Parsed::of_tree(kind, &given, &lookup), want, "{given}");
        }
    }
}
