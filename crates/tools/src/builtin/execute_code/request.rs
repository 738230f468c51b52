//! One request of a script: a line of JSON.

use super::CALLABLE;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Arguments of commands that only make sense for the model.
const NOT_FOR_SCRIPTS: [&str; 4] = ["background", "pty", "notify_on_complete", "watch_patterns"];

#[derive(Debug, Deserialize)]
struct Line {
    tool: String,
    #[serde(default)]
    args: Map<String, Value>,
    #[serde(default)]
    token: String,
    seq: Option<u64>,
}

/// A request with the right token.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) tool: &'static str,
    /// A JSON object.
    pub(super) arguments: String,
    pub(super) seq: Option<u64>,
}

/// A request that is not carried out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The connection is closed: it is not one of our module.
    Foreign,
    Answer {
        seq: Option<u64>,
        text: String,
    },
}

/// Reads a request of a script that may call `tools`.
pub(super) fn read(line: &[u8], token: &str, tools: &[&'static str]) -> Result<Request, Refused> {
    let Ok(line) = serde_json::from_slice::<Line>(line) else { return Err(Refused::Foreign) };
    if !is_same(&line.token, token) {
        return Err(Refused::Foreign);
    }
    let Some(tool) = tools.iter().copied().find(|tool| *tool == line.tool) else {
        let all = if tools.is_empty() { "none".to_owned() } else { tools.join(", ") };
        let text = format!("Scripts cannot call `{}`. Tools for scripts: {all}.", line.tool);
        return Err(Refused::Answer { seq: line.seq, text });
    };
    let mut args = line.args;
    args.retain(|name, _| !NOT_FOR_SCRIPTS.contains(&name.as_str()));
    Ok(Request { tool, arguments: Value::Object(args).to_string(), seq: line.seq })
}

/// The reply to a request: the result itself, or in an object with the number of the request.
pub(super) fn reply(result: Value, seq: Option<u64>) -> Vec<u8> {
    let value = match seq {
        Some(seq) => json!({ "seq": seq, "result": result }),
        None => result,
    };
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Compares in a time that does not depend on where the texts differ.
fn is_same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differences == 0
}

/// The tools of scripts that the session has.
pub(super) fn callable(session: &[String]) -> Vec<&'static str> {
    CALLABLE.iter().map(|(name, _)| *name).filter(|name| session.iter().any(|has| has == name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> Refused {
        read(line.as_bytes(), "right", &["read_file", "terminal"]).unwrap_err()
    }

    #[test]
    fn only_requests_with_the_token_are_read() {
        for line in [
            "",
            "{",
            "[]",
            "null",
            r#"{"tool":"read_file","args":{}}"#,
            r#"{"tool":"read_file","args":{},"token":"wrong"}"#,
            r#"{"tool":"read_file","args":{},"token":"righ"}"#,
            r#"{"tool":"read_file","args":{},"token":"right "}"#,
            r#"{"tool":"read_file","args":[],"token":"right"}"#,
            r#"{"tool":"read_file","args":{},"token":["right"]}"#,
            r#"{"tool":"read_file","args":{},"token":"right","seq":-1}"#,
            r#"{"tool":7,"args":{},"token":"right"}"#,
        ] {
            assert_eq!(refusal(line), Refused::Foreign, "{line}");
        }
        assert_eq!(
            read(
                br#"{"tool":"read_file","args":{"path":"a"},"token":"right","seq":3}"#,
                "right",
                &["read_file"]
            ),
            Ok(Request { tool: "read_file", arguments: r#"{"path":"a"}"#.to_owned(), seq: Some(3) })
        );
    }

    #[test]
    fn other_tools_are_refused_by_name() {
        for tool in [
            "execute_code",
            "delegate_task",
            "memory",
            "web_search",
            "tool_call",
            "Terminal",
            "terminal ",
            "",
        ] {
            let line = json!({ "tool": tool, "token": "right", "seq": 1 }).to_string();
            let text = format!("Scripts cannot call `{tool}`. Tools for scripts: read_file, terminal.");
            assert_eq!(refusal(&line), Refused::Answer { seq: Some(1), text });
        }
        let none = read(br#"{"tool":"read_file","token":"t"}"#, "t", &[]);
        let text = "Scripts cannot call `read_file`. Tools for scripts: none.".to_owned();
        assert_eq!(none, Err(Refused::Answer { seq: None, text }));
    }

    #[test]
    fn commands_of_scripts_stay_in_the_foreground() {
        let line = br#"{"tool":"terminal","token":"t","args":{"command":"ls","background":true,"pty":true,
            "notify_on_complete":true,"watch_patterns":["x"],"workdir":"/a"}}"#;
        let read = read(line, "t", &["terminal"]).unwrap();
        assert_eq!(read.arguments, r#"{"command":"ls","workdir":"/a"}"#);
    }

    #[test]
    fn no_tool_of_the_session_means_none() {
        let session = ["memory", "execute_code", "patch"].map(str::to_owned);
        assert_eq!(callable(&session), ["patch"]);
        assert!(callable(&session[..2]).is_empty() && callable(&[]).is_empty());
    }

    #[test]
    fn replies_carry_the_number_of_their_request() {
        assert_eq!(reply(json!({"a": "x\ny"}), Some(4)), b"{\"seq\":4,\"result\":{\"a\":\"x\\ny\"}}\n");
        assert_eq!(reply(json!({"a": 1}), None), b"{\"a\":1}\n");
    }
}
