//! The scripted model in a separate process, so that its CPU time is not counted.

use crate::flags::Flags;
use anyhow::{Context, Result, bail};
use hermes_context::SUMMARY_SECTIONS;
use hermes_conversation::Usage;
use hermes_scripted::{ReplyScript, Script, Server};
use serde_json::{Value, json};
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;

/// The replies of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scenario {
    /// `ok` to every request.
    Text,
    /// This many calls of `true`, one per reply, then a sentence.
    Calls(usize),
    /// Eight calls of `sleep 0.2` in one reply, then a sentence.
    Sleeps,
    /// A long answer in [`TOKENS`] pieces.
    Stream,
    /// Text to every request, and a summary on request.
    Summaries,
}

/// The number of pieces of the long answer.
pub(crate) const TOKENS: usize = 20_000;

impl Scenario {
    /// The text that a correct answer to this scenario contains.
    pub(crate) fn ending(self) -> String {
        match self {
            Self::Text => "ok".to_owned(),
            Self::Summaries => "So it is.".to_owned(),
            Self::Calls(count) => format!("done after {count}"),
            Self::Sleeps => "done after 8".to_owned(),
            Self::Stream => format!("t{:03}", (TOKENS - 1) % 1000),
        }
    }

    fn reply(self, body: &Value) -> ReplyScript {
        let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let results = messages.iter().filter(|message| message["role"] == "tool").count();
        match self {
            Self::Calls(count) if results < count => {
                // Varies, because identical repeated calls cause a warning.
                ReplyScript::call("terminal", json!({"command": format!("echo {results}")}))
            }
            Self::Sleeps if results == 0 => (0..8).fold(ReplyScript::default(), |reply, _| {
                reply.and_call("terminal", json!({"command": "sleep 0.2"}))
            }),
            Self::Calls(_) | Self::Sleeps => ReplyScript::text(format!("done after {results}")),
            Self::Text => ReplyScript::text("ok"),
            Self::Stream => ReplyScript::pieces((0..TOKENS).map(token)),
            Self::Summaries => summary_reply(body),
        }
    }
}

/// The reply with text, or with a summary: requests for a summary have no tools.
fn summary_reply(body: &Value) -> ReplyScript {
    let section = |name: &&str| format!("## {name}\n- what was said about it, in a few words\n");
    let text = match body["tools"].as_array().is_some_and(|tools| !tools.is_empty()) {
        true => "So it is. ".repeat(200).trim_end().to_owned(),
        false => SUMMARY_SECTIONS.iter().map(section).collect(),
    };
    let input = body.to_string().len() as u64 / 4;
    ReplyScript { usage: Some(Usage { input, output: 500, ..Usage::default() }), ..ReplyScript::text(text) }
}

/// Four characters, sometimes with a line break or a character that is escaped.
fn token(place: usize) -> String {
    match place % 50 {
        24 => "\"q\" ".to_owned(),
        49 if place + 1 < TOKENS => "end\n".to_owned(),
        _ => format!("t{:03}", place % 1000),
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("text"),
            Self::Calls(count) => write!(f, "calls:{count}"),
            Self::Sleeps => f.write_str("sleeps"),
            Self::Stream => f.write_str("stream"),
            Self::Summaries => f.write_str("summaries"),
        }
    }
}

impl FromStr for Scenario {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match (text, text.split_once(':')) {
            ("text", _) => Self::Text,
            ("sleeps", _) => Self::Sleeps,
            ("stream", _) => Self::Stream,
            ("summaries", _) => Self::Summaries,
            (_, Some(("calls", count))) => Self::Calls(count.parse()?),
            _ => bail!("unknown scenario `{text}`"),
        })
    }
}

/// A running server process. Dropping it ends the process.
pub(crate) struct Served {
    process: Child,
    pub(crate) base_url: String,
}

impl Served {
    pub(crate) fn start(scenario: Scenario) -> Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["__serve", &scenario.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the scripted model could not be started")?;
        let mut base_url = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut base_url)?;
        }
        let base_url = base_url.trim().to_owned();
        Ok(Self { process, base_url })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The process of `__serve SCENARIO`: prints its base URL and answers until standard input ends, which happens
/// when the parent process is gone.
pub(crate) fn child(mut flags: Flags) -> Result<()> {
    let scenario: Scenario = flags.next().context("`__serve` needs a scenario")?.parse()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let server = runtime.block_on(Server::start(Script::by(move |body| scenario.reply(body))))?;
    crate::say(&format!("{}\n", server.base_url()))?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_parse_from_their_text() {
        for scenario in
            [Scenario::Text, Scenario::Calls(20), Scenario::Sleeps, Scenario::Stream, Scenario::Summaries]
        {
            assert_eq!(scenario.to_string().parse::<Scenario>().unwrap(), scenario);
        }
        assert!("calls:x".parse::<Scenario>().is_err());
    }

    #[test]
    fn calls_end_when_there_are_enough_results() {
        let tool = json!({"role": "tool"});
        let body = json!({"messages": [{"role": "user"}, tool, tool]});
        assert_eq!(Scenario::Calls(3).reply(&body).calls.len(), 1);
        assert_eq!(Scenario::Calls(2).reply(&body).text, ["done after 2"]);
        assert_eq!(Scenario::Sleeps.reply(&json!({"messages": []})).calls.len(), 8);
        let stream = Scenario::Stream.reply(&Value::Null).text;
        assert_eq!(stream.len(), TOKENS);
        assert!(stream.concat().ends_with(&Scenario::Stream.ending()));
    }
}
