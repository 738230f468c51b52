//! Messages for the screen: calls without JSON, results without their envelope, images as size and type.
//!
//! None of this text is sent to a model.

use crate::image_size::image_size;
use crate::{Content, ToolCall, parse_lenient};
use serde_json::{Map, Value};
use std::borrow::Cow;

impl Content {
    /// The content for the screen; an image is `[image 640x480 png]`.
    pub fn display_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => Cow::Owned(display_parts(parts.as_str())),
        }
    }
}

/// A JSON list of parts for the screen.
pub fn display_parts(parts: &str) -> String {
    let Ok(list) = parse_lenient::<Vec<Value>>(parts) else { return parts.to_owned() };
    list.iter().map(display_part).collect::<Vec<_>>().join("\n")
}

fn display_part(part: &Value) -> String {
    let kind = part["type"].as_str().unwrap_or_default();
    match (kind, part["text"].as_str().or(part.as_str())) {
        ("image_url" | "input_image" | "image", _) => image_label(part),
        (_, Some(text)) => text.to_owned(),
        _ => format!("[{kind}]"),
    }
}

fn image_label(part: &Value) -> String {
    let url = part["image_url"]["url"].as_str().or(part["image_url"].as_str());
    let inline = url.and_then(|url| url.strip_prefix("data:")).and_then(|data| data.split_once(";base64,"));
    let source = &part["source"];
    let Some((media_type, data)) =
        inline.or_else(|| Some((source["media_type"].as_str()?, source["data"].as_str()?)))
    else {
        return "[image]".to_owned();
    };
    let kind = media_type.strip_prefix("image/").unwrap_or(media_type);
    match image_size(data) {
        Some((width, height)) => format!("[image {width}x{height} {kind}]"),
        None => format!("[image {kind}]"),
    }
}

/// A tool call for the screen: `terminal: ls`, or with the names of several arguments.
pub fn display_call(call: &ToolCall) -> String {
    let Ok(arguments) = parse_lenient::<Map<String, Value>>(&call.arguments) else {
        return format!("{}: {}", call.name, call.arguments);
    };
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let shown = match arguments.len() {
        0 => return call.name.clone(),
        1 => arguments.values().map(value).collect(),
        _ => {
            arguments.iter().map(|(name, it)| format!("{name} {}", value(it))).collect::<Vec<_>>().join(", ")
        }
    };
    format!("{}: {shown}", call.name)
}

/// A tool result for the screen: its output, its error and an exit code other than 0.
pub fn display_result(result: &str) -> Cow<'_, str> {
    let mut values = serde_json::Deserializer::from_str(result).into_iter::<Map<String, Value>>();
    let Some(Ok(fields)) = result.starts_with('{').then(|| values.next()).flatten() else {
        return Cow::Borrowed(result);
    };
    let text = |name: &str| fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut shown: Vec<String> = ["output", "content", "message", "analysis"]
        .iter()
        .filter_map(|name| text(name))
        .map(str::to_owned)
        .collect();
    shown.extend(text("error").map(|error| format!("error: {error}")));
    shown.extend(
        fields
            .get("exit_code")
            .filter(|code| **code != 0 && code.is_number())
            .map(|code| format!("[exit {code}]")),
    );
    let has_envelope = ["output", "content", "message", "analysis", "error", "exit_code"]
        .iter()
        .any(|name| fields.contains_key(*name));
    match (shown.is_empty(), has_envelope) {
        (false, _) => Cow::Owned(shown.join("\n")),
        (true, true) => Cow::Borrowed("(no output)"),
        (true, false) => Cow::Borrowed(result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CallId, RawJson};

    #[test]
    fn parts_are_shown_without_json() {
        let png = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA";
        for (parts, want) in [
            (
                format!(
                    r#"[{{"type":"text","text":"see"}},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{png}"}}}}]"#
                ),
                "see\n[image 640x480 png]",
            ),
            (
                format!(
                    r#"[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{png}"}}}}]"#
                ),
                "[image 640x480 png]",
            ),
            (
                r#"[{"type":"input_image","image_url":"data:image/webp;base64,AAAA"}]"#.to_owned(),
                "[image webp]",
            ),
            (
                r#"[{"type":"image_url","image_url":{"url":"https://example.com/a.jpg"}}]"#.to_owned(),
                "[image]",
            ),
            (r#"[{"type":"file"}]"#.to_owned(), "[file]"),
            ("no list".to_owned(), "no list"),
        ] {
            assert_eq!(display_parts(&parts), want);
        }
        let parts = Content::Parts(RawJson::parse(r#"[{"type":"text","text":"hi"}]"#).unwrap());
        assert_eq!((parts.display_text(), Content::text("hi").display_text()), ("hi".into(), "hi".into()));
    }

    #[test]
    fn calls_are_shown_without_json() {
        for (name, arguments, want) in [
            ("terminal", r#"{"command":"ls -l"}"#, "terminal: ls -l"),
            ("write_file", r#"{"path":"a","content":"b"}"#, "write_file: path a, content b"),
            ("read_file", r#"{"path":"a","limit":5}"#, "read_file: path a, limit 5"),
            ("context_outline", "{}", "context_outline"),
            ("odd", "not json", "odd: not json"),
        ] {
            let call = ToolCall::new(CallId::new("c"), name, arguments);
            assert_eq!(display_call(&call), want);
        }
    }

    #[test]
    fn results_are_shown_without_their_envelope() {
        for (result, want) in [
            (r#"{"output":"walrus\n","exit_code":0,"error":null}"#, "walrus\n"),
            (r#"{"output":"","exit_code":0,"error":null}"#, "(no output)"),
            (r#"{"output":"x","exit_code":3,"error":null}"#, "x\n[exit 3]"),
            (r#"{"error":"Not run: denied"}"#, "error: Not run: denied"),
            (r#"{"output":"x"} and a hint"#, "x"),
            (r#"{"success":true,"analysis":"a cat"}"#, "a cat"),
            (r#"{"todos":[]}"#, r#"{"todos":[]}"#),
            ("plain", "plain"),
            ("{broken", "{broken"),
        ] {
            assert_eq!(display_result(result), want, "{result}");
        }
    }
}
