//! A reply that is being received.

use super::json::Scanner;

/// Text and calls so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

impl Reply {
    /// Processes one event; `None` if it is unreadable.
    pub(super) fn feed(&mut self, event: &str) -> Option<()> {
        Scanner::new(event).object(|scanner, key| match key {
            "choices" => scanner.array(|scanner| self.choice(scanner)),
            _ => scanner.skip(),
        })
    }

    fn choice(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        scanner.object(|scanner, key| match key {
            "delta" => self.delta(scanner),
            _ => scanner.skip(),
        })
    }

    fn delta(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        scanner.object(|scanner, key| match key {
            "content" => append(&mut self.text, scanner),
            "tool_calls" => scanner.array(|scanner| self.call(scanner)),
            _ => scanner.skip(),
        })
    }

    /// The index comes before the pieces that it applies to.
    fn call(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        let mut index = 0;
        scanner.object(|scanner, key| match key {
            "index" => {
                index = scanner.number()?;
                let needed = self.calls.len().max(index + 1);
                self.calls.resize_with(needed, Call::default);
                Some(())
            }
            "id" => append(&mut self.calls.get_mut(index)?.id, scanner),
            "function" => self.calls.get_mut(index)?.function(scanner),
            _ => scanner.skip(),
        })
    }
}

impl Call {
    fn function(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        scanner.object(|scanner, key| match key {
            "name" => append(&mut self.name, scanner),
            "arguments" => append(&mut self.arguments, scanner),
            _ => scanner.skip(),
        })
    }
}

fn append(text: &mut String, scanner: &mut Scanner<'_>) -> Option<()> {
    if !scanner.is_null() {
        text.push_str(&scanner.string()?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_text_and_calls_are_joined() {
        let mut reply = Reply::default();
        for event in [
            r#"{"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}"#,
            r#"{"choices":[{"delta":{"content":"a\n"}}]}"#,
            r#"{"choices":[{"delta":{"content":"b"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"t","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":1}}"#,
        ] {
            assert_eq!(reply.feed(event), Some(()), "{event}");
        }
        let call = Call { id: "c1".into(), name: "t".into(), arguments: r#"{"a":1}"#.into() };
        assert_eq!(reply, Reply { text: "a\nb".into(), calls: vec![call] });
        assert_eq!(reply.feed("{"), None);
    }
}
