//! Ordinary streams in every format, as the scripted model sends them.

use hermes_conversation::{FinishReason, Usage};
use hermes_scripted::{
    CallScript, Rendering, ReplyScript, ResponsesRendering, messages_events, responses_events, sse,
};
use hermes_wire::ApiMode;
use serde_json::json;

/// One stream and its expected result.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    pub(crate) name: String,
    pub(crate) mode: ApiMode,
    pub(crate) bytes: Vec<u8>,
    /// Its `Outcome::in_short`.
    pub(crate) want: String,
}

pub(crate) const MODES: [ApiMode; 3] =
    [ApiMode::ChatCompletions, ApiMode::AnthropicMessages, ApiMode::CodexResponses];

/// A reply as a server of this format streams it.
pub(crate) fn rendered(reply: &ReplyScript, mode: ApiMode) -> Vec<u8> {
    let rendering = Rendering { number: 7, model: "m", include_usage: true };
    let framed =
        |event: &serde_json::Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    match mode {
        ApiMode::ChatCompletions => sse(reply, &rendering).to_vec(),
        ApiMode::AnthropicMessages => {
            messages_events(reply, &rendering).iter().map(framed).collect::<String>().into_bytes()
        }
        ApiMode::CodexResponses => {
            let rendering = ResponsesRendering { number: 7, model: "m", encrypted: true };
            responses_events(reply, &rendering).iter().map(framed).collect::<String>().into_bytes()
        }
    }
}

/// The replies of the scripted model, each with its expected result: one line for all formats, or one for each.
fn scripts() -> Vec<(&'static str, ReplyScript, Vec<&'static str>)> {
    let arguments = json!({"path": "größe/中.txt", "lines": [1, 2, 3], "quote": "a \"b\" \\ \n c"});
    let cut = CallScript { id: None, name: "write".into(), arguments: r#"{"path":"/tmp/a","te"#.into() };
    vec![
        (
            "text",
            ReplyScript::text("Hello, Größe 中 😀!").streamed_in(9),
            vec![r#"stop "Hello, Größe 中 😀!" 10+5"#],
        ),
        (
            "usage with a cache",
            ReplyScript::text("Hi").with_usage(Usage {
                input: 3,
                output: 2,
                cache_read: 40,
                cache_write: 5,
                reasoning: 0,
            }),
            vec![r#"stop "Hi" 48+2"#],
        ),
        ("no usage", ReplyScript::text("Hi").without_usage(), vec![r#"stop "Hi""#]),
        (
            "thinking",
            ReplyScript::text("Answer.").with_reasoning("First this, then that.").streamed_in(5),
            vec![r#"stop "Answer." thinking "First this, then that." 10+5"#],
        ),
        (
            "parallel calls",
            ReplyScript::default()
                .with_text("I look.")
                .with_reasoning("Where?")
                .and_call("read", arguments.clone())
                .and_call("list", json!({"path": "."}))
                .and_call("read", arguments)
                .streamed_in(40),
            vec![
                r#"tool_calls "I look." thinking "Where?" read({"path":"größe/中.txt","lines":[1,2,3],"quote":"a \"b\" \\ \n c"}) list({"path":"."}) read({"path":"größe/中.txt","lines":[1,2,3],"quote":"a \"b\" \\ \n c"}) 10+5"#,
            ],
        ),
        (
            "refusal",
            ReplyScript::text("No.").with_finish(FinishReason::ContentFilter),
            vec![r#"content_filter "No." 10+5"#],
        ),
        (
            "length",
            ReplyScript::text("And so on and").with_finish(FinishReason::Length).streamed_in(3),
            vec![
                r#"length "And so on and" 10+5"#,
                r#"length "And so on and" 10+5"#,
                r#"incomplete "And so on and" 10+5"#,
            ],
        ),
        (
            "arguments cut",
            ReplyScript::default().and_raw_call(cut).with_finish(FinishReason::Length).streamed_in(4),
            vec![
                r#"length "" write({}) truncated 10+5"#,
                r#"length "" write({}) truncated 10+5"#,
                r#"tool_calls "" write({}) truncated 10+5"#,
            ],
        ),
    ]
}

pub(crate) fn ordinary() -> Vec<Stream> {
    let mut streams = Vec::new();
    for (name, script, wants) in scripts() {
        for (place, mode) in MODES.into_iter().enumerate() {
            let want = wants.get(place).unwrap_or(&wants[0]);
            let bytes = rendered(&script, mode);
            streams.push(Stream { name: format!("{name}, {mode:?}"), mode, bytes, want: (*want).to_owned() });
        }
    }
    streams
}

type Reframe = fn(&str) -> String;

/// The ordinary streams with the framing of other servers: other line ends, comments, more fields.
pub(crate) fn reframed() -> Vec<Stream> {
    let frames: [(&str, Reframe); 5] = [
        ("CRLF", |text| text.replace('\n', "\r\n")),
        ("CR", |text| text.replace('\n', "\r")),
        ("no last blank line", |text| text.trim_end().to_owned()),
        ("keep-alives", |text| {
            let extra = "\n: keep-alive\n\nevent: ping\nid: 7\nretry: 3000\n\n:\n\ndata\n\nid\ndata:";
            format!("\u{feff}{}", text.replace("\ndata: ", extra))
        }),
        ("data in several lines", |text| {
            text.replace("\"type\":", "\ndata: \"type\":").replace("\"index\":", "\ndata:\"index\":")
        }),
    ];
    let mut streams = Vec::new();
    for (frame, change) in frames {
        for stream in ordinary() {
            let text = String::from_utf8(stream.bytes).unwrap();
            let (name, bytes) = (format!("{}, {frame}", stream.name), change(&text).into_bytes());
            streams.push(Stream { name, bytes, ..stream });
        }
    }
    streams
}
