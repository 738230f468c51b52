//! Names for conversations, from their first exchange.

use hermes_conversation::{AuxRequest, AuxTask, History, Message, SessionId};

/// The characters of the prompt and of the reply that the title model gets.
const EXCERPT: usize = 500;
/// The maximum length of a title in characters.
const LONGEST: usize = 80;
/// For a model that thinks before it names.
const ROOM: u64 = 500;

const TASK: &str = "Name the conversation below for a list of conversations: three to seven words that say what it is \
about, in the language of the user's message, without quotes, without a full stop at the end. Answer with the name \
alone.";

/// Asks for a name; nothing when there was no whole exchange yet.
pub fn title_request(session: &SessionId, history: &History, language: Option<&str>) -> Option<AuxRequest> {
    let mut messages = history.messages().iter();
    let question = messages.find_map(|message| match message.as_ref() {
        Message::User(_) => Some(message.text()),
        _ => None,
    })?;
    let answer = messages.find_map(|message| match message.as_ref() {
        Message::Assistant(reply) if !reply.text.trim().is_empty() => Some(reply.text.as_str()),
        _ => None,
    })?;
    let system = match language {
        Some(language) => format!("{TASK} The name is to be in this language: {language}."),
        None => TASK.to_owned(),
    };
    let shown = format!("User: {}\n\nAssistant: {}", excerpt(question), excerpt(answer));
    Some(AuxRequest {
        task: AuxTask::Title,
        session: Some(session.clone()),
        system,
        messages: vec![Message::user(&shown)],
        max_output_tokens: ROOM,
    })
}

fn excerpt(text: &str) -> &str {
    match text.char_indices().nth(EXCERPT) {
        Some((cut, _)) => &text[..cut],
        None => text,
    }
}

/// The name in an answer; nothing when it is none.
pub fn title_in(answer: &str) -> Option<String> {
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.strip_prefix("Title:").unwrap_or(line);
    let plain = line.trim_matches(|c: char| c.is_whitespace() || "\"'`*#“”„«».。".contains(c));
    let length = plain.chars().count();
    (1..=LONGEST).contains(&length).then(|| plain.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::AssistantMessage;

    fn said(text: &str) -> Message {
        Message::Assistant(AssistantMessage { text: text.into(), ..AssistantMessage::default() })
    }

    #[test]
    fn the_first_exchange_is_named() {
        let id = SessionId::new("s");
        let mut history = History::default();
        assert_eq!(title_request(&id, &history, None), None);
        history.push(Message::user("Fix the é in main.rs"));
        assert_eq!(title_request(&id, &history, None), None);
        history.push(said(""));
        history.push(said(&"é".repeat(900)));
        history.push(Message::user("and more"));
        let request = title_request(&id, &history, Some("German")).unwrap();
        let text = request.messages[0].text();
        assert!(text.starts_with("User: Fix the é in main.rs\n\nAssistant: ééé"), "{text}");
        assert_eq!(text.chars().filter(|c| *c == 'é').count(), 501);
        assert!(request.system.ends_with("in this language: German."));
    }

    #[test]
    fn names_are_plain_and_short() {
        for (answer, want) in [
            ("Fixing main.rs", Some("Fixing main.rs")),
            ("\n  \"Fixing main.rs.\"  \nBecause it says so", Some("Fixing main.rs")),
            ("Title: **Das Haus**", Some("Das Haus")),
            ("# 料理のレシピ。", Some("料理のレシピ")),
            ("", None),
            ("...", None),
        ] {
            assert_eq!(title_in(answer).as_deref(), want, "{answer}");
        }
        assert_eq!(title_in(&"long ".repeat(30)), None);
    }
}
