//! The lines of a streamed reply as they stand in a recording: what is JSON already is not written as text.
//!
//! That is easier to read, and much cheaper than escaping every quote of it. Only what the decoder has
//! read as JSON is taken for JSON; everything else becomes a string.

use hermes_conversation::RawJson;
use hermes_wire::ApiMode;

const DATA: &str = "data: ";

/// The lines of `body` as the items of a JSON list. Every event of it was read, up to the one that ended
/// the reply.
pub(crate) fn items(body: &str, mode: ApiMode) -> Option<String> {
    // Strings that end otherwise are rare enough to be written as they are.
    if memchr::memchr(b'\r', body.as_bytes()).is_some() {
        return None;
    }
    let mut out = String::with_capacity(body.len() + body.len() / 8);
    let (mut before, mut is_over) = ("", false);
    let first_bytes = |text: &str| text.as_bytes().first_chunk::<7>().copied();
    let mut rest = Some(body);
    while let Some(text) = rest {
        let (line, after) = first_line(text);
        rest = after;
        if !out.is_empty() {
            out.push(',');
        }
        // Nearly every event: its line and the empty one behind it in one go.
        if first_bytes(line) == Some(*b"data: {")
            && let Some(next) = after.and_then(|after| after.strip_prefix('\n'))
            && line.as_bytes().last() == Some(&b'}')
            && !before.starts_with("data")
            && !is_over
        {
            out.push_str(&line[DATA.len()..]);
            out.push_str(",\"\"");
            is_over = is_last(line, mode);
            (before, rest) = ("", Some(next));
            continue;
        }
        // Most other lines of a stream are empty.
        if line.is_empty() {
            out.push_str("\"\"");
            before = line;
            continue;
        }
        let data = line.strip_prefix(DATA).filter(|data| data.starts_with('{') && data.ends_with('}'));
        // An event of several lines is JSON only as a whole.
        let is_alone = !before.starts_with("data") && after.is_some_and(is_blank_first);
        match data.filter(|_| is_alone && !is_over) {
            Some(data) => out.push_str(data),
            None => out.push_str(&serde_json::to_string(line).ok()?),
        }
        is_over |= line.starts_with("data:") && is_last(line, mode);
        before = line;
    }
    Some(out)
}

/// The first line, and what follows it if it has an end.
fn first_line(text: &str) -> (&str, Option<&str>) {
    match memchr::memchr(b'\n', text.as_bytes()) {
        Some(end) => (&text[..end], Some(&text[end + 1..])),
        None => (text, None),
    }
}

fn is_blank_first(text: &str) -> bool {
    text.is_empty() || text.starts_with('\n')
}

/// Returns true if an event may be the last one that is read. A false positive does no harm.
fn is_last(line: &str, mode: ApiMode) -> bool {
    const KINDS: [&str; 7] = [
        "message",
        "message_stop",
        "response.completed",
        "response.done",
        "response.incomplete",
        "response.failed",
        "response.cancelled",
    ];
    match mode {
        ApiMode::ChatCompletions => line.ends_with("[DONE]"),
        ApiMode::AnthropicMessages | ApiMode::CodexResponses => {
            kind(line).is_some_and(|kind| KINDS.contains(&kind))
        }
    }
}

/// The value of `type` at the beginning of an event, where formats that have one have it.
fn kind(line: &str) -> Option<&str> {
    let (_, rest) = line.get(..line.floor_char_boundary(200))?.split_once("\"type\":")?;
    rest.trim_start().strip_prefix('"')?.split('"').next()
}

/// Restores the body from the list.
pub(crate) fn body(items: &[RawJson]) -> Option<String> {
    let lines = items.iter().map(|item| match item.as_str() {
        text if text.starts_with('"') => serde_json::from_str::<String>(text).ok(),
        json => Some(format!("{DATA}{json}")),
    });
    Some(lines.collect::<Option<Vec<_>>>()?.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_restored_byte_for_byte() {
        for text in [
            "",
            "\n",
            "data: {\"a\": 1}\n\n",
            "event: x\ndata: {\"type\":\"x\"}\n\ndata: [DONE]\n\n",
            "data: {\"a\":{}\ndata: \"b\":1}\n\n",
            "data: {}\ndata: {}\n\n",
            "data: {}",
            "data:{}\n\n: comment\n\nid: \"7\"\n\ndata: \"{}\"\n\n",
            "data: [DONE]\n\ndata: {oops}\n\n",
            "data: {\"type\":\"message_stop\"}\n\ndata: {oops}\n\n",
            "data: {\"ü\":\"\\n中\"}\n\n",
        ] {
            let mode = match text.contains("message_stop") {
                true => ApiMode::AnthropicMessages,
                false => ApiMode::ChatCompletions,
            };
            let list = format!("[{}]", items(text, mode).unwrap());
            let read: Vec<RawJson> = serde_json::from_str(&list).expect(text);
            assert_eq!(body(&read).as_deref(), Some(text), "{list}");
        }
        assert_eq!(items("data: {}\r\n\r\n", ApiMode::ChatCompletions), None);
    }

    #[test]
    fn events_are_not_escaped() {
        let list = items("data: {\"a\":\"b\"}\n\ndata: [DONE]\n\n", ApiMode::ChatCompletions).unwrap();
        assert_eq!(list, r#"{"a":"b"},"","data: [DONE]","","""#);
    }
}
