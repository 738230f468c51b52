//! Texts that are sent with every request of a session and are never stored with it.

use crate::BETWEEN;
use hermes_conversation::{History, Message};
use std::sync::Arc;

/// Additional text for the model, the same in every request while a session is open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Additions {
    /// Behind the system prompt.
    pub system: Option<Arc<str>>,
    /// Between the system prompt and the conversation.
    pub prefill: Vec<Arc<Message>>,
}

impl Additions {
    pub(crate) fn system(&self, stored: &Arc<str>) -> Arc<str> {
        match &self.system {
            None => stored.clone(),
            Some(more) if stored.is_empty() => more.clone(),
            Some(more) => [&**stored, BETWEEN, &**more].concat().into(),
        }
    }

    pub(crate) fn messages(&self, history: &History) -> Arc<Vec<Arc<Message>>> {
        let said = history.shared();
        match self.prefill.is_empty() {
            true => said,
            false => Arc::new(self.prefill.iter().chain(said.iter()).cloned().collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::UserMessage;

    #[test]
    fn nothing_added_is_nothing_copied() {
        let (system, mut history) = (Arc::from("stored"), History::default());
        history.push(Message::User(UserMessage::text("hi")));
        let none = Additions::default();
        assert!(Arc::ptr_eq(&none.system(&system), &system));
        assert!(Arc::ptr_eq(&none.messages(&history), &history.shared()));
    }

    #[test]
    fn additions_follow_the_prompt_and_precede_the_conversation() {
        let mut history = History::default();
        history.push(Message::User(UserMessage::text("hi")));
        let some = Additions {
            system: Some("brief".into()),
            prefill: vec![Arc::new(Message::User(UserMessage::text("first")))],
        };
        assert_eq!(&*some.system(&"stored".into()), "stored\n\nbrief");
        assert_eq!(&*some.system(&"".into()), "brief");
        let texts: Vec<String> =
            some.messages(&history).iter().map(|message| format!("{message:?}")).collect();
        assert!(texts[0].contains("first") && texts[1].contains("hi") && texts.len() == 2, "{texts:?}");
    }
}
