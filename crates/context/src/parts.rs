//! Content with parts other than text: the kinds of parts, and the conversion of images to text.

use hermes_conversation::{Content, RawJson, parse_lenient};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The replacement of an image of a summarised message.
pub(crate) const IMAGE_NOTE: &str = "[an image was here; it is no longer sent]";

/// One part of a content, by what it costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    Image,
    /// Anything else, and how many bytes it has.
    Other {
        kind: String,
        bytes: usize,
    },
}

/// The parts of a list; one text if the list cannot be read.
pub(crate) fn parts(raw: &RawJson) -> Vec<Part> {
    match parse_lenient::<Vec<Value>>(raw.as_str()) {
        Ok(list) => list.iter().map(part).collect(),
        Err(_) => vec![Part::Text(raw.as_str().to_owned())],
    }
}

fn part(value: &Value) -> Part {
    let kind = value["type"].as_str().unwrap_or_default();
    match (kind, value["text"].as_str().or(value.as_str())) {
        ("image_url" | "input_image" | "image", _) => Part::Image,
        ("text" | "input_text" | "output_text" | "", Some(text)) => Part::Text(text.to_owned()),
        _ => Part::Other { kind: kind.to_owned(), bytes: value.to_string().len() },
    }
}

/// The text of a content; other parts are named.
pub(crate) fn words(content: &Content) -> Cow<'_, str> {
    content.plain_text()
}

/// Returns true if it contains an image.
pub(crate) fn has_image(content: &Content) -> bool {
    content.has_image()
}

/// The same content with notes in the place of images; `None` if there are none.
pub(crate) fn without_images(content: &Content) -> Option<Content> {
    let Content::Parts(raw) = content else { return None };
    if !has_image(content) {
        return None;
    }
    let list: Vec<RawJson> = serde_json::from_str(raw.as_str()).ok()?;
    let note = RawJson::of(&json!({"type": "text", "text": IMAGE_NOTE}))?;
    let is_image = |raw: &RawJson| {
        serde_json::from_str::<Value>(raw.as_str()).is_ok_and(|value| part(&value) == Part::Image)
    };
    let list: Vec<RawJson> =
        list.into_iter().map(|raw| if is_image(&raw) { note.clone() } else { raw }).collect();
    RawJson::of(&list).map(Content::Parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> Content {
        Content::Parts(RawJson::parse(text).unwrap())
    }

    #[test]
    fn images_become_notes_and_the_rest_keeps_its_bytes() {
        let given = content(
            r#"[{"text": "x",  "type":"text"},{"type":"image_url","image_url":{"url":"data:x"}},{"type":"file","file":{}}]"#,
        );
        let want = format!(
            r#"[{{"text": "x",  "type":"text"}},{{"type":"text","text":"{IMAGE_NOTE}"}},{{"type":"file","file":{{}}}}]"#
        );
        assert!(has_image(&given));
        assert_eq!(words(&given), "x\n[image]\n[file]");
        let stripped = without_images(&given).unwrap();
        assert_eq!(stripped.as_text(), want);
        assert!(!has_image(&stripped));
        for plain in [content(r#"[{"type":"text","text":"image"}]"#), Content::text("image")] {
            assert_eq!((has_image(&plain), without_images(&plain)), (false, None), "{plain:?}");
        }
    }
}
