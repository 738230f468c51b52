//! User messages and tool results in the Responses format.

use hermes_conversation::{Content, RawJson};
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum WireContent<'a> {
    Text(&'a str),
    Parts(Vec<WirePart>),
}

#[derive(Serialize)]
#[serde(tag = "type")]
pub(super) enum WirePart {
    #[serde(rename = "input_text")]
    Text { text: String },
    #[serde(rename = "input_image")]
    Image { image_url: String, detail: String },
}

impl<'a> WireContent<'a> {
    /// The text that was sent the first time takes precedence over the displayed one, so that later requests
    /// are equal.
    pub(super) fn of(content: &'a Content, sent: Option<&'a str>) -> Self {
        match (sent, content) {
            (Some(sent), _) => Self::Text(sent),
            (None, Content::Text(text)) => Self::Text(text),
            (None, Content::Parts(parts)) => match parts_of(parts) {
                Some(parts) if !parts.is_empty() => Self::Parts(parts),
                Some(_) => Self::Text(""),
                None => Self::Text(parts.as_str()),
            },
        }
    }
}

fn parts_of(parts: &RawJson) -> Option<Vec<WirePart>> {
    let parts: Vec<Value> = serde_json::from_str(parts.as_str()).ok()?;
    Some(parts.into_iter().map(part).collect())
}

/// A part in the spelling of either format. A part without an equivalent is named, not dropped, so that the
/// model knows about it.
fn part(part: Value) -> WirePart {
    let kind = part["type"].as_str().unwrap_or_default();
    match kind {
        "text" | "input_text" | "output_text" => {
            WirePart::Text { text: part["text"].as_str().unwrap_or_default().to_owned() }
        }
        "image_url" | "input_image" => {
            let image = &part["image_url"];
            let url = image["url"].as_str().or(image.as_str()).unwrap_or_default();
            let detail = image["detail"].as_str().or(part["detail"].as_str());
            let detail = detail.filter(|detail| matches!(*detail, "low" | "high" | "auto" | "original"));
            match url.is_empty() {
                true => unsendable(kind),
                // Required by the types of the official client.
                false => {
                    WirePart::Image { image_url: url.to_owned(), detail: detail.unwrap_or("auto").to_owned() }
                }
            }
        }
        other => unsendable(other),
    }
}

fn unsendable(kind: &str) -> WirePart {
    WirePart::Text { text: format!("[A part of type `{kind}` cannot be sent to this model.]") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_respelled() {
        for (given, want) in [
            (r#"[{"type":"text","text":"a"}]"#, r#"[{"type":"input_text","text":"a"}]"#),
            (
                r#"[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"high"}}]"#,
                r#"[{"type":"input_image","image_url":"data:image/png;base64,AA==","detail":"high"}]"#,
            ),
            (
                r#"[{"type":"input_image","image_url":"https://x/y.png","detail":"odd"}]"#,
                r#"[{"type":"input_image","image_url":"https://x/y.png","detail":"auto"}]"#,
            ),
            (
                r#"[{"type":"input_audio","data":"x"}]"#,
                r#"[{"type":"input_text","text":"[A part of type `input_audio` cannot be sent to this model.]"}]"#,
            ),
            (
                r#"[{"type":"image_url","image_url":{}}]"#,
                r#"[{"type":"input_text","text":"[A part of type `image_url` cannot be sent to this model.]"}]"#,
            ),
            ("[]", r#""""#),
            (r#"{"a":1}"#, r#""{\"a\":1}""#),
        ] {
            let content = Content::Parts(RawJson::parse(given).unwrap());
            let written = serde_json::to_string(&WireContent::of(&content, None)).unwrap();
            assert_eq!(written, want, "{given}");
        }
    }
}
