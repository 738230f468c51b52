//! Texts that go with every request and are never stored: `agent.system_prompt` and a file of messages.

use crate::{Runtime, RuntimeError};
use hermes_config::{Config, Personality};
use hermes_conversation::{AssistantMessage, Message, UserMessage};
use hermes_prompt::Additions;
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// Returns the texts that the settings add to requests.
pub(crate) fn additions(runtime: &Runtime) -> Result<Additions, RuntimeError> {
    let config = &runtime.config;
    let system = overlays(&[
        config.settings.agent.system_prompt.get()?.as_deref(),
        personality(config)?.as_ref().and_then(Personality::overlay),
    ]);
    let file = config.settings.prefill_messages_file.get()?.as_deref();
    let file = file.filter(|path| !path.trim().is_empty());
    let prefill = match file {
        None => Vec::new(),
        Some(path) => read(&runtime.launch.home.path().join(path))?,
    };
    Ok(Additions { system, prefill })
}

/// The personality of the settings. One that does not exist is `None`; see [`unknown_personality`].
pub(crate) fn personality(config: &Config) -> Result<Option<Personality>, RuntimeError> {
    let name = config.settings.display.personality.get()?.as_deref().unwrap_or_default();
    Ok(Personality::find(config, name)?.ok())
}

/// A notice about a personality of the settings that does not exist.
pub(crate) fn unknown_personality(config: &Config) -> Result<Option<String>, RuntimeError> {
    let name = config.settings.display.personality.get()?.as_deref().unwrap_or_default();
    let names = Personality::find(config, name)?.err();
    Ok(names.map(|names| {
        format!("display.personality: unknown personality `{name}`; use one of {}", names.join(", "))
    }))
}

/// Joins texts after the system prompt, with a blank line between them.
pub(crate) fn overlays(texts: &[Option<&str>]) -> Option<Arc<str>> {
    let texts = texts.iter().flatten().map(|text| text.trim_end()).filter(|text| !text.trim().is_empty());
    let all = texts.collect::<Vec<_>>().join("\n\n");
    (!all.is_empty()).then(|| all.into())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a message with `role` and `content`")]
struct PrefillMessage {
    role: Role,
    content: String,
}

#[derive(Deserialize, PartialEq, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

fn read(path: &Path) -> Result<Vec<Arc<Message>>, RuntimeError> {
    let wrong = |why: String| RuntimeError::Prefill { path: path.to_owned(), why };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    parse(&text).map_err(wrong)
}

/// Parses the messages before a conversation. They end with the assistant, because the user follows.
fn parse(text: &str) -> Result<Vec<Arc<Message>>, String> {
    let lines: Vec<PrefillMessage> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    for (place, line) in lines.iter().enumerate() {
        let due = if place % 2 == 0 { Role::User } else { Role::Assistant };
        if line.role != due {
            return Err(format!("message {}: `user` and `assistant` take turns, `user` first", place + 1));
        }
        if line.content.trim().is_empty() {
            return Err(format!("message {} is empty", place + 1));
        }
    }
    if !lines.len().is_multiple_of(2) {
        return Err(
            "the last message must be the assistant's: the conversation goes on with the user".to_owned()
        );
    }
    let message = |line: PrefillMessage| match line.role {
        Role::User => Message::User(UserMessage::text(line.content)),
        Role::Assistant => {
            Message::Assistant(AssistantMessage { text: line.content, ..AssistantMessage::default() })
        }
    };
    Ok(lines.into_iter().map(|line| Arc::new(message(line))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefill_messages_alternate_and_end_with_the_assistant() {
        let pair = r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]"#;
        for (text, want) in [
            ("[]", Ok(0)),
            (pair, Ok(2)),
            ("{}", Err("invalid type")),
            (r#"[{"role":"user","content":"a"}]"#, Err("the last message")),
            (r#"[{"role":"assistant","content":"a"}]"#, Err("message 1: ")),
            (r#"[{"role":"system","content":"a"}]"#, Err("unknown variant")),
            (
                r#"[{"role":"user","content":" "},{"role":"assistant","content":"b"}]"#,
                Err("message 1 is empty"),
            ),
            (r#"[{"role":"user","content":"a","name":"x"}]"#, Err("unknown field")),
        ] {
            match (parse(text), want) {
                (Ok(found), Ok(count)) => assert_eq!(found.len(), count, "{text}"),
                (Err(why), Err(part)) => assert!(why.contains(part), "{text}: {why}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}
