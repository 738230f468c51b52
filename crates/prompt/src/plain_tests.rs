use super::*;
use hermes_conversation::{CallId, ToolMessage, UserMessage};

const IMAGE: &str = r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}"#;

#[test]
fn unsupported_keywords_are_removed_and_fields_of_that_name_kept() {
    let given = r#"{"type":"object","properties":{"pattern":{"type":"string","pattern":"^a","format":"uri"},"list":{"type":"array","items":{"format":"date","type":"string"}}},"required":["pattern"]}"#;
    let want = r#"{"type":"object","properties":{"pattern":{"type":"string"},"list":{"type":"array","items":{"type":"string"}}},"required":["pattern"]}"#;
    assert_eq!(schema(&RawJson::parse(given).unwrap()).as_str(), want);
}

fn with_parts(parts: &str) -> Content {
    Content::Parts(RawJson::parse(parts).unwrap())
}

#[test]
fn images_are_left_out_only_where_they_must_be() {
    let parts = format!(r#"[{{"type":"text","text":"look"}},{IMAGE}]"#);
    let said = Message::User(UserMessage { content: with_parts(&parts), api_content: None });
    let mut result = ToolMessage::new(CallId::new("a"), "t", "");
    result.content = with_parts(&parts);
    let all =
        Arc::new(vec![Arc::new(said), Arc::new(Message::Tool(result)), Arc::new(Message::user("plain"))]);
    let contents = |quirks| -> Vec<String> {
        let told = messages(all.clone(), quirks);
        told.iter()
            .map(|message| match message.as_ref() {
                Message::User(said) => said.content.as_text().to_owned(),
                Message::Tool(result) => result.content.as_text().to_owned(),
                Message::Assistant(said) => said.text.clone(),
            })
            .collect()
    };
    let worded =
        |note: &str| format!(r#"[{{"type":"text","text":"look"}},{{"type":"text","text":"{note}"}}]"#);
    let note = "[An image was here. This model did not take it; call t again for a description.]";
    let (plain, joined) = ("plain".to_owned(), format!("look\n{note}"));
    for (quirks, want) in [
        (Quirks::default(), [parts.clone(), parts.clone(), plain.clone()]),
        (Quirks { no_images: true, ..Quirks::default() }, [worded(NO_IMAGE), worded(note), plain.clone()]),
        (Quirks { text_results: true, ..Quirks::default() }, [parts, joined, plain]),
    ] {
        assert_eq!(contents(quirks), want, "{quirks:?}");
    }
    // What is not changed is the very same message, so that its bytes need not be written again.
    let told = messages(all.clone(), Quirks { no_images: true, ..Quirks::default() });
    assert!(Arc::ptr_eq(&told[2], &all[2]) && !Arc::ptr_eq(&told[0], &all[0]));
}
