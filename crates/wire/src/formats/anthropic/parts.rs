//! Content parts as blocks.
//!
//! Parts are stored in the shapes of chat completions; those of the Responses and Messages formats are
//! understood, too. A part without a block in this format becomes a line of text, so that the history can still
//! be sent.

use hermes_conversation::{RawJson, parse_lenient};
use serde::Serialize;
use serde_json::Value;

const IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];
const PDF: &str = "application/pdf";

/// A block of a user message or of a result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text { text: String },
    Image { source: Source },
    Document { source: Source },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Source {
    Base64 { media_type: String, data: String },
    Url { url: String },
}

/// The blocks of a list of parts, without empty texts.
pub(super) fn blocks(parts: &RawJson) -> Vec<Block> {
    match parse_lenient::<Vec<Value>>(parts.as_str()) {
        Ok(parts) => parts.iter().filter_map(block).collect(),
        Err(_) => vec![Block::Text { text: parts.as_str().to_owned() }],
    }
}

fn block(part: &Value) -> Option<Block> {
    let kind = part["type"].as_str().unwrap_or_default();
    match kind {
        "text" | "input_text" | "output_text" => text(part["text"].as_str()),
        "image_url" | "input_image" => {
            let url = part["image_url"]["url"].as_str().or(part["image_url"].as_str());
            Some(image(url.and_then(at)))
        }
        "image" => Some(image(given(&part["source"]))),
        "document" => Some(document(given(&part["source"]))),
        "file" | "input_file" => {
            let file = if part["file"].is_object() { &part["file"] } else { part };
            let place = file["file_data"].as_str().or(file["file_url"].as_str());
            Some(document(place.and_then(at)))
        }
        _ if part.is_string() => text(part.as_str()),
        _ => Some(missing(if kind.is_empty() { "part" } else { kind })),
    }
}

fn text(text: Option<&str>) -> Option<Block> {
    let text = text.filter(|text| !text.trim().is_empty())?;
    Some(Block::Text { text: text.to_owned() })
}

fn image(source: Option<Source>) -> Block {
    match source {
        Some(Source::Base64 { media_type, .. }) if !IMAGES.contains(&media_type.as_str()) => {
            missing(&media_type)
        }
        Some(source) => Block::Image { source },
        None => missing("image"),
    }
}

fn document(source: Option<Source>) -> Block {
    match source {
        Some(Source::Base64 { media_type, .. }) if media_type != PDF => missing(&media_type),
        Some(source) => Block::Document { source },
        None => missing("file"),
    }
}

fn missing(what: &str) -> Block {
    Block::Text { text: format!("[{what}: this model cannot be shown it]") }
}

/// A data URL or a web address.
fn at(url: &str) -> Option<Source> {
    if let Some(data) = url.strip_prefix("data:") {
        let (head, data) = data.split_once(',')?;
        let media = head.strip_suffix(";base64")?.split(';').next()?;
        return base64(media, data);
    }
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    is_web.then(|| Source::Url { url: url.to_owned() })
}

/// A source that is already in the shape of this format.
fn given(source: &Value) -> Option<Source> {
    match source["type"].as_str()? {
        "base64" => base64(source["media_type"].as_str()?, source["data"].as_str()?),
        "url" => at(source["url"].as_str()?),
        _ => None,
    }
}

fn base64(media: &str, data: &str) -> Option<Source> {
    let media = media.to_ascii_lowercase();
    let media_type = if media == "image/jpg" { "image/jpeg".to_owned() } else { media };
    (!data.is_empty()).then(|| Source::Base64 { media_type, data: data.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_become_blocks() {
        for (part, want) in [
            (r#"{"type":"text","text":"a"}"#, r#"[{"type":"text","text":"a"}]"#),
            (r#""a""#, r#"[{"type":"text","text":"a"}]"#),
            (r#"{"type":"text","text":" "}"#, "[]"),
            (
                r#"{"type":"image_url","image_url":{"url":"data:image/PNG;base64,AA==","detail":"low"}}"#,
                r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]"#,
            ),
            (
                r#"{"type":"input_image","image_url":"https://x.example/a.png"}"#,
                r#"[{"type":"image","source":{"type":"url","url":"https://x.example/a.png"}}]"#,
            ),
            (
                r#"{"type":"image","source":{"type":"base64","media_type":"image/jpg","data":"AA"},"cache_control":{}}"#,
                r#"[{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"AA"}}]"#,
            ),
            (
                r#"{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA"}}"#,
                r#"[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AA"}}]"#,
            ),
            (
                r#"{"type":"input_file","file_url":"https://x.example/a.pdf"}"#,
                r#"[{"type":"document","source":{"type":"url","url":"https://x.example/a.pdf"}}]"#,
            ),
            (
                r#"{"type":"image_url","image_url":{"url":"data:image/svg+xml;base64,AA"}}"#,
                r#"[{"type":"text","text":"[image/svg+xml: this model cannot be shown it]"}]"#,
            ),
            (
                r#"{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}"#,
                r#"[{"type":"text","text":"[image: this model cannot be shown it]"}]"#,
            ),
            (
                r#"{"type":"input_audio","input_audio":{}}"#,
                r#"[{"type":"text","text":"[input_audio: this model cannot be shown it]"}]"#,
            ),
        ] {
            let got = blocks(&RawJson::parse(&format!("[{part}]")).unwrap());
            assert_eq!(serde_json::to_string(&got).unwrap(), want, "{part}");
        }
        let no_list = RawJson::parse(r#"{"a":1}"#).unwrap();
        assert_eq!(blocks(&no_list), [Block::Text { text: r#"{"a":1}"#.into() }]);
    }
}
